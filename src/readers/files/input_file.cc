#include "src/readers/files/input_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace infimum::ingest {

Result<std::ifstream> OpenFile(const std::filesystem::path& path) { return OpenFile(path, path.string()); }

Result<std::ifstream> OpenFile(const std::filesystem::path& path, std::string_view origin) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return Error{fmt::format("{}: a folder; name the files in it", origin)};
  // Opening a pipe waits for its writer, and of none of these can a part be read twice.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return Error{fmt::format("{}: a pipe or a device; write what comes from it into a file and name that", origin)};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{fmt::format("{}: cannot be read: {}", origin, errno != 0 ? std::strerror(errno) : "unknown cause")};
  }
  return file;
}

Result<FileKind> KindOfFile(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, OpenFile(path));
  return WithTextOf(file, path.string(), [](FileKind kind, std::istream&) -> Result<FileKind> { return kind; });
}

}  // namespace infimum::ingest
