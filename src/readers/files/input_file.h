// A file to read: opened with an error that gives the reason, unpacked where it is compressed.
//
//   INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, OpenFile(path));
//   return WithTextOf(file, path.string(), [&](std::istream& text) { return Read(text); });
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <limits>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

namespace infimum::ingest {

// A gzip file as the stream of what is compressed in it, in memory bounded by two blocks and on no disk.
//
//   std::ifstream file("1.json.gz", std::ios::binary);
//   if (IsGzip(file)) { GzipStream text(file); ReadFrom(text); if (text.error()) ...; }
//
// Readers see the text end where the file is damaged: after reading, error() describes the damage.

// By the first two bytes; the stream is put back to its start.
bool IsGzip(std::istream& file);

// A text of more than kMinBomb bytes that is over kMaxExpansion times its file's is refused: results come to 40 times
// at most, what was made to fill a disk or an afternoon to 1,000.
inline constexpr std::uint64_t kMinBomb = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMaxExpansion = 200;

// It can seek only to its start, which begins again, and report its position.
class GzipBuffer final : public std::streambuf {
 public:
  explicit GzipBuffer(std::istream& file);
  ~GzipBuffer() override;
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;

  // From here on the text may have this many bytes in all.
  void LimitTo(std::uint64_t bytes) { limit_ = bytes; }
  // The first, also after a seek to the start. "byte 31: ...", a byte of the file.
  const std::optional<Error>& error() const { return error_; }

 protected:
  int_type underflow() override;
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode which) override;
  pos_type seekpos(pos_type position, std::ios_base::openmode which) override;

 private:
  bool Fill();        // more of the file; false at its end
  bool NextMember();  // of several that were written one behind the other; false at the end or on an error
  bool IsBomb() const;
  void Rewind();
  int_type Fail(const std::string& what);
  std::uint64_t Consumed() const { return read_ - inflater_.avail_in; }

  std::istream& file_;
  z_stream inflater_{};
  std::vector<char> packed_, text_;
  std::uint64_t read_ = 0;  // of the file
  std::uint64_t made_ = 0;  // of the text
  std::uint64_t limit_ = UINT64_MAX;
  bool in_member_ = true;
  bool ended_ = false;
  std::optional<Error> error_;
};

class GzipStream : public std::istream {
 public:
  // `file` at its start; it must outlive this.
  explicit GzipStream(std::istream& file) : std::istream(nullptr), buffer_(file) { rdbuf(&buffer_); }

  void LimitTo(std::uint64_t bytes) { buffer_.LimitTo(bytes); }
  const std::optional<Error>& error() const { return buffer_.error(); }

 private:
  GzipBuffer buffer_;
};

// A folder, a pipe, or a file that cannot be read is an error with the reason. It calls the file by its path or, where
// that is not to be trusted, by `origin`.
Result<std::ifstream> OpenFile(const std::filesystem::path& path);
Result<std::ifstream> OpenFile(const std::filesystem::path& path, std::string_view origin);

// Gives the text in a file, which may be compressed, to `use`. Damage of the compressed data hides whatever `use` made
// of what came before it.
template <class Use>
auto WithTextOf(std::istream& file, std::string_view origin, const Use& use) -> decltype(use(file)) {
  if (!IsGzip(file)) return use(file);
  GzipStream text(file);
  auto result = use(text);
  if (!result.ok()) {
    // What was read wrongly may have been damaged, which zlib knows at the end.
    text.clear();
    text.ignore(std::numeric_limits<std::streamsize>::max());
  }
  if (text.error()) return Within(std::string(origin), *text.error());
  return result;
}

// Damage found so far in a text that is being unpacked.
std::optional<Error> DamageOf(std::istream& text);
// The text may have this many bytes once it is unpacked; without effect on one that is not compressed.
void LimitUnpacked(std::istream& text, std::uint64_t bytes);

}  // namespace infimum::ingest
