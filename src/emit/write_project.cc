#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "src/emit/project.h"

namespace infimum {

Status WriteProject(const EmittedProject& project, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    if (!fs::is_directory(folder, error))
      return Error{fmt::format("{}: is there already and no folder; name another one", folder.string())};
    const bool empty = fs::is_empty(folder, error);
    if (error) return Error{fmt::format("{}: cannot be read: {}", folder.string(), error.message())};
    if (!empty) {
      return Error{
          fmt::format("{}: is not empty, and may hold sources that were changed; name a new folder, or remove it",
                      folder.string())};
    }
  }
  fs::create_directories(folder, error);
  if (error) return Error{fmt::format("{}: cannot be made: {}", folder.string(), error.message())};
  for (const EmittedFile& file : project.files) {
    const fs::path path = folder / file.name;
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    out.close();
    if (!out)
      return Error{
          fmt::format("{}: cannot be written: {}", path.string(), errno != 0 ? std::strerror(errno) : "unknown cause")};
  }
  return {};
}

}  // namespace infimum
