// The bounds as they are shown: how best times become one number, each with its interval and its assumptions.
//
// To add a variant: its enumerator here, its row and its solver in variants.cc, what its new tags mean in
// reports/model/glossary.cc, its laws in tests/analyzer/laws_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/rows/uncertainty.h"
#include "analyzer/types/layout_plan.h"
#include "infimum/graph/model_graph.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

struct BoundsProblem;
struct CombinedBound;
struct CombinedBounds;
struct ResolvedLayer;

// Each is defined in README.md.
//
//   layers conv 10 us (the library would choose one of 11), relu 2, conv 8, relu 2; one core; {conv, relu} 10.5 and 8.4
//   sequential        22.0   every layer's best candidate, one after the other
//   parallel          22.0   layers that need not wait run at once; with one core that wins nothing
//   fused-sequential  18.9   the best selection of measured regions
//   fused-parallel    18.9   the best selection, at once
//   with-layouts      19.9   the same with every layout's change paid: conv_2 wants another than conv_1 leaves, 1.0
//   heuristic         23.0   what the libraries would choose by themselves; less sequential: the algorithm regret
//   best-known-or-observed 17.9  fused-sequential where frameworks' own times of layers and fused groups count too: one
//                                was seen to run {conv, relu} in 9.5, with a kernel that we do not have
enum class BoundVariant {
  kSequential,
  kParallel,
  kFusedSequential,
  kFusedParallel,
  kWithLayouts,
  kHeuristic,
  kBestKnownOrObserved,
  kBenanza2019Serial,  // these four: see benanza_bracket.h
  kBenanza2019Parallel,
  kBenanza2019FusedSerial,
  kBenanza2019FusedParallel,
};
std::string_view Name(BoundVariant variant);
// Whether a faster run contradicts the bound: all but `heuristic`, which nothing keeps from being slower than a run,
// and what was observed of the runs themselves.
bool IsContradictedByFasterRun(BoundVariant variant);

struct Bound {
  BoundVariant variant = BoundVariant::kSequential;
  Latency latency{0};
  Interval interval;
  std::vector<std::string> assumptions;  // "free-layouts", "warm-caches", "estimated-layers", ...
};

// What the libraries' own choices cost over the whole model: the sum of the layers' regrets.
struct AlgorithmRegret {
  Latency sum{0};
  std::size_t layers = 0;    // with a library's choice
  bool is_validated = true;  // all of them
};

// A workload whose uncertainty is a part of the bound's: what `infimum confirm` measures again.
struct Decider {
  WorkloadKey workload;
  NumericContract contract = NumericContract::kStrictF32;
  std::vector<std::string> candidates;  // the best first, then those that cannot be distinguished from it
  // Of half the width of fused-sequential's interval: by noise (deviations add in squares) and by the choice among
  // candidates (adds as it is).
  Latency deviation{0};
  Latency choice{0};
};

// What the variants are solved from.
struct VariantInput {
  const ModelGraph& graph;
  const std::vector<ResolvedLayer>& layers;
  const BoundsProblem& problem;
  const CombinedBounds& combined;  // of the problem
  const std::optional<LayoutPlan>& layouts;
  const std::optional<AlgorithmRegret>& regret;
  std::optional<SumEstimate> observed;          // of the problem with what frameworks ran
  const std::vector<std::string>& assumptions;  // of all variants
};
// In the order of the variants, without those that do not apply.
std::vector<Bound> SolveVariants(const VariantInput& input);

// Variants that need no more than the layers' combined times, and what that is for one of them: what-ifs solve them
// again.
std::vector<BoundVariant> CombinedVariants();
const CombinedBound& CombinedOf(BoundVariant variant, const CombinedBounds& combined);

}  // namespace infimum
