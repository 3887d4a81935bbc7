#include "src/readers/files/input_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "infimum/base/check.h"

namespace infimum::ingest {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr int kGzipFormat = 16 + MAX_WBITS;  // zlib's way to ask for gzip's header and check, and nothing else
constexpr std::array<unsigned char, 2> kMagic = {0x1f, 0x8b};

}  // namespace

bool IsGzip(std::istream& file) {
  std::array<char, kMagic.size()> start{};
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  const bool is_gzip = file.gcount() == static_cast<std::streamsize>(start.size()) &&
                       std::ranges::equal(start, kMagic, {}, [](char c) { return static_cast<unsigned char>(c); });
  file.clear();
  file.seekg(0);
  return is_gzip;
}

GzipBuffer::GzipBuffer(std::istream& file) : file_(file), packed_(kBlock), text_(kBlock) {
  INFIMUM_CHECK(inflateInit2(&inflater_, kGzipFormat) == Z_OK, "zlib has memory for its window");
}

GzipBuffer::~GzipBuffer() { inflateEnd(&inflater_); }

bool GzipBuffer::Fill() {
  file_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
  const auto count = static_cast<std::size_t>(file_.gcount());
  read_ += count;
  inflater_.next_in = reinterpret_cast<Bytef*>(packed_.data());
  inflater_.avail_in = static_cast<uInt>(count);
  return count > 0;
}

GzipBuffer::int_type GzipBuffer::Fail(const std::string& what) {
  ended_ = true;
  if (!error_) error_ = Error{fmt::format("byte {}: {}", Consumed(), what)};
  return traits_type::eof();
}

bool GzipBuffer::IsBomb() const { return made_ > kMinBomb && made_ / kMaxExpansion > Consumed(); }

bool GzipBuffer::NextMember() {
  // gzip itself allows zeros behind the last, as tapes had them.
  bool zeros = false;
  while (inflater_.avail_in > 0 || Fill()) {
    const bool is_zero = *inflater_.next_in == 0;
    if (!is_zero && (zeros || *inflater_.next_in != kMagic[0])) {
      Fail("something other than gzip follows the compressed data; remove it or fetch the file again");
      return false;
    }
    if (!is_zero) {
      in_member_ = true;
      inflateReset(&inflater_);
      return true;
    }
    zeros = true;
    ++inflater_.next_in;
    --inflater_.avail_in;
  }
  ended_ = true;
  if (file_.bad()) Fail("reading the file failed");
  return false;
}

GzipBuffer::int_type GzipBuffer::underflow() {
  if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
  while (!ended_) {
    if (!in_member_ && !NextMember()) break;
    if (inflater_.avail_in == 0 && !Fill()) {
      return Fail(file_.bad() ? "reading the file failed"
                              : "the gzip data is cut off here; fetch or write the file again");
    }
    inflater_.next_out = reinterpret_cast<Bytef*>(text_.data());
    inflater_.avail_out = static_cast<uInt>(text_.size());
    const int result = inflate(&inflater_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return Fail(fmt::format("the gzip data is damaged ({}); fetch or write the file again",
                              inflater_.msg != nullptr ? inflater_.msg : "zlib gives no detail"));
    }
    if (result == Z_STREAM_END) in_member_ = false;
    const std::size_t count = text_.size() - inflater_.avail_out;
    if (count == 0) continue;  // in a header, or in a member of nothing
    made_ += count;
    if (made_ > limit_) {
      return Fail(
          fmt::format("the decompressed data is larger than {} MiB and would be read as a whole; to allow that, "
                      "decompress it with gunzip and import the result",
                      limit_ >> 20));
    }
    if (IsBomb()) {
      return Fail(
          fmt::format("the decompressed data is over {} times the size of the file; to allow that, decompress it with "
                      "gunzip and import the result",
                      kMaxExpansion));
    }
    setg(text_.data(), text_.data(), text_.data() + count);
    return traits_type::to_int_type(*gptr());
  }
  return traits_type::eof();
}

void GzipBuffer::Rewind() {
  file_.clear();
  file_.seekg(0);
  inflateReset(&inflater_);
  inflater_.avail_in = 0;
  read_ = made_ = 0;
  in_member_ = true;
  ended_ = false;
  setg(nullptr, nullptr, nullptr);
}

GzipBuffer::pos_type GzipBuffer::seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) {
  const auto here = static_cast<off_type>(made_) - (egptr() - gptr());
  if (from == std::ios_base::end) return pos_type(off_type(-1));
  const off_type wanted = from == std::ios_base::cur ? here + offset : offset;
  if (wanted == here) return pos_type(here);
  if (wanted != 0) return pos_type(off_type(-1));
  Rewind();
  return file_.good() ? pos_type(off_type(0)) : pos_type(off_type(-1));
}

GzipBuffer::pos_type GzipBuffer::seekpos(pos_type position, std::ios_base::openmode which) {
  return seekoff(off_type(position), std::ios_base::beg, which);
}

Result<std::ifstream> OpenFile(const std::filesystem::path& path) { return OpenFile(path, path.string()); }

Result<std::ifstream> OpenFile(const std::filesystem::path& path, std::string_view origin) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return Error{fmt::format("{}: a folder; name the files in it", origin)};
  // Opening a pipe waits for its writer, and of none of these can a part be read twice.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return Error{fmt::format("{}: a pipe or a device; write its output into a file and name that file", origin)};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{fmt::format("{}: cannot be read: {}", origin, errno != 0 ? std::strerror(errno) : "unknown cause")};
  }
  return file;
}

std::optional<Error> DamageOf(std::istream& text) {
  const auto* const unpacked = dynamic_cast<GzipStream*>(&text);
  return unpacked != nullptr ? unpacked->error() : std::nullopt;
}

void LimitUnpacked(std::istream& text, std::uint64_t bytes) {
  if (auto* const unpacked = dynamic_cast<GzipStream*>(&text)) unpacked->LimitTo(bytes);
}

}  // namespace infimum::ingest
