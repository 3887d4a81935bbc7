// The results of a campaign as text: an append-only journal (`.jsonl`), one JSON object a line, and
// Google Benchmark JSON made from it, so that Google Benchmark's own tools (compare.py) read it.
//
//   {"schema":"infimum.results/1","kind":"header","device":{...},"environment":{...},"backend":"onednn"}
//   {"kind":"measurement","workload":"convolution ...","candidate":{...},"outcome":"measured","repetitions":[...]}
//   {"kind":"peak","rate":{...}}
//   {"kind":"end","rows":812}
//
// Rows refer to the latest header before them. A torn last line (the writer was killed) is ignored.
// Appending to a journal that exists continues it.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "infimum/measurement/measurement.h"

namespace infimum {

inline constexpr int kResultsVersion = 1;

struct ResultsHeader {
  Device device;
  Environment environment;
  std::string backend;

  friend bool operator==(const ResultsHeader&, const ResultsHeader&) = default;
};

// The journal's records, in file order. Measurement::device and ::environment are filled from the header.
using ResultsRecord = std::variant<ResultsHeader, Measurement, PeakRate>;

// One record as one line of JSON, without the line's end.
std::string FormatRecord(const ResultsRecord& record);

// Reads records one at a time and hands them to `take`; memory stays bounded by one line. `origin` is
// named in errors ("results.jsonl:17: ..."). Stops with the first error, of the text or of `take`.
Status ReadJournal(std::istream& input, std::string_view origin,
                   const std::function<Status(ResultsRecord)>& take);

// The same rows as Google Benchmark JSON: one entry a repetition (run_type "iteration"), the workload and
// candidate in `name`, `label` the workload, error_occurred / error_message for what was not measured.
std::string FormatGoogleBenchmark(const std::vector<ResultsRecord>& records);

}  // namespace infimum
