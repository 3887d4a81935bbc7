#include "infimum/measurement/selection_filter.h"

#include <algorithm>
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

}  // namespace

std::vector<Measurement> Admitted(std::vector<Measurement> rows,
                                  const std::map<EnvironmentKey, Environment>& environments,
                                  const Selection& selection) {
  NativeContracts native;
  std::erase_if(rows, [&](const Measurement& row) {
    if (row.device != selection.device || row.cache != selection.cache) return true;
    if (selection.environment && row.environment != *selection.environment) return true;
    const auto environment = environments.find(row.environment);
    if (environment == environments.end() || environment->second.threads != selection.threads) return true;
    const std::optional<NumericContract> contract = selection.contract ? selection.contract : native.Of(row.workload);
    return !contract || row.contract != *contract;
  });
  if (selection.environment) return rows;

  // UTC times of one format compare as text.
  std::map<std::string, std::pair<std::string, EnvironmentKey>> newest;  // by library
  for (const Measurement& row : rows) {
    std::pair<std::string, EnvironmentKey> age{row.measured_at, row.environment};
    auto [entry, inserted] = newest.try_emplace(row.candidate.library, age);
    if (!inserted && entry->second < age) entry->second = std::move(age);
  }
  std::erase_if(rows,
                [&](const Measurement& row) { return newest.at(row.candidate.library).second != row.environment; });
  return rows;
}

}  // namespace infimum
