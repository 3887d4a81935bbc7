// A set of models on several sides, side by side: devices, versions of a library, contracts or runs. Sides are held
// against the first of them, the baseline, on what all of them know, so that what one lacks never passes for a gain.
//
//   two layers, three devices; 5 % matter          K80       V100      T4
//     conv (2 uses)                              1,000 µs    200 µs    300 µs
//     relu (2 uses)                                 50        10        60
//     softmax (1 use)                               20         4      (unknown: no side is compared on it)
//   total of what all know                       2,100       420       720
//   against the baseline                             1      0.200     0.343      both faster
//   layers slower than on the baseline                               relu: 1.20 times, 20 µs over its 2 uses
//   T4 is faster than K80 in all, not in pointwise: a rank change
//
// A difference carries the interval of its ratio. Where a time has no spread (a row of one number), the threshold is
// all that stands for noise, and the difference says so.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/gap/run_vs_best.h"
#include "infimum/measurement/verdict.h"

namespace infimum {

// What a layer takes on a side, once; or a sum of such.
struct SideTime {
  std::optional<Latency> latency;     // absent: not known there
  std::optional<Interval> interval;   // absent: no spread is known
  std::string candidate = {};         // whose time it is: "cudnn-legacy/winograd", an engine's kernel; may be empty
  std::string reason = {};            // why it is not known, or what it is made of
  std::optional<Latency> floor = {};  // its roofline time there, where one is known
  bool is_estimated = false;          // from its bytes: no measurement
};

// A layer as one side knows it.
struct SideLayer {
  std::string name;
  std::string family;
  std::string config;  // canonical text; empty where none is: then layers of one name are one
  SideTime time;
  bool is_of_model = true;  // else an engine's own work, or what could not be matched
};

// What a side knows of a model.
struct SideModel {
  std::vector<SideLayer> layers;       // those that take time, in the model's order
  std::vector<Repetition> end_to_end;  // of a run: its total; empty: the layers' sum is the total
  std::optional<SideTime> whole;       // of a run without samples: its total
  std::optional<Latency> sequential;   // the side's own bounds, of all that it knows
  std::optional<Latency> fused;        // "fused-sequential"
};

// What a side takes over what the reference takes.
struct Difference {
  double ratio = 1;
  RatioInterval between{1, 1};
  bool is_spread_known = true;
  Verdict verdict = Verdict::kUndecided;  // kFaster: this side is
};

// By the intervals of both; nothing where one is not known or no time. Undecided where one is estimated.
std::optional<Difference> DifferenceOf(const SideTime& subject, const SideTime& reference, double threshold);

// A configuration of layers, over all models of the set.
struct SetLayer {
  struct Use {
    std::size_t model = 0;
    std::string name;
  };
  std::string family;
  std::string config;  // on the baseline; may be empty
  std::vector<Use> uses;
  std::vector<SideTime> times;                         // of one use, by side
  std::vector<std::optional<Difference>> differences;  // by side; none of the baseline
  bool is_common = false;                              // every side knows it
  bool is_of_model = true;                             // else an engine's own work, or what could not be matched
};

// A sum on every side: of a model, or of a family over the set.
struct SetTotal {
  std::string name;
  std::size_t layers = 0;                              // that take time
  std::size_t common = 0;                              // of them what all sides know, and what is compared
  std::vector<SideTime> times;                         // by side, of what all sides know
  std::vector<std::optional<Difference>> differences;  // by side; none of the baseline
};

struct ModelTotal : SetTotal {
  std::vector<double> shares;        // by side: of all that the side knows of the model what is compared
  std::vector<std::size_t> unknown;  // by side: layers that it does not know
  std::vector<std::optional<Latency>> sequential, fused;  // by side: its own bounds, of all that it knows
};

// A layer that takes more, or less, than on the baseline, beyond what matters. One that takes nothing on either of the
// two has no ratio, and no difference in SetLayer.
struct LayerDifference {
  std::size_t layer = 0;  // of SideComparison::layers
  std::size_t side = 0;
  Latency cost{0};   // over all its uses in the set; negative: what it wins
  double share = 0;  // of what the baseline takes for the set
};

// Two sides of which one is faster in all, and slower in a part.
struct RankChange {
  std::size_t faster = 0, slower = 0;  // sides, by the whole set
  double overall = 1;                  // what the faster takes over what the slower takes, in all
  bool is_model = false;               // else a family
  std::string name;                    // of the model or family
  std::optional<Difference> here;      // of the faster side against the slower, in this part
  bool is_whole = false;               // the part as a whole is slower; else some layers of it are
  std::size_t layers = 0;              // that are slower beyond noise
  Latency lost{0};                     // in these layers, over all uses
  std::string cause;                   // of a model: the family that loses the most
};

struct SideComparison {
  double threshold = 0.05;
  std::size_t sides = 0;
  std::vector<SetLayer> layers;  // the longest on the baseline first
  std::vector<ModelTotal> models;
  std::vector<SetTotal> families;  // the longest on the baseline first
  // Of each side against the baseline: the geometric mean over the models of their ratios; none where a model has none.
  std::vector<std::optional<Difference>> means;
  std::vector<std::size_t> order;            // sides with a mean, the fastest first
  std::vector<LayerDifference> regressions;  // the most costly first
  std::vector<LayerDifference> gains;        // what wins the most first
  std::vector<RankChange> rank_changes;      // what loses the most first
};

struct ModelSides {
  std::string name;
  std::vector<SideModel> sides;
};

// Each of `models` has the same number of sides, at least one.
SideComparison CompareSides(std::span<const ModelSides> models, double threshold);

// A row of several runs at once: the fewest layers of the model that each run's rows cover whole.
struct JointRow {
  std::vector<LayerId> layers;                 // ascending
  std::vector<std::vector<std::size_t>> rows;  // by run: indices into its rows that a time is known of
};

// `runs` are CompareRows of each. Rows without layers are in no joint row.
std::vector<JointRow> JoinRows(const ModelGraph& graph, std::span<const std::vector<ComparedRow>* const> runs);

// What a side of a comparison takes more, or less, for every layer alike, however long it takes: what starting or
// timing a kernel costs there, and nothing that its kernels do.
//
//   before   8.5  14.4  31.5  79.6  166 us
//   after   14.5  20.4  37.6  85.7  178         6.0 us each, but for the last
//   -> 6.0 us, 4 of 5 layers within a quarter of it
struct CommonOffset {
  Latency offset{0};         // the median of the layers' differences
  std::size_t alike = 0;     // layers within a quarter of it
  std::size_t layers = 0;    // that both sides measured, each once
  Latency over_all_uses{0};  // what it makes of the set's total
};

// Against the baseline. Nothing where the layers are few or of one length, where less than two thirds of them differ
// alike, or where that is a small part of the whole difference.
std::optional<CommonOffset> CommonOffsetOf(const SideComparison& comparison, std::size_t side);

}  // namespace infimum
