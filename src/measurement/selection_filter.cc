#include "infimum/measurement/selection_filter.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace infimum {
namespace {

// The native contract of each workload text, parsed once a text.
class NativeContracts {
 public:
  std::optional<NumericContract> Of(const WorkloadKey& key) {
    const auto known = contracts_.find(key);
    if (known != contracts_.end()) return known->second;
    std::optional<NumericContract> contract;
    if (const Result<Workload> workload = ParseWorkload(key.text); workload.ok()) contract = NativeContract(*workload);
    contracts_.emplace(key, contract);
    return contract;
  }

 private:
  std::map<WorkloadKey, std::optional<NumericContract>> contracts_;
};

// How much an environment knows of a library's rows.
struct Standing {
  std::set<std::string_view> tried;  // workloads
  std::string_view newest;           // UTC times of one format compare as text
};

// For each library the environment that its rows are taken from.
std::map<std::string_view, EnvironmentKey> ChooseEnvironments(std::span<const Measurement> rows,
                                                              std::span<const std::size_t> places) {
  std::map<std::string_view, std::map<EnvironmentKey, Standing>> standings;
  for (const std::size_t place : places) {
    const Measurement& row = rows[place];
    Standing& standing = standings[row.candidate.library][row.environment];
    if (row.outcome != Outcome::kSkipped) standing.tried.insert(row.workload.text);
    standing.newest = std::max(standing.newest, std::string_view(row.measured_at));
  }
  std::map<std::string_view, EnvironmentKey> chosen;
  for (const auto& [library, environments] : standings) {
    const auto rank = [](const auto& entry) {
      return std::tuple(entry.second.tried.size(), entry.second.newest, std::string_view(entry.first.text));
    };
    chosen[library] = std::max_element(environments.begin(), environments.end(), [&](const auto& a, const auto& b) {
                        return rank(a) < rank(b);
                      })->first;
  }
  return chosen;
}

}  // namespace

std::vector<std::size_t> AdmittedPlaces(std::span<const Measurement> rows,
                                        const std::map<EnvironmentKey, Environment>& environments,
                                        const Selection& selection) {
  NativeContracts native;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Measurement& row = rows[i];
    if (row.device != selection.device || row.cache != selection.cache) continue;
    if (selection.environment && row.environment != *selection.environment) continue;
    const auto environment = environments.find(row.environment);
    if (environment == environments.end() || environment->second.threads != selection.threads) continue;
    const std::optional<NumericContract> contract = selection.contract ? selection.contract : native.Of(row.workload);
    if (contract && row.contract == *contract) places.push_back(i);
  }
  if (selection.environment) return places;
  const auto chosen = ChooseEnvironments(rows, places);
  std::erase_if(places,
                [&](std::size_t place) { return chosen.at(rows[place].candidate.library) != rows[place].environment; });
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

}  // namespace infimum
