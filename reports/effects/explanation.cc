#include "reports/effects/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "infimum/base/utf8.h"
#include "reports/text/csv.h"
#include "reports/text/fact_text.h"
#include "reports/text/json_values.h"
#include "reports/text/section.h"

namespace infimum {

void to_json(OrderedJson& json, const EstimatedDifference& difference) {
  json = {{"latency_us", difference.value},
          {"interval_us", {difference.low(), difference.high()}},
          {"simultaneous_half_width_us", difference.simultaneous},
          {"is_real", difference.is_real()}};
}

namespace {

// "380 µs to 424 µs"
std::string Between(const EstimatedDifference& difference) {
  return SignedLatencyText(difference.low()) + " to " + SignedLatencyText(difference.high());
}

std::string WithBounds(const EstimatedDifference& difference) {
  return SignedLatencyText(difference.value) + " (" + Between(difference) + ")";
}

std::vector<std::size_t> BySize(const std::vector<EstimatedDifference>& differences) {
  std::vector<std::size_t> order(differences.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return std::fabs(differences[i].value.count()); });
  return order;
}

std::string Precision(const Effects& effects) {
  Latency widest{0};
  for (const EstimatedDifference& effect : effects.effects) widest = std::max(widest, effect.half_width);
  return fmt::format(
      "{} inferences; one deviates by {} ({}) from the model; widest half interval of an effect {} ({} of the whole), "
      "1.96 x 2 sigma / sqrt(N) = {}",
      effects.inferences, FormatLatency(effects.deviation), PercentText(effects.deviation / effects.none),
      FormatLatency(widest), PercentText(widest / effects.none), FormatLatency(effects.ideal_half_width()));
}

std::vector<std::string> Remarks(const Explanation& explanation) {
  const Effects& effects = explanation.effects;
  std::vector<std::string> remarks = {Precision(effects)};
  if (effects.disturbed > 0) {
    remarks.push_back(CountText(effects.disturbed, "inference") + " far from all others left out as disturbed");
  }
  if (!effects.adds_up()) {
    remarks.push_back("the effects do not add up to the difference of the ends: " + WithBounds(effects.unexplained) +
                      " is left, of factors that interact and are no neighbours, or of three");
  }
  if (effects.lack_of_fit) {
    remarks.push_back(
        fmt::format("lack of fit: settings vary {:.2f} times as much as the ends do between blocks (as variances), "
                    "more than chance "
                    "would make; factors that are no neighbours interact, and intervals contain that",
                    *effects.lack_of_fit));
  }
  if (effects.interactions.empty() && effects.effects.size() > 1) {
    remarks.push_back("too few inferences for the interactions of neighbours: raise --budget");
  }
  remarks.insert(remarks.end(), explanation.notes.begin(), explanation.notes.end());
  return remarks;
}

}  // namespace

std::string_view Name(FactorKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"kernel", "fusion", "switch"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string ProgramLike(std::string_view framework, std::string_view version) {
  return fmt::format("fused and timed like {} {}", framework, version);
}

std::string ExplanationText(const Explanation& explanation, std::size_t width) {
  const Effects& effects = explanation.effects;
  std::string text = fmt::format("{} on {}\n\n", Printable(explanation.model), Printable(explanation.device));
  Section ends{.columns = {"", NumberColumn("time"), NameColumn("")}};
  ends.rows = {{"level 0", FormatLatency(effects.none), explanation.level0},
               {"level 1", FormatLatency(effects.all), explanation.level1},
               {"difference", SignedLatencyText(effects.difference.value), "timed, " + Between(effects.difference)},
               {"sum of effects", SignedLatencyText(effects.sum.value), Between(effects.sum)},
               {"left", SignedLatencyText(effects.unexplained.value),
                Between(effects.unexplained) + (effects.adds_up() ? "" : ": not nothing")}};
  text += SectionTable(ends, width, 2) + "\n";
  Section section{.columns = {NameColumn("factor"), "kind", NumberColumn("effect"), "95 %", "real",
                              NameColumn("from level 0 to 1")}};
  for (const std::size_t i : BySize(effects.effects)) {
    const ExplainedFactor& factor = explanation.factors[i];
    const EstimatedDifference& effect = effects.effects[i];
    section.rows.push_back({factor.name, std::string(Name(factor.kind)), SignedLatencyText(effect.value),
                            Between(effect), effect.is_real() ? "yes" : "no", factor.level0 + " -> " + factor.level1});
  }
  text += SectionTable(section, width, 2);
  Section pairs{.columns = {NameColumn("neighbours that interact"), NumberColumn("beyond both alone"), "95 %"}};
  for (const std::size_t i : BySize(effects.interactions)) {
    if (!effects.interactions[i].is_real()) continue;
    pairs.rows.push_back({explanation.factors[i].name + ", " + explanation.factors[i + 1].name,
                          SignedLatencyText(effects.interactions[i].value), Between(effects.interactions[i])});
  }
  if (!pairs.rows.empty()) text += "\n" + SectionTable(pairs, width, 2);
  text += "\n";
  for (const std::string& remark : Remarks(explanation)) text += "  " + Printable(remark) + "\n";
  return text;
}

std::string ExplanationCsv(const Explanation& explanation) {
  const std::vector<std::string> titles = {
      "factor", "kind", "level0", "level1", "layers", "effect_us", "low_us", "high_us", "simultaneous_half_width_us",
      "is_real"};
  Section section;
  for (const std::string& title : titles) section.columns.emplace_back(title);
  for (std::size_t i = 0; i < explanation.factors.size(); ++i) {
    const ExplainedFactor& factor = explanation.factors[i];
    const EstimatedDifference& effect = explanation.effects.effects[i];
    section.rows.push_back({factor.name, std::string(Name(factor.kind)), factor.level0, factor.level1,
                            Join(factor.layers, " "), CsvTime(effect.value), CsvTime(effect.low()),
                            CsvTime(effect.high()), CsvTime(effect.simultaneous), effect.is_real() ? "1" : "0"});
  }
  return SectionCsv(section);
}

std::string ExplanationJson(const Explanation& explanation) {
  const Effects& effects = explanation.effects;
  OrderedJson factors = OrderedJson::array();
  for (std::size_t i = 0; i < explanation.factors.size(); ++i) {
    const ExplainedFactor& factor = explanation.factors[i];
    OrderedJson json = {{"name", factor.name},     {"kind", std::string(Name(factor.kind))},
                        {"level0", factor.level0}, {"level1", factor.level1},
                        {"layers", factor.layers}, {"effect", effects.effects[i]}};
    const bool has_pair = i < effects.interactions.size();
    json["with_next"] = has_pair ? OrderedJson(effects.interactions[i]) : OrderedJson(nullptr);
    factors.push_back(std::move(json));
  }
  OrderedJson json = {{"schema", "infimum.explain/1"},
                      {"model", explanation.model},
                      {"device", explanation.device},
                      {"level0", {{"program", explanation.level0}, {"latency_us", effects.none}}},
                      {"level1", {{"program", explanation.level1}, {"latency_us", effects.all}}},
                      {"difference", effects.difference},
                      {"sum", effects.sum},
                      {"unexplained", effects.unexplained},
                      {"adds_up", effects.adds_up()},
                      {"lack_of_fit", effects.lack_of_fit ? OrderedJson(*effects.lack_of_fit) : OrderedJson(nullptr)},
                      {"inferences", effects.inferences},
                      {"disturbed", effects.disturbed},
                      {"deviation_us", effects.deviation},
                      {"ideal_half_width_us", effects.ideal_half_width()},
                      {"factors", std::move(factors)},
                      {"notes", explanation.notes}};
  return DumpJson(json, 2) + "\n";
}

}  // namespace infimum
