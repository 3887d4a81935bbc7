#include "microbench/gpu/device/code_cache.h"

#include <cstdlib>
#include <span>
#include <utility>

#include "infimum/base/file_text.h"
#include "infimum/base/sha256.h"

namespace infimum::cuda {
namespace {

std::string HashOf(std::string_view text) { return Sha256(std::as_bytes(std::span(text))); }

}  // namespace

std::filesystem::path CodeCache::DefaultFolder() {
  for (const auto& [variable, below] :
       {std::pair("INFIMUM_CACHE", ""), std::pair("XDG_CACHE_HOME", "infimum"), std::pair("HOME", ".cache/infimum")})
    if (const char* folder = std::getenv(variable); folder != nullptr && *folder != '\0')
      return std::filesystem::path(folder) / below / "kernels";
  return {};
}

std::filesystem::path CodeCache::FileOf(std::string_view made_of) const {
  return folder_ / (HashOf(made_of) + ".code");
}

std::optional<std::string> CodeCache::Find(std::string_view made_of) const {
  if (folder_.empty()) return std::nullopt;
  const Result<std::string> text = ReadFile(FileOf(made_of));
  if (!text.ok()) return std::nullopt;
  // A hash of the code comes before it.
  const std::size_t line = text->find('\n');
  if (line == std::string::npos) return std::nullopt;
  std::string code = text->substr(line + 1);
  if (HashOf(code) != std::string_view(*text).substr(0, line)) return std::nullopt;
  return code;
}

void CodeCache::Keep(std::string_view made_of, std::string_view code) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  static_cast<void>(WriteFile(FileOf(made_of), HashOf(code) + "\n" + std::string(code)));
}

}  // namespace infimum::cuda
