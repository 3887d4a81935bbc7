#include "infimum/ingest/read_profile.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "infimum/ingest/kineto_trace.h"
#include "infimum/ingest/nsys_export.h"
#include "infimum/ingest/onnxruntime_profile.h"
#include "infimum/ingest/run_file.h"
#include "src/ingest/input_file.h"

namespace infimum {
namespace {

Result<Profile> ReadKind(FileKind kind, std::istream& text, const std::string& origin) {
  switch (kind) {
    case FileKind::kRun: {
      INFIMUM_ASSIGN_OR_RETURN(RunProfile run, ReadRun(text, origin));
      return Profile(std::move(run));
    }
    case FileKind::kOnnxRuntimeProfile: {
      RunProfile run;
      run.framework = "onnxruntime";
      INFIMUM_ASSIGN_OR_RETURN(run.layers, ReadOnnxRuntimeProfile(text, origin));
      return Profile(std::move(run));
    }
    case FileKind::kKinetoTrace: {
      INFIMUM_ASSIGN_OR_RETURN(Timeline timeline, ReadKinetoTrace(text, origin));
      return Profile(std::move(timeline));
    }
    case FileKind::kNsysExport:  // within a compressed file; others are read by their path
      return Error{fmt::format("{}: a compressed database: unpack it first (gunzip)", origin)};
    case FileKind::kJournal:
    case FileKind::kGoogleBenchmark:
    case FileKind::kScopeBenchmarks:
      return Error{fmt::format("{}: {}, no profile: infimum import takes it", origin, Name(kind))};
    case FileKind::kUnknown:
      break;
  }
  return Error{
      fmt::format("{}: no profile that is known: a trace of PyTorch's profiler (export_chrome_trace), an export of "
                  "Nsight Systems (nsys export --type sqlite), a profile of ONNX Runtime "
                  "(enable_profiling) or a run that infimum measure -o wrote",
                  origin)};
}

}  // namespace

Result<Profile> ReadProfileFile(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  if (!ingest::IsGzip(file) && DetectFileKind(file) == FileKind::kNsysExport) {
    INFIMUM_ASSIGN_OR_RETURN(Timeline timeline, ReadNsysExport(path));
    return Profile(std::move(timeline));
  }
  return ingest::WithTextOf(file, path.string(),
                            [&](FileKind kind, std::istream& text) { return ReadKind(kind, text, path.string()); });
}

}  // namespace infimum
