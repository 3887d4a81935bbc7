#include "src/readers/profiles/read_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "src/readers/files/input_file.h"
#include "src/readers/profiles/chakra/chakra_trace.h"
#include "src/readers/profiles/kineto/kineto_trace.h"
#include "src/readers/profiles/nsys/nsys_export.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"
#include "src/readers/profiles/run_file.h"
#include "src/readers/profiles/tensorrt/tensorrt_engine.h"

namespace infimum {
namespace {

using Path = std::filesystem::path;

bool IsTensorRt(FileKind kind) {
  return kind == FileKind::kTensorRtLayerInfo || kind == FileKind::kTensorRtProfile ||
         kind == FileKind::kTensorRtTimes || kind == FileKind::kTensorRtMetadata;
}

Result<Profile> ReadText(FileKind kind, std::istream& text, const std::string& origin) {
  switch (kind) {
    case FileKind::kRun: {
      INFIMUM_ASSIGN_OR_RETURN(RunProfile run, ReadRun(text, origin));
      return Profile(std::move(run));
    }
    case FileKind::kOnnxRuntimeProfile: {
      INFIMUM_ASSIGN_OR_RETURN(RunProfile run, ReadOnnxRuntimeProfile(text, origin));
      return Profile(std::move(run));
    }
    case FileKind::kKinetoTrace: {
      INFIMUM_ASSIGN_OR_RETURN(Timeline timeline, ReadKinetoTrace(text, origin));
      return Profile(std::move(timeline));
    }
    case FileKind::kChakraTrace:
      return ReadChakraTrace(text, origin);
    case FileKind::kArchive:
    case FileKind::kCompressed:
    case FileKind::kEventLines:
      return Error{fmt::format("{}: {}", origin, UnpackAdvice(text))};
    case FileKind::kNsysExport:
      return Error{fmt::format("{}: a compressed database: unpack it first (gunzip)", origin)};
    case FileKind::kJournal:
    case FileKind::kGoogleBenchmark:
    case FileKind::kScopeBenchmarks:
      return Error{fmt::format("{}: {}, no profile: infimum import takes it", origin, Name(kind))};
    default:
      break;
  }
  return Error{fmt::format(
      "{}: no profile that is known: a trace of PyTorch's profiler (export_chrome_trace), an export of Nsight Systems "
      "(nsys export --type sqlite), what trtexec says of an engine (--exportLayerInfo, --exportProfile, "
      "--exportTimes), a profile of ONNX Runtime (enable_profiling), a Chakra trace as JSON or a run that infimum "
      "measure -o wrote",
      origin)};
}

Result<Profile> ReadOne(const Path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  if (!ingest::IsGzip(file) && DetectFileKind(file) == FileKind::kNsysExport) {
    INFIMUM_ASSIGN_OR_RETURN(Timeline timeline, ReadNsysExport(path));
    return Profile(std::move(timeline));
  }
  return ingest::WithTextOf(file, path.string(),
                            [&](FileKind kind, std::istream& text) { return ReadText(kind, text, path.string()); });
}

// A folder as the files of an engine in it.
Result<std::vector<Path>> FilesOfEngine(const Path& folder) {
  std::vector<Path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error)) continue;
    const Result<FileKind> kind = ingest::KindOfFile(entry.path());
    if (kind.ok() && IsTensorRt(*kind)) files.push_back(entry.path());
  }
  if (error) return Error{fmt::format("{}: cannot be read: {}", folder.string(), error.message())};
  if (files.empty()) return Error{folder.string() + ": a folder without files of trtexec; name the files in it"};
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<std::vector<NamedProfile>> ReadProfiles(const std::vector<Path>& files) {
  struct Group {
    std::string source;
    std::vector<Path> files;
    bool is_engine = false;
  };
  std::vector<Group> groups;
  std::map<Path, std::size_t> engines;  // by folder
  for (const Path& path : files) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      INFIMUM_ASSIGN_OR_RETURN(std::vector<Path> inside, FilesOfEngine(path));
      groups.push_back({path.string(), std::move(inside), true});
      continue;
    }
    INFIMUM_ASSIGN_OR_RETURN(const FileKind kind, ingest::KindOfFile(path));
    if (!IsTensorRt(kind)) {
      groups.push_back({path.string(), {path}, false});
      continue;
    }
    const Path folder = path.parent_path().empty() ? Path(".") : path.parent_path();
    const auto [engine, is_new] = engines.emplace(folder, groups.size());
    if (is_new) {
      groups.push_back({path.string(), {}, true});
    } else {
      groups[engine->second].source = folder.string();
    }
    groups[engine->second].files.push_back(path);
  }
  std::vector<NamedProfile> profiles;
  for (const Group& group : groups) {
    if (!group.is_engine) {
      INFIMUM_ASSIGN_OR_RETURN(Profile profile, ReadOne(group.files.front()));
      profiles.push_back({group.source, std::move(profile)});
      continue;
    }
    INFIMUM_ASSIGN_OR_RETURN(const TensorRtFiles engine, SortTensorRtFiles(group.files));
    INFIMUM_ASSIGN_OR_RETURN(RunProfile run, ReadTensorRtEngine(engine));
    profiles.push_back({group.source, Profile(std::move(run))});
  }
  return profiles;
}

}  // namespace infimum
