// A file to read: opened with an error that says why not, unpacked where it is compressed, told by its content.
//
//   INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, OpenFile(path));
//   return WithTextOf(file, path.string(), [&](FileKind kind, std::istream& text) { return Read(kind, text); });
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <limits>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "src/readers/files/file_kind.h"
#include "src/readers/files/gzip_stream.h"

namespace infimum::ingest {

// A folder, a pipe, or a file that cannot be read is an error with the reason. It calls the file by its path or, where
// that is not to be trusted, by `origin`.
Result<std::ifstream> OpenFile(const std::filesystem::path& path);
Result<std::ifstream> OpenFile(const std::filesystem::path& path, std::string_view origin);

// A run that was measured is short: what is much longer was made to fill the memory.
inline constexpr std::uint64_t kMaxRunSize = std::uint64_t{128} << 20;

// Detects the kind of the text in a file, which may be compressed, and gives both to `use`. Damage of the compressed
// data hides whatever `use` made of what came before it.
template <class Use>
auto WithTextOf(std::istream& file, std::string_view origin, const Use& use) -> decltype(use(FileKind(), file)) {
  if (!IsGzip(file)) return use(DetectFileKind(file), file);
  GzipStream text(file);
  const FileKind kind = DetectFileKind(text);
  if (text.error()) return Within(std::string(origin), *text.error());
  if (kind == FileKind::kRun) text.LimitTo(kMaxRunSize);
  auto result = use(kind, text);
  if (!result.ok()) {
    // What was read wrongly may have been damaged, which zlib knows at the end.
    text.clear();
    text.ignore(std::numeric_limits<std::streamsize>::max());
  }
  if (text.error()) return Within(std::string(origin), *text.error());
  return result;
}

// The kind of a file, which may be compressed.
Result<FileKind> KindOfFile(const std::filesystem::path& path);

}  // namespace infimum::ingest
