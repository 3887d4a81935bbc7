// cuBLASLt as a library that sources are written for.
#include "src/emit/cublaslt_source.h"
#include "src/emit/emitted_files.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"

namespace infimum::emit {
namespace {

constexpr std::string_view kFindPackage = "find_package(CUDAToolkit REQUIRED)";

constexpr std::string_view kNotes =
    "The CUDA toolkit is needed to build, with cuBLASLt, which is part of it; where CMake does not find it:\n"
    "`-DCUDAToolkit_ROOT=...`. `CUBLASLT_LOG_LEVEL=5` before the program shows what cuBLASLt runs.\n";

constexpr std::string_view kCommands =
    "build/cublaslt_benchmarks --tier exhaustive --benchmark_out=results.json --benchmark_out_format=json\n";

std::span<const EmittedFile> SharedFiles() {
  static const std::vector<EmittedFile> files = [] {
    std::vector<EmittedFile> all = CudaFiles();
    all.push_back({"cublaslt_candidates.h", std::string(CublasLtCandidatesHeader())});
    all.push_back({"cublaslt_candidates.cc", std::string(CublasLtCandidates())});
    all.push_back({"cublaslt_algorithms.h", std::string(CublasLtAlgorithmsHeader())});
    all.push_back({"cublaslt_algorithms.cc", std::string(CublasLtAlgorithms())});
    return all;
  }();
  return files;
}

Result<std::string> WriteSource(const SourceRequest& request) {
  INFIMUM_ASSIGN_OR_RETURN(const CublasLtProduct product, DescribeProduct(request.workload));
  return WriteProduct(product, request);
}

std::string RefusalOf(std::string_view) { return ""; }

}  // namespace

const Library& CublasLt() {
  static const Library library{.name = "cublaslt",
                               .title = "cuBLASLt",
                               .candidates = "cublaslt",
                               .example = "algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0",
                               .cmake_version = "3.18",
                               .find_package = kFindPackage,
                               .target = "CUDA::cublasLt CUDA::cudart",
                               .precompiled_header = "",
                               .notes = kNotes,
                               .commands = kCommands,
                               .running = CudaRunning(),
                               .beside = "cuDNN's graph has matrix products too, which `--library cudnn` writes.\n",
                               .shared_files = SharedFiles,
                               .write_source = WriteSource,
                               .refusal_of = RefusalOf};
  return library;
}

}  // namespace infimum::emit
