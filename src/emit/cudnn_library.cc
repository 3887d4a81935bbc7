// cuDNN as a library that sources are written for.
#include <fmt/format.h>

#include <algorithm>

#include "src/emit/cudnn_graph_writer.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

using Source = RegionOperand::Source;

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
    "NVIDIA's header-only frontend (PyPI's `nvidia-cudnn-frontend`, its folder `include`) are needed to build; a "
    "source\n"
    "takes half a minute, since the frontend is large. Where CMake does not find them:\n"
    "`-DCUDNN_FRONTEND_INCLUDE_DIR=...`, `-DCUDNN_INCLUDE_DIR=...`, `-DCUDNN_LIBRARY=...`, `-DCUDAToolkit_ROOT=...`.\n"
    "`CUDNN_LOGLEVEL_DBG=2 CUDNN_LOGDEST_DBG=stderr` before the program shows what cuDNN says.\n";

constexpr std::string_view kCudnnCommands =
    "build/cudnn_benchmarks --tier exhaustive --benchmark_out=results.json --benchmark_out_format=json\n"
    "build/cudnn_benchmarks --list --device-properties h200.json   # names, without a GPU\n"
    "# h200.json: infimum has it and others in share/infimum/gpus; cuDNN writes it of a device here\n"
    "# (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION).\n";

constexpr std::string_view kCudnnFiles[] = {"cuda_main.cc",  "cuda_memory.h",      "cuda_program.h",
                                            "cuda_timing.h", "cudnn_candidates.h", "cudnn_candidates.cc",
                                            "cudnn_plans.h", "cudnn_plans.cc"};

// A layer as a region of its own, its constants w0 ... as a region has them.
Region AsRegion(const Workload& workload) {
  if (const auto* region = std::get_if<Region>(&workload)) return *region;
  RegionMember member{std::get<LayerConfig>(workload), {}};
  std::int64_t inputs = 0, constants = 0;
  for (const Operand& operand : OperandsOf(member.config)) {
    if (operand.constant) {
      member.operands.push_back({Source::kWeight, constants++});
    } else {
      member.operands.push_back({Source::kInput, inputs++});
    }
  }
  return {{std::move(member)}, {0}};
}

// Of floating point: integer products are exact under every contract.
bool HasProduct(const Region& region) {
  return std::ranges::any_of(region.members, [](const RegionMember& member) {
    const bool multiplies = std::holds_alternative<ConvolutionConfig>(member.config) ||
                            std::holds_alternative<MatMulConfig>(member.config) ||
                            std::holds_alternative<AttentionConfig>(member.config);
    return multiplies && IsFloatingPoint(TypesOf(member.config).input);
  });
}

// All of its matrix products of f32 run on Tensor Cores, which keep 10 bits of an operand's mantissa.
bool IsStrictMatrixProduct(const Region& region, const std::vector<NumericContract>& contracts) {
  const bool is_strict =
      std::ranges::all_of(contracts, [](NumericContract contract) { return contract == NumericContract::kStrictF32; });
  return is_strict && std::ranges::any_of(region.members, [](const RegionMember& member) {
           const auto* product = std::get_if<MatMulConfig>(&member.config);
           return product != nullptr && product->types.input == DataType::kF32;
         });
}

Result<std::string> WriteCudnnSource(const SourceRequest& request) {
  const Region region = AsRegion(request.workload);
  if (IsStrictMatrixProduct(region, request.contracts)) {
    return Error{
        "cuDNN's graph has no matrix product in strict f32, all its engines use Tensor Cores; --library cublaslt "
        "has them, and under --contract tf32 cuDNN does"};
  }
  const CudnnForms forms = FormsOf(request.workload);
  CudnnGraphWriter writer(region, forms);
  INFIMUM_RETURN_IF_ERROR(writer.AddMembers());
  std::vector<std::string> texts;
  for (const CudnnForms::Form& form : forms.forms) texts.push_back(FormText(form));
  const std::string layer = Format(request.workload);
  std::string text = SourceOpening(layer, request.version, {"cudnn_candidates.h"});
  text += "namespace {\n\nusing namespace cudnn;\n\n" + LayerConstant(layer) + writer.Text() + "\n";
  text += "const Registration kRegistered({\n    .text = kLayer,\n";
  text += fmt::format("    .contracts = {},\n", ContractList(request.contracts));
  text += "    .forms = {\n" + ListLines(texts) + "    },\n    .build = BuildGraph,\n";
  if (HasProduct(region)) text += "    .is_product = true,\n";
  text += OnlyLines(request.only) + "});\n\n}  // namespace\n";
  return text;
}

std::string CudnnRefusalOf(std::string_view) { return ""; }

}  // namespace

const Library& Cudnn() {
  static const Library library{.name = "cudnn",
                               .title = "cuDNN",
                               .candidates = "cudnn-graph",
                               .example = "eng62_k2=5_k13=1",
                               .cmake_version = "3.18",
                               .find_package = kFindCudnn,
                               .target = "cudnn_with_frontend",
                               .precompiled_header = "",
                               .notes = kCudnnNotes,
                               .commands = kCudnnCommands,
                               .running = CudaRunning(),
                               .beside =
                                   "cuDNN's calls that are no graph (softmax, LRN, recurrent layers) and cuBLASLt's "
                                   "products, which\n`--library cublaslt` writes.\n",
                               .shared_files = kCudnnFiles,
                               .write_source = WriteCudnnSource,
                               .refusal_of = CudnnRefusalOf};
  return library;
}

}  // namespace infimum::emit
