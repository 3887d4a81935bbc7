#include "src/emit/library.h"
#include "src/emit/onednn_source.h"

namespace infimum::emit {
namespace {

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
  return "";
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
