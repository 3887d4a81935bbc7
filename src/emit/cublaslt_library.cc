// cuBLASLt as a library that sources are written for: a GEMM's constants in the struct that the runner's calls of
// cuBLASLt take (microbench/libraries/cublaslt/calls), which every project gets as they are.
#include <fmt/format.h>

#include "infimum/base/text.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/core/measurement/gemm_problem.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"
#include "src/emit/source_text.h"
#include "src/emit/value_range.h"

namespace infimum::emit {
namespace {

using cuda::GemmForm;
using cuda::GemmProblem;

constexpr std::string_view kFindCublaslt =
    "find_package(CUDAToolkit REQUIRED)\n"
    "# Of sparse weights; no toolkit has it.\n"
    "find_path(CUSPARSELT_INCLUDE_DIR cusparseLt.h HINTS \"${CUSPARSELT_ROOT}/include\" ${CUDAToolkit_INCLUDE_DIRS})\n"
    "find_library(CUSPARSELT_LIBRARY NAMES cusparseLt libcusparseLt.so.0 HINTS \"${CUSPARSELT_ROOT}/lib\")\n"
    "if(CUSPARSELT_INCLUDE_DIR)\n"
    "  include(CheckCXXSourceCompiles)\n"
    "  set(CMAKE_REQUIRED_INCLUDES \"${CUSPARSELT_INCLUDE_DIR}\" ${CUDAToolkit_INCLUDE_DIRS})\n"
    "  check_cxx_source_compiles(\"#include <cusparseLt.h>\n\n"
    "static_assert(CUSPARSELT_VERSION >= 800);\n"
    "int main() { return 0; }\" CUSPARSELT_IS_NEW)\n"
    "endif()\n"
    "if(CUSPARSELT_IS_NEW AND CUSPARSELT_LIBRARY)\n"
    "  add_compile_definitions(HAS_CUSPARSELT)\n"
    "  include_directories(SYSTEM \"${CUSPARSELT_INCLUDE_DIR}\")\n"
    "  link_libraries(\"${CUSPARSELT_LIBRARY}\")\n"
    "else()\n"
    "  set_source_files_properties(cusparselt_matmul.cc PROPERTIES HEADER_FILE_ONLY ON)\n"
    "endif()";

constexpr std::string_view kFurtherLibraries[] = {"cublas", "cusparselt"};

constexpr std::string_view kCublasltNotes =
    "The CUDA toolkit is needed to build, with cuBLASLt, which is part of it; where CMake does not find it:\n"
    "`-DCUDAToolkit_ROOT=...`. Layers with sparse weights (2:4) are cuSPARSELt's too, 0.8 or later, where it is found\n"
    "(PyPI's `nvidia-cusparselt-cu13`: `-DCUSPARSELT_ROOT=.../site-packages/nvidia/cu13`). `CUBLASLT_LOG_LEVEL=5` "
    "before the program shows what cuBLASLt runs.\n";

constexpr std::string_view kCublasltCommands =
    "build/cublaslt_benchmarks --tier exhaustive --benchmark_out=results.json --benchmark_out_format=json\n";

constexpr std::string_view kCublasltFiles[] = {
    "cuda_main.cc",          "cuda_memory.h",          "cuda_program.h",        "cuda_timing.h",
    "cublaslt_candidates.h", "cublaslt_candidates.cc", "cublaslt_algorithms.h", "cublaslt_algorithms.cc",
    "cublaslt_gemm.h",       "cublaslt_matmul.h",      "cublaslt_matmul.cc",    "cublas_gemm.h",
    "cublas_gemm.cc",        "cusparselt_matmul.h",    "cusparselt_matmul.cc"};

// `Gemm`, without what forms differ in.
std::string GemmText(const GemmProblem& gemm) {
  std::vector<std::string> fields{fmt::format(".rows = {}", gemm.rows), fmt::format(".columns = {}", gemm.columns),
                                  fmt::format(".depth = {}", gemm.depth)};
  if (gemm.batch > 1) fields.push_back(fmt::format(".batch = {}", gemm.batch));
  const auto word = [&](const char* name, std::string_view value) {
    if (!value.empty()) fields.push_back(fmt::format(".{} = {}", name, StringLiteral(value)));
  };
  word("a", Name(gemm.a));
  word("b", Name(gemm.b));
  word("result", Name(gemm.output));
  if (gemm.batch > 1) {
    fields.push_back(fmt::format(".a_stride = {}", gemm.a_stride));
    fields.push_back(fmt::format(".b_stride = {}", gemm.b_stride));
  }
  word("a_scales", Name(gemm.a_scales));
  word("b_scales", Name(gemm.b_scales));
  if (gemm.bias != DataType::kNone) word("bias", Name(gemm.bias));
  if (gemm.addend) fields.emplace_back(".addend = true");
  word("activation", Name(gemm.activation));
  if (gemm.is_scaled()) fields.emplace_back(".factor = 0.001");  // back to 8 bits
  return "    .gemm = {\n" + ListLines(fields) + "    },\n";
}

std::string FormText(const GemmProblem& gemm, const GemmForm& form, NumericContract contract) {
  const std::string suffix = Suffix(form);
  std::string text = suffix.empty() ? "" : fmt::format(".suffix = {}, ", StringLiteral(suffix));
  text += fmt::format(".contract = {}, .sums = {}", StringLiteral(Name(contract)), StringLiteral(Name(gemm.sums)));
  if (form.b_transposed) text += ", .b_transposed = true";
  return "{" + text + "}";
}

Result<std::string> WriteCublasltSource(const SourceRequest& request) {
  const Region region = RegionWithConstants(request.workload);
  std::optional<GemmProblem> gemm;
  std::vector<std::string> forms, sparse_forms;
  for (const NumericContract contract : request.contracts) {
    for (const GemmForm& form : cuda::GemmFormsOf(region, contract, CandidateTier::kEngine)) {
      INFIMUM_ASSIGN_OR_RETURN(const cuda::RegionGemm made, Supported(cuda::GemmOf(region, contract, form)));
      if (!gemm) gemm = made.problem;
      forms.push_back(FormText(made.problem, form, contract));
    }
    for (const GemmForm& form : cuda::GemmFormsOf(region, contract, CandidateTier::kEngine, true))
      if (const Result<cuda::RegionGemm> made = cuda::GemmOf(region, contract, form); made.ok())
        sparse_forms.push_back(FormText(made->problem, form, contract));
  }
  if (!gemm) {
    const Result<cuda::RegionGemm> made = Supported(cuda::GemmOf(region, request.contracts[0], {}));
    if (!made.ok()) return made.error();
    return Error{
        "of 8 bits and of 4 cuBLASLt takes the second operand transposed, which only a constant can be stored as"};
  }
  const std::string layer = Format(request.workload);
  std::string text = SourceOpening(layer, request.version, {"cublaslt_candidates.h"});
  text += "namespace {\n\nusing namespace cublaslt;\n\n" + LayerConstant(layer);
  text += "const Registration kRegistered({\n    .text = kLayer,\n";
  text += fmt::format("    .layouts = {},\n", StringLiteral(cuda::InputLayouts(request.workload, {}) + "->" +
                                                            cuda::OutputLayout(request.workload, {})));
  text += GemmText(*gemm) + "    .forms = {\n" + ListLines(forms) + "    },\n";
  if (!sparse_forms.empty()) text += "    .sparse_forms = {\n" + ListLines(sparse_forms) + "    },\n";
  const Range range = RangeOf(gemm->a), usual;
  if (range.low != usual.low || range.high != usual.high)
    text += fmt::format("    .low = {},\n    .high = {},\n", FormatNumber(range.low), FormatNumber(range.high));
  return text + OnlyLines(request.only) + "});\n\n}  // namespace\n";
}

}  // namespace

const Library& CublasLt() {
  static const Library library{.name = "cublaslt",
                               .title = "cuBLASLt",
                               .candidates = "cublaslt",
                               .example = "algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0",
                               .further_candidates = kFurtherLibraries,
                               .cmake_version = "3.18",
                               .find_package = kFindCublaslt,
                               .target = "CUDA::cublas CUDA::cublasLt CUDA::cudart",
                               .precompiled_header = "",
                               .notes = kCublasltNotes,
                               .commands = kCublasltCommands,
                               .running = CudaRunning(),
                               .beside = "cuDNN's graph has matrix products too, which `--library cudnn` writes.\n",
                               .shared_files = kCublasltFiles,
                               .write_source = WriteCublasltSource,
                               .refusal_of = RefusalOfConstants};
  return library;
}

}  // namespace infimum::emit
