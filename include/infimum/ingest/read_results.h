// Files of measurements: a runner's results journal, the Google Benchmark JSON made from one, or a framework's run
// (infimum.run/1). Which of them a file is, its content says, not its name.
//
//   Result<ImportCount> count = ImportFile("results.jsonl", *store);   // any store, see below
//
// A journal is handed on in batches, so that memory stays bounded and an error half-way keeps what came before it;
// since a store takes rows idempotently, reading the file again adds only the rest.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string_view>
#include <type_traits>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

// Where what is read goes. The first error ends the reading and is returned.
struct ResultsTaker {
  std::function<Status(const Device& device, const Environment& environment, std::span<const Measurement> rows,
                       std::span<const PeakRate> peaks)>
      rows;
  std::function<Status(const RunProfile& run)> run;
};

// Rows of a batch share device and environment; the batch of a header without rows is handed on too.
inline constexpr std::size_t kRowsOfABatch = 500;

// `origin` is named in errors ("results.jsonl:17: ...").
Status ReadResults(std::istream& input, std::string_view origin, const ResultsTaker& taker);
Status ReadResultsFile(const std::filesystem::path& path, const ResultsTaker& taker);

// Into anything that has the Import() and ImportRun() of a Store (infimum/db/store.h, which this folder does not
// know): the sum of what they returned.
template <class Store>
auto ImportFile(const std::filesystem::path& path, Store& store) -> decltype(store.ImportRun(RunProfile())) {
  std::remove_cvref_t<decltype(store.ImportRun(RunProfile()).value())> total;
  const auto add = [&total](const auto& count) -> Status {
    if (!count.ok()) return count.error();
    total += *count;
    return {};
  };
  ResultsTaker taker;
  taker.rows = [&](const Device& device, const Environment& environment, std::span<const Measurement> rows,
                   std::span<const PeakRate> peaks) { return add(store.Import(device, environment, rows, peaks)); };
  taker.run = [&](const RunProfile& run) { return add(store.ImportRun(run)); };
  INFIMUM_RETURN_IF_ERROR(ReadResultsFile(path, taker));
  return total;
}

}  // namespace infimum
