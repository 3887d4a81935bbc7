// The measurements of 2019 as the tests find them: archives beside the checkout, in shared/data/benanza, with a list of
// what is in them; and a count of their entries that knows nothing of the reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace infimum::testing {

// May be absent: the data is no part of the checkout.
std::filesystem::path BenanzaFolder();

// With the system's tar and xz; false where that fails.
bool Unpack(const std::filesystem::path& archive, const std::filesystem::path& folder);

// A file NAME.xz as NAME in `folder`; an empty path where that fails.
std::filesystem::path Decompress(const std::filesystem::path& file, const std::filesystem::path& folder);

struct ManifestFile {
  std::uintmax_t bytes = 0;
  std::string sha256;
};
// Of the archives in raw/, by "ARCHIVE/PATH", such as "mobilenetv2_float32/results/mobilenetv2/Tesla_T4/1.json". Empty
// where MANIFEST.csv.xz cannot be read, for which it is unpacked into `folder`.
std::map<std::string, ManifestFile> ReadManifest(const std::filesystem::path& folder);

// By a search for what Google Benchmark wrote, in the text of a file that may be compressed.
struct RawEntries {
  std::int64_t all = 0;
  std::int64_t failed = 0;
  std::int64_t profiled = 0;
  std::int64_t ran = 0;           // the rest
  std::int64_t ran_training = 0;  // of those: batch normalisation with statistics, and dropout
  std::int64_t failed_training = 0;

  RawEntries& operator+=(const RawEntries& other);
};
RawEntries CountEntries(const std::filesystem::path& file);

}  // namespace infimum::testing
