#include <algorithm>
#include <utility>

#include "analyzer/findings/rules.h"

namespace infimum {
namespace findings {

std::vector<std::string> Largest(const std::vector<std::pair<std::string, std::int64_t>>& totals, std::size_t count) {
  std::vector<std::pair<std::string, std::int64_t>> sorted = totals;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i) names.push_back(sorted[i].first);
  return names;
}

bool WaitsForDevice(std::string_view runtime_call) {
  if (runtime_call.find("Synchronize") != std::string_view::npos) return true;
  const bool copies = runtime_call.find("Memcpy") != std::string_view::npos;
  return copies && runtime_call.find("Async") == std::string_view::npos;
}

}  // namespace findings

std::vector<Finding> FindingsOf(const TimelineFacts& facts) {
  std::vector<Finding> found;
  for (const auto rule :
       {findings::HostBound, findings::InputBound, findings::HostSynchronization, findings::ExposedCopies})
    if (std::optional<Finding> finding = rule(facts)) found.push_back(*std::move(finding));
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) { return a.gain > b.gain; });
  return found;
}

}  // namespace infimum
