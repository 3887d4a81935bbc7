#include "infimum/base/file_text.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace infimum {
namespace {

Error Failed(const std::filesystem::path& path, const char* what, const std::string& cause) {
  return Error{path.string() + ": cannot be " + what + ": " + cause};
}

std::string Cause() { return errno != 0 ? std::strerror(errno) : "unknown cause"; }

}  // namespace

bool IsSpecialFile(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

Result<std::string> ReadFile(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failed(path, "read", Cause());
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return Failed(path, "read", Cause());
  return text;
}

Status WriteFile(const std::filesystem::path& path, std::string_view text) {
  const bool is_special = IsSpecialFile(path);
  const std::string part = is_special ? path.string() : path.string() + ".part";
  errno = 0;
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  std::string cause = file ? "" : Cause();
  if (is_special) return file ? Status() : Status(Failed(path, "written", cause));
  std::error_code error;
  if (cause.empty()) std::filesystem::rename(part, path, error);
  if (error) cause = error.message();
  if (cause.empty()) return {};
  std::filesystem::remove(part, error);
  return Failed(path, "written", cause);
}

}  // namespace infimum
