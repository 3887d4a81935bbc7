// cuDNN as a library that sources are written for.
#include "src/emit/cudnn_source.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"

namespace infimum::emit {
namespace {

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

constexpr std::string_view kCudnnFiles[] = {"cuda_main.cc",  "cuda_memory.h",      "cuda_program.h",
                                            "cuda_timing.h", "cudnn_candidates.h", "cudnn_candidates.cc",
                                            "cudnn_layer.h", "cudnn_operations.h", "cudnn_operations.cc",
                                            "cudnn_plan.h",  "cudnn_plans.h",      "cudnn_plans.cc"};

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
