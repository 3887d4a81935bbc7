// What could be changed, what it would win, and how that is known. rules.h has the table of the rules that find it.
//
//   host-bound   3.51 ms   the device waits for the host in 47 of its 60 gaps ...   capture the step as a CUDA graph
//   ...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/effects/effects.h"
#include "analyzer/gap/waterfall.h"
#include "analyzer/trace/device_activity.h"
#include "infimum/base/units.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"

namespace infimum {

// A row that a finding is about: what it takes, and what it could.
struct FindingCase {
  std::string layer;            // of the model, "Conv_0", or with others in one row "Conv_0 (+2)"
  std::string engine;           // what the engine ran: its kernel or layer
  Latency measured{0};          // of the row
  std::optional<Latency> best;  // of the same work, in the model (Waterfall::in_context)
  // Whose time that is, "onednn/brgconv:avx512_core", and the canonical text of what it ran: the region that is the
  // whole row, else the row's main layer, whose time is then a part of `best`. Empty where that layer has none.
  std::string candidate;
  std::string workload;
  // Of the workload's candidates, filled by who knows the store: how many ran of how many, the interval of the best
  // one's time, and the command that measures it again.
  std::size_t measured_candidates = 0;
  std::size_t candidates = 0;
  std::optional<Interval> interval = {};
  std::string command = {};
  std::string main_layer = {};  // of `layer`, by its name alone; empty where none of the row takes time
};

// For a shell: `what` it shows ("measure", "source", "brick").
struct FindingCommand {
  std::string what;
  std::string command;
};

// How a gain is known, in the order of ranking.
enum class Known {
  kObserved,  // "observed": the change was made and timed in whole inferences (infimum explain)
  kBounded,   // "bounded": arithmetic on measured times: gaps and copies of a device
  kGuessed,   // "guessed": inferred from another program's times, never tried in this framework
};
std::string_view Name(Known known);

struct Finding {
  std::string kind;  // "host-bound"
  // What the change wins, of a whole trace or of one inference: the most that it can, where it was not made.
  Latency gain{0};
  std::vector<std::string> layers;      // whom it is about, the largest first; operators where no model is known
  std::string evidence;                 // with its numbers
  std::string action;                   // what to do
  std::vector<FindingCase> cases = {};  // the largest first, where there is a bound
  std::string held_against = {};        // what `best` of the cases is, if not the best that is known: "in strict-f32"
  std::vector<FindingCommand> commands = {};  // about the largest case; filled by who knows the store
  // Its gain contains what other findings of the same run are about, as of a whole run against another. All others
  // share no microsecond.
  bool overlaps = false;
  // The change wins more than `gain`, which counts what is known alone.
  bool is_part = false;
  Known known = Known::kGuessed;
  std::optional<Interval> gain_interval = {};  // of an observed gain
};

// By how the gain is known, then the largest gain first.
void RankFindings(std::vector<Finding>& findings);

// What the rules look at, made once.
struct TimelineFacts {
  const Timeline& timeline;
  const std::vector<WorkOrigin>& origins;  // OriginsOfWork(timeline)
  const ActivityReport& activity;          // ActivityOf(timeline, origins)
};

// All rules about timelines, ranked.
std::vector<Finding> FindingsOf(const TimelineFacts& facts);

// All rules about an engine's layers, by themselves: no model and no bound is needed. Ranked.
std::vector<Finding> FindingsOf(const RunProfile& run);

// What switching some layers between kernels like a run's and the best ones did to whole inferences (infimum explain).
struct ObservedEffect {
  std::vector<LayerId> layers;
  bool is_fusion = false;  // the best runs other layers as one
  EstimatedDifference effect;
};

// What the rules look at that hold a run against a model and its bound, made once.
struct RunFacts {
  const ModelGraph& graph;
  const Bracket& bracket;
  const RunProfile& run;
  const Waterfall& waterfall;  // MakeWaterfall of these
  // As far as is known the run is of what the bracket is of: the same model, threads and contract. Where it is not, a
  // layer that is faster than its bound says nothing about the bound.
  bool is_alike = true;
  // Of this run's framework, under the bracket's conditions. No layer is in two of them.
  std::span<const ObservedEffect> effects = {};
};

// All rules about a run whose model is known, with those about its layers by themselves; ranked. Rules that need a
// bound are silent without one. No two gains share time: but for those that were observed, their sum is at most what
// the layers take, and what passes between them.
std::vector<Finding> FindingsOf(const RunFacts& facts);

// What decides which causes a run can have.
struct RunConditions {
  NumericContract contract = NumericContract::kStrictF32;
  bool is_processor = true;
  std::int64_t threads = 1;
  bool has_bound = false;
};

// A cause that the rules looked for in a run and did not find, so that a reader can tell "absent" from "not examined".
struct AbsentCause {
  std::string_view kind;  // of the finding that it would be
  std::string_view what;  // "layers apart that run faster as one"
};
// Those that a run under these conditions could have; each is less than a hundredth of the run's time.
std::vector<AbsentCause> AbsentCauses(const std::vector<Finding>& findings, const Waterfall& waterfall,
                                      const RunConditions& conditions);

// Whether the first of two runs of one model computes in a narrower type than the second: by the contracts that they
// say they keep, else by the types that their engines report.
bool IsNarrower(const RunProfile& run, const std::vector<ComparedRow>& rows, const RunProfile& other,
                const std::vector<ComparedRow>& other_rows);

// Whether the types that its engine reports are narrower than the contract; false for a run that reports its contract.
bool IsNarrower(const RunProfile& run, const std::vector<ComparedRow>& rows, NumericContract contract);

// Two runs of one model of which `narrow` computes in less precision: what of it is lost layer by layer, and to
// conversions ("low-precision-does-not-pay" where that is more than what is won, else "low-precision-losses"). Nothing
// where every layer gains.
std::optional<Finding> PrecisionThatDoesNotPay(const ModelGraph& graph, const RunProfile& wide,
                                               const std::vector<ComparedRow>& wide_rows, const RunProfile& narrow,
                                               const std::vector<ComparedRow>& narrow_rows);

}  // namespace infimum
