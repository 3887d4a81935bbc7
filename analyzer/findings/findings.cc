#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyzer/alignment/engine_work.h"
#include "analyzer/findings/rules.h"

namespace infimum {
namespace {

void Append(std::optional<Finding> finding, std::vector<Finding>& found) {
  if (finding) found.push_back(*std::move(finding));
}

std::vector<Finding> LargestFirst(std::vector<Finding> found) {
  std::ranges::stable_sort(found, std::ranges::greater(), &Finding::gain);
  return found;
}

void FindInEngineLayers(const RunProfile& run, const std::vector<std::size_t>& added, findings::LayerClaims& claims,
                        std::vector<Finding>& found) {
  for (const findings::Rule& rule : findings::kRules)
    if (const auto* find = std::get_if<findings::FindInLayers>(&rule.find))
      Append((*find)({run, added}, claims), found);
}

}  // namespace

std::vector<Finding> FindingsOf(const TimelineFacts& facts) {
  std::vector<Finding> found;
  for (const findings::Rule& rule : findings::kRules)
    if (const auto* find = std::get_if<findings::FindInTimeline>(&rule.find)) Append((*find)(facts), found);
  return LargestFirst(std::move(found));
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
  FindInEngineLayers(run, added, claims, found);
  return LargestFirst(std::move(found));
}

std::vector<Finding> FindingsOf(const RunFacts& facts) {
  findings::LayerClaims claims(facts.run.layers.size());
  std::vector<Finding> found;
  for (const findings::Rule& rule : findings::kRules)
    if (const auto* find = std::get_if<findings::ClaimInRun>(&rule.find)) Append((*find)(facts, claims), found);
  std::vector<std::size_t> added;
  for (const ComparedRow& row : facts.waterfall.rows)
    if (row.is_own()) added.insert(added.end(), row.engine_layers.begin(), row.engine_layers.end());
  FindInEngineLayers(facts.run, added, claims, found);
  for (const findings::Rule& rule : findings::kRules)
    if (const auto* find = std::get_if<findings::FindInRun>(&rule.find))
      std::ranges::move((*find)(facts, claims), std::back_inserter(found));
  return LargestFirst(std::move(found));
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
