#include "infimum/ingest/read_profile.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "infimum/ingest/kineto_trace.h"
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
    case FileKind::kJournal:
    case FileKind::kGoogleBenchmark:
    case FileKind::kScopeBenchmarks:
      return Error{fmt::format("{}: {}, no profile: infimum import takes it", origin, Name(kind))};
    case FileKind::kUnknown:
      break;
  }
  return Error{fmt::format(
      "{}: no profile that is known: a trace of PyTorch's profiler (export_chrome_trace), a profile of ONNX Runtime "
      "(enable_profiling) or a run that infimum measure -o wrote",
      origin)};
}

}  // namespace

Result<Profile> ReadProfileFile(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  return ingest::WithTextOf(file, path.string(),
                            [&](FileKind kind, std::istream& text) { return ReadKind(kind, text, path.string()); });
}

}  // namespace infimum
