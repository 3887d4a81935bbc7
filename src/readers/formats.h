// The formats of files that are read, one row of a table each: how one is recognized by its content, never by its name,
// and what reads it. To add one: its reader in a folder of its own and a row in formats.cc.
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <variant>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"
#include "src/readers/benchmarks/results_taker.h"
#include "src/readers/files/input_file.h"

namespace infimum {

using Profile = std::variant<RunProfile, Timeline>;

struct FileFormat {
  std::string_view name;  // "trace of PyTorch's profiler"
  // For a profile, what writes one: for the error that lists the formats.
  std::string_view made_by = {};
  // What reads it as a profile; a database is read from its file. Files of an engine, which are read together,
  // have neither.
  Result<Profile> (*read_profile)(std::istream& input, std::string_view origin) = nullptr;
  Result<Profile> (*read_database)(const std::filesystem::path& path) = nullptr;
  bool is_part_of_engine = false;
  // What reads it as measurements, and whether its rows are a campaign of their own.
  Status (*read_results)(std::istream& input, std::string_view origin, const ResultsTaker& taker) = nullptr;
  bool is_campaign = false;
  // What to do with a file that neither reads, or that only a profile's reader does.
  std::string_view advice = {};
};

// By the first 64 KiB behind blanks and a byte order mark, and by the last; the stream is put back to its start. A
// stream that cannot seek to its end is read, and so is a document whose first keys decide nothing. A SQLite database
// that is no store of infimum may be an export of Nsight Systems: its reader decides.
const FileFormat& DetectFormat(std::istream& input);

// "a trace of PyTorch's profiler (export_chrome_trace), ... or a run that infimum measure -o wrote"
std::string KnownProfiles();

// Gives the text in a file, which may be compressed, and its format to `use`.
template <class Use>
auto WithFormatOf(std::istream& file, std::string_view origin, const Use& use)
    -> decltype(use(DetectFormat(file), file)) {
  return ingest::WithTextOf(file, origin, [&](std::istream& text) -> decltype(use(DetectFormat(file), file)) {
    const FileFormat& format = DetectFormat(text);
    if (const std::optional<Error> damage = ingest::DamageOf(text)) return *damage;
    return use(format, text);
  });
}

}  // namespace infimum
