// Files of measurements: a runner's results journal, the Google Benchmark JSON made from one or written by another
// program (benchmarks/scope_benchmarks.h), or a framework's run (infimum.run/1), each also compressed with gzip. A
// file's content decides which of them it is, not its name.
//
//   Result<ImportCount> count = ImportFile("results.jsonl", *store);   // any store, see below
//
// Rows are handed on in batches, so that memory stays bounded. A store takes a file as a whole or not at all, and one
// that it has already without adding a row.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/campaign_origin.h"
#include "infimum/measurement/measurement.h"
#include "src/readers/benchmarks/results_taker.h"

namespace infimum {

// `origin` is named in errors ("results.jsonl:17: ...").
Status ReadResults(std::istream& input, std::string_view origin, const ResultsTaker& taker);
Status ReadResultsFile(const std::filesystem::path& path, const ResultsTaker& taker);

// The key that distinguishes campaigns in a store: a file of another program is a campaign of its own, known by its
// content (the same whether compressed or not); "" for what our runners and scripts write, whose rows name theirs.
Result<std::string> CampaignKeyOf(const std::filesystem::path& path);

// One file into a store (infimum/db/store.h, which this folder does not know), in one transaction: all of it or, on an
// error, nothing. `remark` gets what a person should know of what was read, `progress` how many more rows were.
template <class Store>
auto ImportFile(const std::filesystem::path& path, Store& store, std::function<void(const std::string&)> remark = {},
                const std::function<void(std::size_t)>& progress = {}) -> decltype(store.ImportRun(RunProfile())) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string key, CampaignKeyOf(path));
  const CampaignOrigin own{key, path.filename().string()};
  INFIMUM_ASSIGN_OR_RETURN(const auto import, store.BeginImport(own));
  ResultsTaker taker;
  taker.campaign = [&](const std::optional<CampaignOrigin>& campaign) { import->SwitchTo(campaign.value_or(own)); };
  taker.rows = [&](const Device& device, const Environment& environment, std::span<const Measurement> rows,
                   std::span<const PeakRate> peaks) {
    if (progress) progress(rows.size());
    return import->Add(device, environment, rows, peaks);
  };
  taker.run = [&](const RunProfile& run) { return import->AddRun(run); };
  taker.remark = std::move(remark);
  INFIMUM_RETURN_IF_ERROR(ReadResultsFile(path, taker));
  return import->Commit();
}

}  // namespace infimum
