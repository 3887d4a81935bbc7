#include "src/emit/emitted_files.h"
#include "src/emit/library.h"
#include "src/emit/onednn_source.h"

namespace infimum::emit {
namespace {

constexpr std::string_view kNotes =
    "oneDNN 3 comes from your distribution, from <https://github.com/uxlfoundation/oneDNN>, or from PyPI's wheel\n"
    "`onednn-devel-cpu-gomp`; where CMake does not find it, `-DCMAKE_PREFIX_PATH=FOLDER` says where it is.\n"
    "`ONEDNN_VERBOSE=1` before the program shows what oneDNN runs.\n";

std::span<const EmittedFile> SharedFiles() {
  static const EmittedFile files[] = {{"onednn_main.cc", std::string(OneDnnMain())},
                                      {"onednn_candidates.h", std::string(OneDnnCandidatesHeader())},
                                      {"onednn_candidates.cc", std::string(OneDnnCandidates())},
                                      {"onednn_layouts.h", std::string(OneDnnLayouts())},
                                      {"onednn_memory.h", std::string(OneDnnMemory())}};
  return files;
}

Result<std::string> WriteSource(const Workload& workload, const std::vector<std::string>& only,
                                std::string_view version) {
  INFIMUM_ASSIGN_OR_RETURN(const OneDnnSource source, Describe(workload));
  return Render(source, Format(workload), only, version);
}

std::string RefusalOf(std::string_view algorithm) {
  if (algorithm.starts_with("graph/")) return "a oneDNN Graph partition, which is not emitted yet";
  if (algorithm.starts_with("as-f32/") || algorithm.starts_with("as-u8/"))
    return "converts its tensors by kernels of infimum's own, which are not emitted";
  if (algorithm.starts_with("upsampling-as-matmul/"))
    return "copies its result into place by a kernel of infimum's own, which is not emitted";
  return "";
}

}  // namespace

const Library& OneDnn() {
  static const Library library{
      "onednn", "oneDNN", "find_package(dnnl 3 REQUIRED)", "DNNL::dnnl", kNotes, SharedFiles, WriteSource, RefusalOf};
  return library;
}

}  // namespace infimum::emit
