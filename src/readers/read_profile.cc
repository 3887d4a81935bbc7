#include "src/readers/read_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "src/readers/profiles/tensorrt/tensorrt_engine.h"

namespace infimum {
namespace {

using Path = std::filesystem::path;

Result<Profile> ReadText(const FileFormat& format, std::istream& text, const std::string& origin) {
  if (format.read_profile != nullptr) return format.read_profile(text, origin);
  if (format.read_database != nullptr)
    return Error{fmt::format("{}: a compressed database: unpack it first (gunzip)", origin)};
  if (format.read_results != nullptr)
    return Error{fmt::format("{}: {}, not a profile: infimum import reads it", origin, format.name)};
  if (!format.advice.empty()) return Error{fmt::format("{}: {}", origin, format.advice)};
  return Error{fmt::format("{}: not a known profile: {}", origin, KnownProfiles())};
}

Result<Profile> ReadOne(const Path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  if (!ingest::IsGzip(file)) {
    const FileFormat& format = DetectFormat(file);
    if (format.read_database != nullptr) return format.read_database(path);
  }
  return WithFormatOf(file, path.string(), [&](const FileFormat& format, std::istream& text) {
    return ReadText(format, text, path.string());
  });
}

Result<bool> IsPartOfEngine(const Path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  return WithFormatOf(file, path.string(),
                      [](const FileFormat& format, std::istream&) -> Result<bool> { return format.is_part_of_engine; });
}

// A folder as the files of an engine in it.
Result<std::vector<Path>> FilesOfEngine(const Path& folder) {
  std::vector<Path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error)) continue;
    const Result<bool> is_part = IsPartOfEngine(entry.path());
    if (is_part.ok() && *is_part) files.push_back(entry.path());
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
    INFIMUM_ASSIGN_OR_RETURN(const bool is_part, IsPartOfEngine(path));
    if (!is_part) {
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
