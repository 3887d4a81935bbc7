#include "src/app/models/model_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/floor/residency.h"
#include "infimum/base/text.h"
#include "src/app/models/one_layout_source.h"

namespace infimum {
namespace {

constexpr std::string_view kContract = "contract:", kDim = "dim:", kCache = "cache:", kLayout = "layout:";

// Of what was measured of the model as it is: a variant of which less is known is no answer to hold beside it.
constexpr double kLeastMeasured = 0.5;

// More may be missing than of the model as it is by this share of its time, and the two can still be compared.
constexpr double kMostMissing = 0.02;

constexpr std::array kFloatContracts = {NumericContract::kStrictF32, NumericContract::kTf32, NumericContract::kF16,
                                        NumericContract::kBf16,      NumericContract::kInt8, NumericContract::kFp8};

Result<NumericContract> ParseContract(std::string_view text) {
  if (const std::optional<NumericContract> contract = FindContract(text)) return *contract;
  std::vector<std::string> names;
  for (const NumericContract contract : kFloatContracts) names.emplace_back(Name(contract));
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string guess = DidYouMean(text, known);
  return Error{"unknown contract " + Quoted(text) + (guess.empty() ? "; they are " + Join(names, ", ") : guess)};
}

// How many inferences of the model as it is one of the changed model is: where nothing but the first dimension of all
// its inputs grew, and of all alike.
double InferencesIn(const ModelGraph& changed, const ModelGraph& as_it_is) {
  std::optional<double> ratio;
  for (std::size_t i = 0; i < changed.inputs.size(); ++i) {
    const std::optional<Shape>&after = changed.value(changed.inputs[i]).shape,
          &before = as_it_is.value(as_it_is.inputs[i]).shape;
    if (!after || !before || after->rank() != before->rank() || after->rank() == 0) return 1;
    if (!std::equal(after->dims.begin() + 1, after->dims.end(), before->dims.begin() + 1)) return 1;
    if (before->dims[0] == 0) return 1;
    const double own = static_cast<double>(after->dims[0]) / static_cast<double>(before->dims[0]);
    if (!(own > 0) || (ratio && *ratio != own)) return 1;
    ratio = own;
  }
  return ratio.value_or(1);
}

void AddKeys(const ModelGraph& graph, std::vector<WorkloadKey>& keys) {
  for (const Layer& layer : graph.layers) {
    if (layer.status == LayerStatus::kMeasurable && layer.workload) keys.push_back(KeyOf(*layer.workload));
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) AddKeys(*body.graph, keys);
  }
}

// Whether anything of the model itself was measured so: what most variants end at.
Result<bool> HasRows(const ModelGraph& graph, MeasurementSource& source, const Selection& selection) {
  std::vector<WorkloadKey> keys;
  AddKeys(graph, keys);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Measurement> rows, source.Find(keys, selection));
  // Not warm ones that stand for cold weights, of layers that have none.
  return std::ranges::any_of(rows, [&](const Measurement& row) {
    return row.outcome == Outcome::kMeasured && !row.candidate.is_observed() &&
           (!selection.cache || row.cache == *selection.cache);
  });
}

std::size_t CountMeasurable(const ModelGraph& graph) {
  return static_cast<std::size_t>(
      std::ranges::count(graph.layers, LayerStatus::kMeasurable, [](const Layer& layer) { return layer.status; }));
}

}  // namespace

bool IsModelVariant(std::string_view text) {
  return std::ranges::any_of(std::array{kContract, kDim, kCache, kLayout},
                             [&](std::string_view kind) { return text.starts_with(kind); });
}

Result<ModelVariant> ParseModelVariant(std::string_view text) {
  ModelVariant variant;
  variant.name = std::string(text);
  if (text.starts_with(kContract)) {
    INFIMUM_ASSIGN_OR_RETURN(variant.contract, ParseContract(text.substr(kContract.size())));
  } else if (text.starts_with(kDim)) {
    const std::string_view binding = text.substr(kDim.size());
    const std::size_t equals = binding.find('=');
    const std::optional<std::int64_t> extent =
        equals == std::string_view::npos ? std::nullopt : ParseInteger(binding.substr(equals + 1));
    if (!extent || *extent < 1 || equals == 0) return Error{Quoted(text) + ": write dim:NAME=N, N at least 1"};
    variant.dims[std::string(binding.substr(0, equals))] = *extent;
  } else if (text.starts_with(kCache)) {
    variant.cache = FindCacheState(text.substr(kCache.size()));
    if (!variant.cache) return Error{Quoted(text) + ": write cache:warm, cache:cold or cache:cold-weights"};
  } else {
    variant.layout = std::string(text.substr(kLayout.size()));
    if (!OneLayoutSource::IsLayout(variant.layout))
      return Error{Quoted(text) + ": write layout:channels-last, layout:row-major or letters like layout:aBcd16b"};
  }
  return variant;
}

std::optional<DataType> StorageOf(NumericContract contract) {
  switch (contract) {
    case NumericContract::kStrictF32:
    case NumericContract::kTf32:
      return DataType::kF32;
    case NumericContract::kF16:
      return DataType::kF16;
    case NumericContract::kBf16:
      return DataType::kBF16;
    default:
      return std::nullopt;
  }
}

Status ModelUnder::CanBePlanned() const {
  if (!selected || StorageOf(*selected)) return {};
  return Error{
      fmt::format("--contract {}: the model's layers are {}, and changing their type is not enough to make them {}; "
                  "quantize the model and analyze it without --contract",
                  Name(*selected), Name(MainContract(graph)),
                  *selected == NumericContract::kInt8 ? "8-bit integers" : "8-bit floats")};
}

Result<ModelUnder> ReadModelUnder(const std::filesystem::path& model, const std::map<std::string, std::int64_t>& dims,
                                  const std::optional<NumericContract>& contract, bool apply_rewrites,
                                  bool needs_weights, std::optional<DataType> weights) {
  ReadOptions options;
  options.weights = weights;
  options.dims = dims;
  options.apply_rewrites = apply_rewrites;
  options.needs_weights = needs_weights;
  if (contract) options.floats = StorageOf(*contract);
  INFIMUM_ASSIGN_OR_RETURN(ModelGraph graph, ReadModel(model, options));
  // A quantized model stays one, whatever its floats are stored as.
  const bool is_implied = contract && MainContract(graph) == *contract;
  return ModelUnder{std::move(graph), is_implied ? std::nullopt : contract};
}

Result<WhatIfOutcome> SolveVariant(const ModelVariant& variant, const ModelAsItIs& as_it_is,
                                   MeasurementSource& source) {
  std::map<std::string, std::int64_t> dims = as_it_is.dims;
  for (const auto& [name, extent] : variant.dims) dims[name] = extent;
  const std::optional<NumericContract> contract = variant.contract ? variant.contract : as_it_is.contract;
  INFIMUM_ASSIGN_OR_RETURN(const ModelUnder under, ReadModelUnder(as_it_is.model, dims, contract));
  Selection selection = as_it_is.bracket.selection;
  selection.contract = under.selected;
  if (variant.cache) selection.cache = *variant.cache;
  WhatIfOutcome outcome{
      variant.name, CountMeasurable(under.graph), {}, Coverage{0, 0, 0, 1}, InferencesIn(under.graph, as_it_is.graph)};
  INFIMUM_ASSIGN_OR_RETURN(const bool has_rows, HasRows(under.graph, source, selection));
  if (!has_rows) {
    // What is least is known all the same.
    INFIMUM_ASSIGN_OR_RETURN(const DeviceModel device, DeviceModel::Make(source, selection));
    const std::vector<Floor> floors = ComputeFloors(under.graph, device);
    const auto add = [&](std::string name, Latency latency, Latency before) {
      outcome.floors.push_back({std::move(name), latency, before * outcome.inferences - latency});
    };
    for (const ProgramClass known : {ProgramClass::kDenseRead, ProgramClass::kTextbook})
      add("floor-" + std::string(Name(known)), FloorOf(floors, known).latency,
          FloorOf(as_it_is.bracket.floors, known).latency);
    add("roofline", RooflineOf(under.graph, device, FloorOf(floors, ProgramClass::kTextbook).latency).latency,
        as_it_is.bracket.roofline);
    return outcome;
  }
  OneLayoutSource one_layout(source, variant.layout);
  INFIMUM_ASSIGN_OR_RETURN(const Bracket bracket, ComputeBracket(under.graph, one_layout, selection));
  outcome.coverage = bracket.coverage;
  // What is missing on one side only would pass for a gain, or a loss.
  const Coverage &now = bracket.coverage, &as_is = as_it_is.bracket.coverage;
  const bool is_comparable = std::abs(now.missing - as_is.missing) <= kMostMissing &&
                             std::abs(now.missing_flops - as_is.missing_flops) <= kMostMissing;
  for (const Bound& bound : bracket.bounds) {
    const Bound* before = as_it_is.bracket.Find(bound.variant);
    std::optional<Latency> gain;
    if (before != nullptr && is_comparable) gain = before->latency * outcome.inferences - bound.latency;
    outcome.bounds.push_back({bound.variant, bound.latency, gain, bound.interval});
  }
  return outcome;
}

Result<std::vector<WhatIfOutcome>> SolveMeasuredVariants(const ModelAsItIs& as_it_is, MeasurementSource& source) {
  std::vector<ModelVariant> variants;
  for (const NumericContract contract : kFloatContracts) {
    ModelVariant variant{fmt::format("{}{}", kContract, Name(contract)), {}, {}, {}, {}};
    variant.contract = contract;
    if (contract != as_it_is.bracket.contract) variants.push_back(std::move(variant));
  }
  for (const CacheState cache : {CacheState::kWarm, CacheState::kCold, CacheState::kColdWeights}) {
    ModelVariant variant{fmt::format("{}{}", kCache, Name(cache)), {}, {}, {}, {}};
    variant.cache = cache;
    const std::optional<ModelContext>& context = as_it_is.bracket.context;
    const bool is_the_same =
        cache == as_it_is.bracket.selection.cache || (context && context->is_warm && cache == CacheState::kWarm);
    if (!is_the_same) variants.push_back(std::move(variant));
  }
  std::vector<WhatIfOutcome> outcomes;
  for (const ModelVariant& variant : variants) {
    INFIMUM_ASSIGN_OR_RETURN(WhatIfOutcome outcome, SolveVariant(variant, as_it_is, source));
    const bool is_known = outcome.coverage->measured >= kLeastMeasured * as_it_is.bracket.coverage.measured;
    if (is_known && !outcome.bounds.empty()) outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace infimum
