// Every rule that finds something to change, in one table: what it looks for, which step of the waterfall it explains,
// when its cause can be present, and the function in rules/ that finds it. A rule returns nothing where its cause is
// absent or is less than a hundredth of the time.
//
// To add one: its kind, its declaration and its row here, its source in rules/, its test.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/findings/finding.h"

namespace infimum::findings {

// No rule reports less than this share of the time.
inline constexpr double kLeastShare = 0.01;

// Finding::kind, as JSON and reports have it.
inline constexpr std::string_view kHostBound = "host-bound";
inline constexpr std::string_view kInputBound = "input-bound";
inline constexpr std::string_view kHostSynchronization = "host-synchronization";
inline constexpr std::string_view kExposedCopies = "exposed-copies";
inline constexpr std::string_view kSlowerAlgorithm = "slower-algorithm";
inline constexpr std::string_view kUnfusedChain = "unfused-chain";
inline constexpr std::string_view kSerialBranches = "serial-branches";
inline constexpr std::string_view kWiderPrecision = "wider-precision";
inline constexpr std::string_view kUnderBound = "under-bound";
inline constexpr std::string_view kTensorCoresUnused = "tensor-cores-unused";
inline constexpr std::string_view kHalfPrecisionNotUsed = "half-precision-not-used";
inline constexpr std::string_view kQuantizedLayersInFloat = "quantized-layers-in-float";
inline constexpr std::string_view kQuantizationConversions = "quantization-conversions";
inline constexpr std::string_view kLayoutChanges = "layout-changes";
inline constexpr std::string_view kNeedlessLayers = "needless-layers";
inline constexpr std::string_view kFrameworkOverhead = "framework-overhead";
inline constexpr std::string_view kLaunchBound = "launch-bound";
inline constexpr std::string_view kLowPrecisionDoesNotPay = "low-precision-does-not-pay";  // PrecisionThatDoesNotPay
inline constexpr std::string_view kLowPrecisionLosses = "low-precision-losses";

// Which finding's gain an engine layer's time is counted in: a rule that knows a deeper cause claims layers, so that no
// later rule counts the same microsecond.
class LayerClaims {
 public:
  explicit LayerClaims(std::size_t layers) : claims_(layers, Claim::kNone) {}

  void Take(const std::vector<std::size_t>& layers) { Set(layers, Claim::kWhole); }
  // What the layers lose to wider arithmetic; what they lose to a slower algorithm is not claimed.
  void TakePrecision(const std::vector<std::size_t>& layers) { Set(layers, Claim::kPrecision); }

  bool IsFree(std::size_t layer) const { return claims_[layer] == Claim::kNone; }
  bool IsTaken(std::size_t layer) const { return claims_[layer] == Claim::kWhole; }
  bool AnyTaken(const std::vector<std::size_t>& layers) const {
    return std::ranges::any_of(layers, [this](std::size_t layer) { return IsTaken(layer); });
  }
  bool AnyPrecision() const { return std::ranges::find(claims_, Claim::kPrecision) != claims_.end(); }

 private:
  enum class Claim : unsigned char { kNone, kPrecision, kWhole };
  void Set(const std::vector<std::size_t>& layers, Claim claim) {
    for (const std::size_t layer : layers) claims_[layer] = claim;
  }

  std::vector<Claim> claims_;
};

// An engine's layers by themselves, without a model or a bound.
struct EngineFacts {
  const RunProfile& run;
  // Layers that the engine added to change a layout or a type, or to copy: indices into RunProfile::layers.
  const std::vector<std::size_t>& added;
};

using FindInTimeline = std::optional<Finding> (*)(const TimelineFacts&);
using FindInLayers = std::optional<Finding> (*)(const EngineFacts&, LayerClaims&);  // with or without a model
using ClaimInRun = std::optional<Finding> (*)(const RunFacts&, LayerClaims&);
using FindInRun = std::vector<Finding> (*)(const RunFacts&, const LayerClaims&);
using Find = std::variant<FindInTimeline, FindInLayers, ClaimInRun, FindInRun>;

struct Rule {
  std::string_view kind;
  Known known;  // how its gains are known, those apart that were observed
  // What the rule also reports, or another rule in its place, of the same cause.
  std::array<std::string_view, 2> same_cause = {};
  // As a report lists it where a run has none; empty: not listed.
  std::string_view looks_for = {};
  // The step of the waterfall that its gain is a part of: a run in which that is large does have the cause.
  std::optional<GapCause> step = std::nullopt;
  // Whether such a run can have the cause; a report lists only what could have been found.
  bool (*applies)(const RunConditions&) = [](const RunConditions&) { return true; };
  Find find;
};

// Sources in rules/ are named for their rule.
std::optional<Finding> HostBound(const TimelineFacts& facts);
std::optional<Finding> InputBound(const TimelineFacts& facts);
std::optional<Finding> HostSynchronization(const TimelineFacts& facts);
std::optional<Finding> ExposedCopies(const TimelineFacts& facts);
std::optional<Finding> HalfInSingle(const EngineFacts& facts, LayerClaims& claims);
std::optional<Finding> QuantizedInFloat(const EngineFacts& facts, LayerClaims& claims);
std::optional<Finding> LayoutChanges(const EngineFacts& facts, LayerClaims& claims);
std::optional<Finding> WiderArithmetic(const RunFacts& facts, LayerClaims& claims);
std::vector<Finding> SlowerAlgorithms(const RunFacts& facts, const LayerClaims& claims);  // one a family of layers
std::vector<Finding> UnfusedChains(const RunFacts& facts, const LayerClaims& claims);
std::vector<Finding> SerialBranches(const RunFacts& facts, const LayerClaims& claims);
std::vector<Finding> UnderBound(const RunFacts& facts, const LayerClaims& claims);
std::vector<Finding> TensorCoresUnused(const RunFacts& facts, const LayerClaims& claims);
std::vector<Finding> NeedlessLayers(const RunFacts& facts, const LayerClaims& claims);
std::vector<Finding> FrameworkOverhead(const RunFacts& facts, const LayerClaims& claims);
std::vector<Finding> LaunchBound(const RunFacts& facts, const LayerClaims& claims);  // framework_overhead.cc

// In the order of reports. Rules that claim layers run first, those that need the bound before those that do not.
inline constexpr std::array kRules = {
    // The device idles because the host launches too little or too late.
    Rule{.kind = kHostBound, .known = Known::kBounded, .find = HostBound},
    // The device idles while the host loads its next input.
    Rule{.kind = kInputBound, .known = Known::kBounded, .find = InputBound},
    // The host waits for the device, which then idles until the next launch.
    Rule{.kind = kHostSynchronization, .known = Known::kBounded, .find = HostSynchronization},
    // Copies during which nothing is computed.
    Rule{.kind = kExposedCopies, .known = Known::kBounded, .find = ExposedCopies},
    Rule{.kind = kSlowerAlgorithm,
         .known = Known::kGuessed,
         .looks_for = "kernels slower than the best known",
         .step = GapCause::kAlgorithmRegret,
         .applies = [](const RunConditions& run) { return run.has_bound; },
         .find = SlowerAlgorithms},
    Rule{.kind = kUnfusedChain,
         .known = Known::kGuessed,
         .looks_for = "layers apart that run faster as one",
         .step = GapCause::kMissedFusion,
         .applies = [](const RunConditions& run) { return run.has_bound; },
         .find = UnfusedChains},
    Rule{.kind = kSerialBranches,
         .known = Known::kGuessed,
         .looks_for = "independent layers one after the other",
         .step = GapCause::kMissedParallelism,
         .applies = [](const RunConditions& run) { return run.has_bound && (!run.is_processor || run.threads > 1); },
         .find = SerialBranches},
    // Layers computed in wider arithmetic than the contract; of a model on 8 bits, those that stay in float.
    Rule{.kind = kWiderPrecision,
         .known = Known::kGuessed,
         .same_cause = {kHalfPrecisionNotUsed, kQuantizedLayersInFloat},
         .looks_for = "wider arithmetic than the contract asks for",
         .step = GapCause::kPrecision,
         .applies =
             [](const RunConditions& run) { return run.has_bound && run.contract != NumericContract::kStrictF32; },
         .find = WiderArithmetic},
    Rule{.kind = kUnderBound,
         .known = Known::kGuessed,
         .looks_for = "layers faster than their bound",
         .applies = [](const RunConditions& run) { return run.has_bound; },
         .find = UnderBound},
    Rule{.kind = kTensorCoresUnused,
         .known = Known::kGuessed,
         .looks_for = "matmuls that Tensor Cores could run",
         .applies = [](const RunConditions& run) { return !run.is_processor; },
         .find = TensorCoresUnused},
    Rule{.kind = kHalfPrecisionNotUsed,
         .known = Known::kGuessed,
         .same_cause = {kWiderPrecision},
         .looks_for = "half precision computed in f32",
         .step = GapCause::kPrecision,
         .applies =
             [](const RunConditions& run) {
               return run.contract == NumericContract::kF16 || run.contract == NumericContract::kBf16;
             },
         .find = HalfInSingle},
    // A quantized model whose convolutions or matmuls run on dequantized values, or write them. Guessed: kernels on 8
    // bits convert too, and gain more than that.
    Rule{.kind = kQuantizedLayersInFloat,
         .known = Known::kGuessed,
         .same_cause = {kQuantizationConversions},
         .looks_for = "quantized layers in floating point",
         .step = GapCause::kPrecision,
         .applies = [](const RunConditions& run) { return run.contract == NumericContract::kInt8; },
         .find = QuantizedInFloat},
    // Guessed: what takes the place of a reorder takes time too.
    Rule{.kind = kLayoutChanges,
         .known = Known::kGuessed,
         .looks_for = "reorders, reformats and copies of the engine’s own",
         .step = GapCause::kLayoutChanges,
         .find = LayoutChanges},
    // Layers that need not run: constants computed each time, views, what another layer could absorb. Guessed: a
    // profiler adds a microsecond to each, and who absorbs it takes longer.
    Rule{.kind = kNeedlessLayers,
         .known = Known::kGuessed,
         .looks_for = "layers that need not run",
         .find = NeedlessLayers},
    // The framework's own time around layers. Guessed: some of it is left with whatever is changed.
    Rule{.kind = kFrameworkOverhead,
         .known = Known::kGuessed,
         .same_cause = {kLaunchBound},
         .looks_for = "time between and around the layers",
         .step = GapCause::kHostGaps,
         .find = FrameworkOverhead},
    // A device idle between layers.
    Rule{.kind = kLaunchBound, .known = Known::kBounded, .find = LaunchBound},
};

}  // namespace infimum::findings
