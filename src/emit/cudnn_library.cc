// cuDNN as a library that sources are written for.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "infimum/base/result.h"
#include "infimum/base/text.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/core/measurement/cudnn_legacy.h"
#include "src/core/measurement/cudnn_operations.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"
#include "src/emit/source_text.h"
#include "src/emit/value_range.h"

namespace infimum::emit {
namespace {

// All f32 matrix products of cuDNN's graph run on Tensor Cores, which keep 10 bits of an operand's mantissa.
bool IsStrictMatrixProduct(const Region& region, const std::vector<NumericContract>& contracts) {
  const bool is_strict =
      std::ranges::all_of(contracts, [](NumericContract contract) { return contract == NumericContract::kStrictF32; });
  return is_strict && std::ranges::any_of(region.members, [](const RegionMember& member) {
           const auto* product = std::get_if<MatMulConfig>(&member.config);
           return product != nullptr && product->types.input == DataType::kF32;
         });
}

// What a member's operand is filled with.
struct RangeFinder {
  std::size_t operand;
  DataType type;

  Range operator()(const ConvolutionConfig&) const { return RangeOf(type, operand == 1); }
  Range operator()(const MatMulConfig& config) const {
    const bool is_scale = config.a_scales.any() && operand >= 2 && type == DataType::kF8E4M3;
    return is_scale ? Range{0.25, 1} : RangeOf(type, operand == 1);
  }
  Range operator()(const PointwiseConfig& config) const { return RangeOf(config.kind, operand, type); }
  Range operator()(const NormalizationConfig& config) const {
    // A variance is positive.
    return config.kind == NormalizationKind::kBatch && operand == 4 ? Range{0.25, 4} : RangeOf(type);
  }
  template <class Config>
  Range operator()(const Config&) const {
    return RangeOf(type);
  }
};

Range RangeOfTensor(const Region& region, const cuda::CudnnOperand& tensor) {
  // A scale of 8-bit numbers, whose value changes results, not cost.
  if (tensor.own_of) return {0.001, 0.001};
  for (const RegionMember& member : region.members) {
    const auto found = std::ranges::find(member.operands, tensor.tensor);
    if (found == member.operands.end()) continue;
    return std::visit(RangeFinder{static_cast<std::size_t>(found - member.operands.begin()), tensor.type},
                      member.config);
  }
  return RangeOf(tensor.type);
}

// Designated initializers of one struct, on one line or on as many as they need.
class StructText {
 public:
  void Add(std::string_view name, const std::string& value) { fields_.push_back(fmt::format(".{} = {}", name, value)); }
  void Word(std::string_view name, const std::string& word) {
    if (!word.empty()) Add(name, StringLiteral(word));
  }
  void Numbers(std::string_view name, const cudnn::Dims& numbers) {
    if (!numbers.empty()) Add(name, Braced(numbers));
  }
  void Number(std::string_view name, const std::optional<float>& number) {
    if (!number) return;
    std::string text = fmt::format("{}", *number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    Add(name, text + "F");
  }
  void Layout(cudnn::Layout layout) {
    constexpr std::string_view kNames[] = {"RowMajor",     "ChannelsLast", "Channels",    "Filter",
                                           "SecondMatrix", "Scales",       "SecondScales"};
    if (layout != cudnn::Layout::kRowMajor)
      Add("layout", fmt::format("Layout::k{}", kNames[static_cast<std::size_t>(layout)]));
  }

  // Between braces; further lines are indented by `indent` and one more.
  std::string Text(std::size_t indent) const {
    std::string text = "{", line;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const std::string field = fields_[i] + (i + 1 < fields_.size() ? ", " : "}");
      if (indent + line.size() + field.size() + 2 > kColumns) {
        while (line.ends_with(' ')) line.pop_back();
        text += line + "\n" + std::string(indent + 1, ' ');
        line.clear();
      }
      line += field;
    }
    return text + line;
  }

 private:
  std::vector<std::string> fields_;
};

std::string ListText(std::string_view name, const std::vector<StructText>& entries) {
  std::string text = fmt::format("        .{} = {{\n", name);
  for (const StructText& entry : entries) text += "            " + entry.Text(12) + ",\n";
  return text + "        },\n";
}

// As the member `name` of the emitted layer.
std::string GraphText(std::string_view name, const Region& region, const cuda::CudnnOperations& operations) {
  std::vector<StructText> tensors, calls, outputs;
  for (std::size_t i = 0; i < operations.tensors.size(); ++i) {
    const cudnn::Tensor& tensor = operations.graph.tensors[i];
    StructText& fields = tensors.emplace_back();
    fields.Word("name", tensor.name);
    fields.Word("type", tensor.type);
    fields.Numbers("dims", tensor.dims);
    fields.Layout(tensor.layout);
    const Range range = RangeOfTensor(region, operations.tensors[i]), usual;
    if (range.low == usual.low && range.high == usual.high) continue;
    fields.Add("low", FormatNumber(range.low));
    fields.Add("high", FormatNumber(range.high));
  }
  for (const cudnn::Operation& operation : operations.graph.operations) {
    StructText& fields = calls.emplace_back();
    fields.Word("result", operation.result);
    fields.Word("call", operation.call);
    fields.Word("mode", operation.mode);
    std::vector<std::string> operands;
    for (const std::string& operand : operation.operands) operands.push_back(StringLiteral(operand));
    fields.Add("operands", "{" + Join(operands, ", ") + "}");
    fields.Numbers("dims", operation.dims);
    fields.Layout(operation.layout);
    fields.Number("number", operation.number);
    fields.Number("elu_alpha", operation.elu_alpha);
    fields.Number("relu_slope", operation.relu_slope);
    fields.Number("relu_low", operation.relu_low);
    fields.Number("relu_high", operation.relu_high);
    fields.Numbers("pre_padding", operation.pre_padding);
    fields.Numbers("post_padding", operation.post_padding);
    fields.Numbers("stride", operation.stride);
    fields.Numbers("dilation", operation.dilation);
    fields.Numbers("window", operation.window);
    if (operation.causal) fields.Add("causal", "true");
    if (operation.left_bound > 0) fields.Add("left_bound", std::to_string(operation.left_bound));
    fields.Number("lrn_alpha", operation.lrn_alpha);
    fields.Number("lrn_beta", operation.lrn_beta);
    fields.Number("lrn_k", operation.lrn_k);
    fields.Word("sums", operation.sums);
    fields.Word("result_type", operation.result_type);
  }
  for (const cudnn::Output& output : operations.graph.outputs) {
    StructText& fields = outputs.emplace_back();
    fields.Word("name", output.name);
    fields.Word("type", output.type);
  }
  return fmt::format("    .{} = {{\n", name) + ListText("tensors", tensors) + ListText("operations", calls) +
         ListText("outputs", outputs) + "    },\n";
}

// Those of the tier `engine`, in its order, under the contract that has all of them.
std::string FormsText(const Workload& workload) {
  std::vector<std::string> forms;
  for (const cuda::CudnnForm& form : cuda::FormsOf(workload, NativeContract(workload), CandidateTier::kEngine)) {
    StructText fields;
    fields.Word("suffix", cuda::Suffix(workload, form));
    fields.Word("layouts", cuda::InputLayouts(workload, form) + "->" + cuda::OutputLayout(workload, form));
    if (form.channels_last) fields.Add("channels_last", "true");
    if (form.half_sums) fields.Add("half_sums", "true");
    if (form.channel_multiple > 1) fields.Add("channel_multiple", std::to_string(form.channel_multiple));
    forms.push_back(fields.Text(8));
  }
  return "    .forms = {\n" + ListLines(forms) + "    },\n";
}

// One emitted cuDNN source: the operations of a layer or region and its forms, as the structs of cudnn_layer.h, which
// every project gets with the runner's calls of cuDNN (microbench/libraries/cudnn/calls).
//
//   .tensors = {
//       {.name = "in0", .type = "f16", .dims = {1, 64, 56, 56}, .layout = Layout::kChannels},
//       ...
//
// The error says what cuDNN's graph does not have.
Result<std::string> WriteCudnnSource(const SourceRequest& request) {
  const Region region = RegionWithConstants(request.workload);
  const Result<cuda::CudnnOperations> legacy = cuda::CudnnLegacyOf(region);
  // A convolution's or pooling's older call is that of its operations in the graph.
  const bool has_own = legacy.ok() && !std::holds_alternative<ConvolutionConfig>(region.members[0].config) &&
                       !std::holds_alternative<PoolingConfig>(region.members[0].config);
  if (IsStrictMatrixProduct(region, request.contracts)) {
    return Error{
        "cuDNN's graph has no matrix product in strict f32, all its engines use Tensor Cores; --library cublaslt "
        "has them, and under --contract tf32 cuDNN does"};
  }
  const Result<cuda::CudnnOperations> operations = Supported(cuda::CudnnOperationsOf(region));
  if (!operations.ok() && !has_own) {
    const auto* recurrent = std::get_if<RecurrentConfig>(&region.members[0].config);
    if (recurrent != nullptr && recurrent->kind == RecurrentKind::kGru)
      return Error{"a GRU that resets before its product is no cell of cuDNN's"};
    return operations.error();
  }
  const std::string layer = Format(request.workload);
  std::string text = SourceOpening(layer, request.version, {"cudnn_candidates.h"});
  text += "namespace {\n\nusing namespace cudnn;\n\n" + LayerConstant(layer);
  text += "const Registration kRegistered({\n    .text = kLayer,\n";
  text += fmt::format("    .contracts = {},\n", ContractList(request.contracts));
  if (operations.ok()) text += GraphText("graph", region, *operations);
  if (has_own) text += GraphText("legacy", region, *legacy);
  text += FormsText(request.workload);
  if (cuda::HasFloatProduct(region)) text += "    .is_product = true,\n";
  return text + OnlyLines(request.only) + "});\n\n}  // namespace\n";
}

constexpr std::string_view kFindCudnn = R"(find_package(CUDAToolkit REQUIRED)
# NVIDIA's header-only frontend, https://github.com/NVIDIA/cudnn-frontend, and cuDNN 9 itself. Without its JSON, which
# nothing here needs, the frontend compiles in half the time.
find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h REQUIRED)
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDNN_ROOT} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include REQUIRED)
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${CUDNN_ROOT} ${CUDAToolkit_LIBRARY_DIR}
  PATH_SUFFIXES lib lib64 REQUIRED)
add_library(cudnn_with_frontend INTERFACE)
target_include_directories(cudnn_with_frontend SYSTEM INTERFACE
  "${CUDNN_FRONTEND_INCLUDE_DIR}" "${CUDNN_INCLUDE_DIR}" ${CUDAToolkit_INCLUDE_DIRS})
target_compile_definitions(cudnn_with_frontend INTERFACE
  NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING CUDNN_FRONTEND_SKIP_JSON_LIB
  CUDA_STUBS="${CUDAToolkit_LIBRARY_DIR}/stubs")
target_link_libraries(cudnn_with_frontend INTERFACE "${CUDNN_LIBRARY}" CUDA::cudart ${CMAKE_DL_LIBS}))";

constexpr std::string_view kCudnnNotes =
    "The CUDA toolkit, cuDNN 9 (PyPI's `nvidia-cudnn-cu13` has it too: `-DCUDNN_ROOT=.../site-packages/nvidia/cudnn`) "
    "and\n"
    "NVIDIA's header-only frontend (PyPI's `nvidia-cudnn-frontend`, its folder `include`) are needed to build; the "
    "three\n"
    "files that include it take half a minute each, layers' sources are small. Where CMake does not find them:\n"
    "`-DCUDNN_FRONTEND_INCLUDE_DIR=...`, `-DCUDNN_INCLUDE_DIR=...`, `-DCUDNN_LIBRARY=...`, `-DCUDAToolkit_ROOT=...`.\n"
    "`CUDNN_LOGLEVEL_DBG=2 CUDNN_LOGDEST_DBG=stderr` before the program shows what cuDNN says.\n";

constexpr std::string_view kCudnnCommands =
    "build/cudnn_benchmarks --tier exhaustive --benchmark_out=results.json --benchmark_out_format=json\n"
    "build/cudnn_benchmarks --list --device-properties h200.json   # names, without a GPU\n"
    "# h200.json: infimum has it and others in share/infimum/gpus; cuDNN writes it of a device here\n"
    "# (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION).\n";

constexpr std::string_view kCudnnFiles[] = {
    "cuda_main.cc",        "cuda_memory.h",       "cuda_program.h",      "cuda_timing.h",         "cudnn_candidates.h",
    "cudnn_candidates.cc", "cudnn_layer.h",       "cudnn_operations.h",  "cudnn_operations.cc",   "cudnn_plan.h",
    "cudnn_plans.h",       "cudnn_plans.cc",      "legacy_call.h",       "legacy_convolution.cc", "legacy_functions.h",
    "legacy_recurrent.h",  "legacy_recurrent.cc", "legacy_statistics.cc"};

constexpr std::string_view kOlderCalls[] = {"cudnn-legacy"};

}  // namespace

const Library& Cudnn() {
  static const Library library{.name = "cudnn",
                               .title = "cuDNN",
                               .candidates = "cudnn-graph",
                               .example = "eng62_k2=5_k13=1",
                               .further_candidates = kOlderCalls,
                               .cmake_version = "3.18",
                               .find_package = kFindCudnn,
                               .target = "cudnn_with_frontend",
                               .precompiled_header = "",
                               .notes = kCudnnNotes,
                               .commands = kCudnnCommands,
                               .running = CudaRunning(),
                               .beside = "cuBLASLt's products, which\n`--library cublaslt` writes.\n",
                               .shared_files = kCudnnFiles,
                               .write_source = WriteCudnnSource,
                               .refusal_of = RefusalOfConstants};
  return library;
}

}  // namespace infimum::emit
