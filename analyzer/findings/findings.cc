#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/alignment/engine_work.h"
#include "analyzer/findings/rules.h"

namespace infimum {
namespace {

std::vector<Finding> ListOf(std::optional<Finding> finding) {
  std::vector<Finding> list;
  if (finding) list.push_back(*std::move(finding));
  return list;
}
std::vector<Finding> ListOf(std::vector<Finding> findings) { return findings; }

// All rules of one kind.
template <class Find, class... Facts>
void FindAll(std::vector<Finding>& found, Facts&&... facts) {
  for (const findings::Rule& rule : findings::kRules) {
    const auto* find = std::get_if<Find>(&rule.find);
    if (find == nullptr) continue;
    for (Finding& finding : ListOf((*find)(facts...))) {
      if (finding.known != Known::kObserved) finding.known = rule.known;
      found.push_back(std::move(finding));
    }
  }
}

}  // namespace

std::string_view Name(Known known) {
  constexpr std::array<std::string_view, 3> kNames = {"observed", "bounded", "guessed"};
  return kNames[static_cast<std::size_t>(known)];
}

void RankFindings(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return a.known != b.known ? a.known < b.known : a.gain > b.gain;
  });
}

std::vector<Finding> FindingsOf(const TimelineFacts& facts) {
  std::vector<Finding> found;
  FindAll<findings::FindInTimeline>(found, facts);
  RankFindings(found);
  return found;
}

std::vector<Finding> FindingsOf(const RunProfile& run) {
  // Without the model an Identity of its own and a copy of the engine's look the same.
  std::vector<std::size_t> added;
  for (std::size_t i = 0; i < run.layers.size(); ++i)
    if (const EngineWork work = OwnWorkOf(run.layers[i]);
        work == EngineWork::kLayoutChange || work == EngineWork::kTypeChange)
      added.push_back(i);
  findings::LayerClaims claims(run.layers.size());
  std::vector<Finding> found;
  FindAll<findings::FindInLayers>(found, findings::EngineFacts{run, added}, claims);
  RankFindings(found);
  return found;
}

std::vector<Finding> FindingsOf(const RunFacts& facts) {
  findings::LayerClaims claims(facts.run.layers.size());
  std::vector<Finding> found;
  FindAll<findings::ClaimInRun>(found, facts, claims);
  std::vector<std::size_t> added;
  for (const ComparedRow& row : facts.waterfall.rows)
    if (row.is_own()) added.insert(added.end(), row.engine_layers.begin(), row.engine_layers.end());
  FindAll<findings::FindInLayers>(found, findings::EngineFacts{facts.run, added}, claims);
  FindAll<findings::FindInRun>(found, facts, claims);
  RankFindings(found);
  return found;
}

std::vector<AbsentCause> AbsentCauses(const std::vector<Finding>& findings, const Waterfall& waterfall,
                                      const RunConditions& conditions) {
  const auto is_found = [&findings](std::string_view kind) {
    return std::ranges::find(findings, kind, &Finding::kind) != findings.end();
  };
  std::vector<AbsentCause> absent;
  for (const findings::Rule& rule : findings::kRules) {
    if (rule.looks_for.empty() || !rule.applies(conditions)) continue;
    if (is_found(rule.kind) || std::ranges::any_of(rule.same_cause, is_found)) continue;
    if (rule.step && std::abs(waterfall.Of(*rule.step).count()) >= findings::kLeastShare * waterfall.measured.count())
      continue;
    absent.push_back({rule.kind, rule.looks_for});
  }
  return absent;
}

}  // namespace infimum
