// cuBLASLt as a library that sources are written for.
#include "src/emit/cublaslt_source.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"

namespace infimum::emit {
namespace {

constexpr std::string_view kFindCublaslt = "find_package(CUDAToolkit REQUIRED)";

constexpr std::string_view kCublasltNotes =
    "The CUDA toolkit is needed to build, with cuBLASLt, which is part of it; where CMake does not find it:\n"
    "`-DCUDAToolkit_ROOT=...`. `CUBLASLT_LOG_LEVEL=5` before the program shows what cuBLASLt runs.\n";

constexpr std::string_view kCublasltCommands =
    "build/cublaslt_benchmarks --tier exhaustive --benchmark_out=results.json --benchmark_out_format=json\n";

constexpr std::string_view kCublasltFiles[] = {
    "cuda_main.cc",          "cuda_memory.h",          "cuda_program.h",        "cuda_timing.h",
    "cublaslt_candidates.h", "cublaslt_candidates.cc", "cublaslt_algorithms.h", "cublaslt_algorithms.cc"};

Result<std::string> WriteCublasltSource(const SourceRequest& request) {
  INFIMUM_ASSIGN_OR_RETURN(const CublasLtProduct product, DescribeProduct(request.workload));
  return WriteProduct(product, request);
}

std::string CublasltRefusalOf(std::string_view) { return ""; }

}  // namespace

const Library& CublasLt() {
  static const Library library{.name = "cublaslt",
                               .title = "cuBLASLt",
                               .candidates = "cublaslt",
                               .example = "algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0",
                               .cmake_version = "3.18",
                               .find_package = kFindCublaslt,
                               .target = "CUDA::cublasLt CUDA::cudart",
                               .precompiled_header = "",
                               .notes = kCublasltNotes,
                               .commands = kCublasltCommands,
                               .running = CudaRunning(),
                               .beside = "cuDNN's graph has matrix products too, which `--library cudnn` writes.\n",
                               .shared_files = kCublasltFiles,
                               .write_source = WriteCublasltSource,
                               .refusal_of = CublasltRefusalOf};
  return library;
}

}  // namespace infimum::emit
