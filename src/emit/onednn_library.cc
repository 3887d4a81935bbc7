#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/text.h"
#include "infimum/layer/element_order.h"
#include "src/core/layer/field_text.h"
#include "src/core/layer/product_scaling.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"
#include "src/emit/onednn_layer.h"
#include "src/emit/source_text.h"
#include "src/emit/value_range.h"

namespace infimum::emit {
namespace {

std::string TypeText(DataType type) {
  return fmt::format("type::{}", OneDnnType(type).empty() ? "undef" : OneDnnType(type));
}

// The fields of a layer as initializers of its family's struct.
class FieldInitializers {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value) {
    text_ += fmt::format("    .{} = {},\n", name, Text(value));
  }
  template <class T>
  void Optional(std::string_view name, const T& value, const T& absent = T{}) {
    if (!(value == absent)) (*this)(name, value);
  }
  // Layers with scales are not emitted, and what activations may be rounded to is no primitive's affair.
  void Optional(std::string_view, const BlockScales&) {}
  void Optional(std::string_view, const DataType&) {}
  const std::string& text() const { return text_; }

 private:
  static std::string Text(const OperandTypes& types) {
    return fmt::format("{{{}, {}, {}}}", TypeText(types.input), TypeText(types.weights), TypeText(types.output));
  }
  static std::string Text(const Shape& shape) { return Braced(shape); }
  static std::string Text(const std::vector<std::int64_t>& numbers) { return Braced(numbers); }
  static std::string Text(const std::vector<Shape>& shapes) {
    if (shapes.size() == 1) return fmt::format("{{{}}}", Braced(shapes[0]));
    std::string text;
    for (const Shape& shape : shapes) text += fmt::format("        {},\n", Braced(shape));
    return "{\n" + text + "    }";
  }
  static std::string Text(std::int64_t number) { return std::to_string(number); }
  static std::string Text(bool value) { return value ? "true" : "false"; }
  static std::string Text(const std::string& word) { return StringLiteral(word); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static std::string Text(Enum value) { return StringLiteral(ValueText(value)); }

  std::string text_;
};

// A family's struct, and the header that has it.
struct Family {
  std::string_view name, header;
};
struct FamilyFinder {
  Family operator()(const ConvolutionConfig&) const { return {"Convolution", "convolution.h"}; }
  Family operator()(const MatMulConfig&) const { return {"MatMul", "matmul.h"}; }
  Family operator()(const PoolingConfig&) const { return {"Pooling", "pooling.h"}; }
  Family operator()(const ResampleConfig&) const { return {"Resampling", "pooling.h"}; }
  Family operator()(const NormalizationConfig&) const { return {"Normalization", "normalization.h"}; }
  Family operator()(const SoftmaxConfig&) const { return {"Softmax", "normalization.h"}; }
  Family operator()(const ReductionConfig&) const { return {"Reduction", "normalization.h"}; }
  Family operator()(const PointwiseConfig&) const { return {"Pointwise", "pointwise.h"}; }
  Family operator()(const MovementConfig&) const { return {"Movement", "movement.h"}; }
  Family operator()(const ReorderConfig&) const { return {"Reorder", "movement.h"}; }
  Family operator()(const RecurrentConfig&) const { return {"Recurrent", "recurrent.h"}; }
  template <class Config>
  Family operator()(const Config&) const {
    CheckFailed(__FILE__, __LINE__, "Family", "CheckOneDnnLayer refuses what oneDNN has no primitive for");
  }
};

std::int64_t DepthOf(const ConvolutionConfig& config) {
  return config.input.dims[1] / config.groups * ElementCount(config.kernel);
}
std::int64_t DepthOf(const MatMulConfig& config) { return config.a.dims.back(); }

// Numbers of a product of 8-bit integers: their values change results, not cost. An accumulator that stays s32 is not
// scaled.
template <class Config>
std::string ScalingText(const Config& config) {
  const OperandTypes& types = config.types;
  if (!IsInteger(types.input)) return "";
  using namespace product_scaling;
  const bool scaled = types.output != DataType::kS32;
  std::vector<std::string> fields;
  if (scaled) fields = {".scaled = true", fmt::format(".input_scale = {}", FloatLiteral(kInputScale))};
  fields.push_back(fmt::format(".input_zero = {}", InputZero(types.input)));
  if (scaled) {
    std::vector<std::string> scales;
    for (const double scale : kWeightScales) scales.push_back(FloatLiteral(scale));
    fields.push_back(fmt::format(".weight_scales = {{{}}}", Join(scales, ", ")));
  }
  if (scaled && IsInteger(types.output)) {
    const double scale = OutputScale(DepthOf(config));
    fields.push_back(fmt::format(".output_scale = {}", FloatLiteral(std::round(scale * 1e4) / 1e4)));
    fields.push_back(fmt::format(".output_zero = {}", OutputZero(types.output)));
  }
  return "    .scaling = {\n" + ListLines(fields) + "    },\n";
}

std::string StepText(const FusedStep& step) {
  if (!step.binary) return fmt::format("Eltwise({})", StringLiteral(ValueText(step.kind)));
  return fmt::format("Binary({}, {}, {}{})", StringLiteral(ValueText(step.kind)), Braced(step.shape),
                     TypeText(step.type), step.constant ? ", /*constant=*/true" : "");
}

// Behind the fields of the layer's text.
struct MoreInitializers {
  std::string operator()(const ConvolutionConfig& config) const { return ScalingText(config); }
  std::string operator()(const MatMulConfig& config) const { return ScalingText(config); }
  template <class Config>
  std::string operator()(const Config&) const {
    return "";
  }
};

// What the layer's operands are filled with, in their order.
struct RangesFinder {
  template <class Config>
  std::vector<Range> Product(const Config& config) const {
    std::vector<Range> ranges{RangeOf(config.types.input), RangeOf(config.types.weights, true)};
    const std::vector<Operand> operands = OperandsOf(LayerConfig(config));
    // A scaled product takes its bias in f32.
    const bool scaled = IsInteger(config.types.input) && config.types.output != DataType::kS32;
    if (operands.size() > 2) ranges.push_back(scaled ? Range{} : RangeOf(operands[2].type));
    return ranges;
  }
  std::vector<Range> operator()(const ConvolutionConfig& config) const { return Product(config); }
  std::vector<Range> operator()(const MatMulConfig& config) const { return Product(config); }
  std::vector<Range> operator()(const NormalizationConfig& config) const {
    std::vector<Range> ranges{RangeOf(config.types.input)};
    ranges.resize(OperandsOf(LayerConfig(config)).size());
    if (config.kind == NormalizationKind::kBatch) ranges.back() = {0.5, 1.5};  // the variance
    return ranges;
  }
  std::vector<Range> operator()(const SoftmaxConfig&) const { return {{-4, 4}}; }
  std::vector<Range> operator()(const ReductionConfig& config) const {
    return {config.kind == ReductionKind::kProduct ? Range{0.9, 1.1} : Range{}};
  }
  std::vector<Range> operator()(const PointwiseConfig& config) const {
    std::vector<Range> ranges{RangeOf(config.kind, 0, config.types.input)};
    const DataType second = config.types.weights == DataType::kNone ? config.types.input : config.types.weights;
    if (config.inputs.size() > 1) ranges.push_back(RangeOf(config.kind, 1, second));
    return ranges;
  }
  std::vector<Range> operator()(const MovementConfig& config) const {
    return std::vector<Range>(config.inputs.size(), RangeOf(CarrierOf(config.types.input)));
  }
  std::vector<Range> operator()(const RecurrentConfig&) const {
    return {{}, {-0.25, 0.25}, {-0.25, 0.25}, {-0.25, 0.25}};
  }
  template <class Config>
  std::vector<Range> operator()(const Config& config) const {
    return {RangeOf(config.types.input)};
  }
};

// Away from zero where it divides, so that results are finite.
Range StepRange(const FusedStep& step) {
  return step.kind == PointwiseKind::kDivide ? Range{0.5, 2} : RangeOf(step.type);
}

std::string RangesText(const std::vector<Range>& ranges) {
  std::vector<std::string> texts;
  for (const Range& range : ranges)
    texts.push_back(fmt::format("{{{}, {}}}", FormatNumber(range.low), FormatNumber(range.high)));
  const std::string line = Join(texts, ", ");
  return line.size() < kColumns - 20 ? "{" + line + "}" : "{\n" + ListLines(texts) + "    }";
}

std::string PlainLayout(const Shape& shape) { return shape.rank() == 0 ? "-" : RowMajorName(shape.rank()); }

// Row-major, in the shapes of the layer's text, where a primitive sees others.
std::string RowMajorLayouts(const LayerConfig& config) {
  return PlainLayout(OperandsOf(config)[0].shape) + "->" + PlainLayout(OutputsOf(config)[0].shape);
}

// The layouts that candidates declare: "*" those of the primitive, none where it sees other shapes than the layer has.
struct LayoutsFinder {
  // Variable weights are seen in another order than the layer has them in.
  std::string operator()(const ConvolutionConfig& config) const {
    return config.weights == Constness::kConstant ? "*" : "";
  }
  std::string operator()(const NormalizationConfig& config) const {
    return config.kind == NormalizationKind::kLayer ? RowMajorLayouts(config) : "*";
  }
  std::string operator()(const PointwiseConfig& config) const { return RowMajorLayouts(config); }
  std::string operator()(const ReductionConfig& config) const { return RowMajorLayouts(config); }
  // A model has both directions one after the other, oneDNN side by side: no order says that.
  std::string operator()(const RecurrentConfig& config) const {
    return config.directions == 2 ? "any->any" : RowMajorLayouts(config);
  }
  template <class Config>
  std::string operator()(const Config&) const {
    return "*";
  }
};

std::string Initializers(LayerConfig config) {
  if (auto* movement = std::get_if<MovementConfig>(&config)) {
    const DataType carrier = CarrierOf(movement->types.input);
    movement->types = {carrier, DataType::kNone, carrier};
  }
  FieldInitializers initializers;
  std::visit([&](const auto& layer) { layer.VisitFields(layer, initializers); }, config);
  return initializers.text() + std::visit(MoreInitializers(), config);
}

// One emitted oneDNN source: the layer's constants, as the struct of its family has them, what operands are filled
// with, and the registration.
//
//   const Pooling kPooling{
//       .kind = "max",
//       .dtype = {type::f32, type::undef, type::f32},
//       .in = {1, 64, 56, 56},
//       ...
//
// The structs and the calls of oneDNN behind them are those of the runner, microbench/libraries/onednn/primitives,
// which every project gets as they are. A struct's fields have the names and the order of those in the layer's text.
//
// The error says why there can be no source: "oneDNN has no type s64".
Result<std::string> WriteOneDnnSource(const SourceRequest& request) {
  Fusion fusion;
  if (const auto* region = std::get_if<Region>(&request.workload)) {
    INFIMUM_ASSIGN_OR_RETURN(fusion, FusionOf(*region));
  } else {
    fusion.first = std::get<LayerConfig>(request.workload);
    INFIMUM_RETURN_IF_ERROR(CheckOneDnnLayer(fusion.first));
  }
  const LayerConfig& config = fusion.first;
  const Family family = std::visit(FamilyFinder(), config);
  std::vector<Range> ranges = std::visit(RangesFinder(), config);
  std::vector<std::string> steps;
  for (const FusedStep& step : fusion.steps) {
    steps.push_back(StepText(step));
    if (step.binary) ranges.push_back(StepRange(step));
  }
  // A region's result is an element-wise layer's, whose dimensions may be merged.
  const std::string layouts = steps.empty() ? std::visit(LayoutsFinder(), config) : "";
  const std::string text = Format(request.workload);
  const auto* const convolution = std::get_if<ConvolutionConfig>(&config);
  const bool is_product = convolution != nullptr || std::holds_alternative<MatMulConfig>(config);
  const bool signed_input = is_product && TypesOf(config).input == DataType::kS8;
  const bool sums_bytes =
      is_product && TypesOf(config).input == DataType::kU8 && !(convolution != nullptr && IsDepthwise(*convolution));

  std::string source = SourceOpening(text, request.version, {family.header, "onednn_candidates.h"});
  source += "namespace {\n\nusing namespace onednn;\nusing type = memory::data_type;\n\n" + LayerConstant(text);
  source += fmt::format("const {0} k{0}{{\n{1}", family.name, Initializers(config));
  if (!steps.empty()) source += "    .steps = {\n" + ListLines(steps) + "    },\n";
  source += fmt::format(
      "}};\n\nconst Registration kRegistered({{\n    .text = kLayer,\n"
      "    .forms = [] {{ return FormsOf(k{}); }},\n    .ranges = {},\n",
      family.name, RangesText(ranges));
  source += OnlyLines(request.only);
  if (!layouts.empty()) source += fmt::format("    .layouts = {},\n", StringLiteral(layouts));
  if (signed_input) source += "    .signed_input = true,\n";
  if (sums_bytes) source += "    .sums_bytes = true,\n";
  return source + "});\n\n}  // namespace\n";
}

constexpr std::string_view kOnednnNotes =
    "A layer's source holds its constants; the calls of oneDNN are in `convolution.cc`, `matmul.cc` and the files of "
    "the\n"
    "other families, from which infimum's own runner is compiled too.\n"
    "oneDNN 3 comes from your distribution, from <https://github.com/uxlfoundation/oneDNN>, or from PyPI's wheel\n"
    "`onednn-devel-cpu-gomp`; where CMake does not find it, `-DCMAKE_PREFIX_PATH=FOLDER` says where it is.\n"
    "`ONEDNN_VERBOSE=1` before the program shows what oneDNN runs.\n";

constexpr std::string_view kOnednnCommands =
    "OMP_NUM_THREADS=4 build/onednn_benchmarks --benchmark_out=results.json --benchmark_out_format=json\n";

constexpr std::string_view kRunning =
    "One thread on one core is the default; `OMP_NUM_THREADS` asks for more. A benchmark's name is the layer and the\n"
    "candidate, its label the candidate and the layouts of inputs and output. The time is the median of samples of "
    "half "
    "a\n"
    "millisecond (`timing.h`), inputs are random, caches are warm. Results are not checked: that is the reader's, who\n"
    "changes the code, or infimum's, whose runner compares them with a reference.\n";

constexpr std::string_view kBeside =
    "Candidates named `infimum/...` are kernels of infimum's own, `onednn/graph/...` are partitions of a graph, and\n"
    "`as-f32/...`, `as-u8/...` convert tensors by kernels of infimum's own. They are not emitted yet.\n";

// The last twenty are the runner's: oneDNN's primitives, family by family.
constexpr std::string_view kOnednnFiles[] = {"onednn_main.cc",
                                             "onednn_candidates.h",
                                             "onednn_candidates.cc",
                                             "onednn_memory.h",
                                             "form.h",
                                             "form.cc",
                                             "layouts.h",
                                             "layouts.cc",
                                             "product.h",
                                             "product.cc",
                                             "convolution.h",
                                             "convolution.cc",
                                             "matmul.h",
                                             "matmul.cc",
                                             "pooling.h",
                                             "pooling.cc",
                                             "normalization.h",
                                             "normalization.cc",
                                             "pointwise.h",
                                             "pointwise.cc",
                                             "movement.h",
                                             "movement.cc",
                                             "recurrent.h",
                                             "recurrent.cc"};

std::string OnednnRefusalOf(std::string_view algorithm) {
  if (algorithm.starts_with("graph/")) return "a oneDNN Graph partition, which is not emitted yet";
  if (algorithm.starts_with("as-f32/") || algorithm.starts_with("as-u8/"))
    return "converts its tensors by kernels of infimum's own, which are not emitted";
  if (algorithm.starts_with("upsampling-as-matmul/"))
    return "copies its result into place by a kernel of infimum's own, which is not emitted";
  return RefusalOfConstants(algorithm);
}

}  // namespace

const Library& OneDnn() {
  static const Library library{.name = "onednn",
                               .title = "oneDNN",
                               .candidates = "onednn",
                               .example = "brgconv:avx512_core",
                               .cmake_version = "3.16",
                               .find_package = "find_package(dnnl 3 REQUIRED)",
                               .target = "DNNL::dnnl",
                               .precompiled_header = "onednn_candidates.h",
                               .notes = kOnednnNotes,
                               .commands = kOnednnCommands,
                               .running = kRunning,
                               .beside = kBeside,
                               .shared_files = kOnednnFiles,
                               .write_source = WriteOneDnnSource,
                               .refusal_of = OnednnRefusalOf};
  return library;
}

}  // namespace infimum::emit
