// The results of a campaign as text: an append-only journal (`.jsonl`), one JSON object a line, and
// Google Benchmark JSON made from it, so that Google Benchmark's own tools (compare.py) read it.
//
//   {"schema":"infimum.results/2","kind":"header","device":{...},"environment":{...},"backend":"onednn"}
//   {"kind":"measurement","workload":"convolution ...","candidate":{...},"outcome":"measured","repetitions":[...]}
//   {"kind":"peak","rate":{...}}
//   {"kind":"end","rows":812}
//
// The fields are listed in src/core/results/README.md. Version 1 is read as well. Rows refer to the latest header
// before them. A torn last line (the writer was killed) is ignored. Appending to a journal that exists continues it. A
// row that got more repetitions may be written again, with all of them; readers hand on every row.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "infimum/measurement/campaign_origin.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

inline constexpr int kResultsVersion = 2;

struct ResultsHeader {
  Device device;
  Environment environment;
  std::string backend;
  // Where the rows came from, where they were exported from a store; absent in what a runner writes.
  std::optional<CampaignOrigin> campaign = std::nullopt;

  friend bool operator==(const ResultsHeader&, const ResultsHeader&) = default;
};

// The journal's records, in file order. Measurement::device, ::environment and ::evidence are filled from the header.
using ResultsRecord = std::variant<ResultsHeader, Measurement, PeakRate>;

// One record as one line of JSON, without the line's end. Text that is not UTF-8 is replaced; a
// numeric_error that is not finite becomes the largest number. Workloads are written unchanged.
std::string FormatRecord(const ResultsRecord& record);

// The record that ends a finished campaign. It informs a person who looks at the file; readers pass over it.
std::string FormatEnd(std::int64_t rows);

// A line longer than this is an error, so that no file can fill the memory.
inline constexpr std::size_t kMaxJournalLine = std::size_t{16} << 20;

// Reads records one at a time and hands them to `take`; memory stays bounded by one line. `origin` is
// named in errors ("results.jsonl:17: ..."). Stops with the first error, of the text or of `take`.
// Workloads are parsed and come back in their canonical text. A journal of a newer version is refused.
Status ReadJournal(std::istream& input, std::string_view origin, const std::function<Status(ResultsRecord)>& take);

// The same rows as Google Benchmark JSON: one entry a repetition (run_type "iteration"), the workload and
// candidate in `name`, `label` the workload, error_occurred / error_message for what was not measured.
// `context.infimum` and each entry's `infimum` hold what Google Benchmark has no field for, so that
// ReadGoogleBenchmark gives the same records back. Times are medians; cpu_time repeats real_time.
std::string FormatGoogleBenchmark(const std::vector<ResultsRecord>& records);

// Refused beyond this: the whole document must be in memory. Journals have no limit.
inline constexpr std::size_t kMaxGoogleBenchmarkSize = std::size_t{256} << 20;

// Reads what FormatGoogleBenchmark wrote; Google Benchmark JSON of other programs is an error.
Status ReadGoogleBenchmark(std::istream& input, std::string_view origin,
                           const std::function<Status(ResultsRecord)>& take);

}  // namespace infimum
