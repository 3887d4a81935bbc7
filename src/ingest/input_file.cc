#include "src/ingest/input_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace infimum::ingest {

Result<std::ifstream> OpenFile(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return Error{path.string() + ": a folder; name the files in it"};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{
        fmt::format("{}: cannot be read: {}", path.string(), errno != 0 ? std::strerror(errno) : "unknown cause")};
  }
  return file;
}

}  // namespace infimum::ingest
