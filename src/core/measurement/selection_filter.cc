#include "src/core/measurement/selection_filter.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace infimum {
namespace {

// Which rows of a workload a selection takes. Nothing of a text that is not valid, where it depends on the text.
class WantedRows {
 public:
  explicit WantedRows(const Selection& selection) : selection_(selection) {}

  bool Take(const Measurement& row) {
    const std::optional<Wanted> wanted = Of(row.workload);
    if (!wanted || row.contract != wanted->contract) return false;
    return wanted->cache ? row.cache == *wanted->cache : row.cache != CacheState::kCold;
  }

 private:
  struct Wanted {
    NumericContract contract;
    std::optional<CacheState> cache;
  };

  std::optional<Wanted> Of(const WorkloadKey& key) {
    if (selection_.contract && selection_.cache != CacheState::kColdWeights)
      return Wanted{*selection_.contract, selection_.cache};
    const auto [known, is_new] = wanted_.try_emplace(key);  // parsed once a text
    if (is_new) {
      if (const Result<Workload> workload = ParseWorkload(key.text); workload.ok()) {
        known->second = {selection_.contract ? *selection_.contract : NativeContract(*workload), selection_.cache};
        if (selection_.cache) known->second->cache = StateOfRows(*selection_.cache, *workload);
      }
    }
    return known->second;
  }

  const Selection& selection_;
  std::map<WorkloadKey, std::optional<Wanted>> wanted_;
};

// How much an environment knows of a library's rows.
struct Standing {
  std::set<std::string_view> tried;  // workloads
  std::string_view newest;           // UTC times of one format compare as text
};

// What frameworks ran is each one's own.
std::string_view LibraryOf(const Candidate& candidate) {
  return candidate.is_observed() ? candidate.algorithm : candidate.library;
}

// For each library the environment that its rows are taken from.
std::map<std::string_view, EnvironmentKey> ChooseEnvironments(std::span<const Measurement> rows,
                                                              std::span<const std::size_t> places) {
  std::map<std::string_view, std::map<EnvironmentKey, Standing>> standings;
  for (const std::size_t place : places) {
    const Measurement& row = rows[place];
    Standing& standing = standings[LibraryOf(row.candidate)][row.environment];
    if (row.outcome != Outcome::kSkipped) standing.tried.insert(row.workload.text);
    standing.newest = std::max(standing.newest, std::string_view(row.measured_at));
  }
  std::map<std::string_view, EnvironmentKey> chosen;
  for (const auto& [library, environments] : standings) {
    const auto rank = [](const auto& entry) {
      return std::tuple(entry.second.tried.size(), entry.second.newest, std::string_view(entry.first.text));
    };
    chosen[library] =
        std::ranges::max_element(environments, [&](const auto& a, const auto& b) { return rank(a) < rank(b); })->first;
  }
  return chosen;
}

}  // namespace

std::vector<std::size_t> AdmittedPlaces(std::span<const Measurement> rows,
                                        const std::map<EnvironmentKey, Environment>& environments,
                                        const Selection& selection) {
  WantedRows wanted_rows(selection);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Measurement& row = rows[i];
    if (row.device != selection.device) continue;
    if (selection.environment && row.environment != *selection.environment) continue;
    const auto environment = environments.find(row.environment);
    if (environment == environments.end() || environment->second.threads != selection.threads) continue;
    if (wanted_rows.Take(row)) places.push_back(i);
  }
  if (selection.environment) return places;
  const auto chosen = ChooseEnvironments(rows, places);
  std::erase_if(places, [&](std::size_t place) {
    return chosen.at(LibraryOf(rows[place].candidate)) != rows[place].environment;
  });
  return places;
}

std::vector<Measurement> Admitted(std::vector<Measurement> rows,
                                  const std::map<EnvironmentKey, Environment>& environments,
                                  const Selection& selection) {
  std::vector<Measurement> admitted;
  for (const std::size_t place : AdmittedPlaces(rows, environments, selection))
    admitted.push_back(std::move(rows[place]));
  return admitted;
}

void MemorySource::Add(Measurement measurement, const Environment& environment) {
  measurement.environment = environment.Key();
  measurement.evidence = environment.Told();
  environments_.emplace(measurement.environment, environment);
  std::vector<Measurement>& rows = rows_[measurement.workload];
  // Adding the same row again adds nothing, as in a store.
  if (std::ranges::find(rows, measurement) == rows.end()) rows.push_back(std::move(measurement));
}

void MemorySource::SetPeaks(const DeviceKey& device, DevicePeaks peaks) { peaks_[device] = std::move(peaks); }

Result<std::vector<Measurement>> MemorySource::Find(std::span<const WorkloadKey> workloads,
                                                    const Selection& selection) {
  std::vector<const WorkloadKey*> asked;
  for (const WorkloadKey& workload : workloads) asked.push_back(&workload);
  const auto key_of = [](const WorkloadKey* key) -> const WorkloadKey& { return *key; };
  if (!std::ranges::is_sorted(asked, {}, key_of)) std::ranges::sort(asked, {}, key_of);
  // Not std::ranges::unique: Clang 14, which builds the fuzzers, does not compile libstdc++'s.
  const auto is_same = [](const WorkloadKey* a, const WorkloadKey* b) { return *a == *b; };
  asked.erase(std::unique(asked.begin(), asked.end(), is_same), asked.end());
  // What ran on another number of threads is left out before it is copied: a bound asks for each number by itself.
  std::set<std::string_view> fitting;
  for (const auto& [key, environment] : environments_)
    if (environment.threads == selection.threads) fitting.insert(key.text);
  std::vector<Measurement> found;
  for (const WorkloadKey* workload : asked) {
    const auto rows = rows_.find(*workload);
    if (rows == rows_.end()) continue;
    std::ranges::copy_if(rows->second, std::back_inserter(found),
                         [&](const Measurement& row) { return fitting.contains(row.environment.text); });
  }
  return Admitted(std::move(found), environments_, selection);
}

Result<DevicePeaks> MemorySource::Peaks(const DeviceKey& device) {
  const auto peaks = peaks_.find(device);
  return peaks == peaks_.end() ? DevicePeaks{} : peaks->second;
}

}  // namespace infimum
