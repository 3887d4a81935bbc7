#include "infimum/base/text.h"
#include "reports/sides/comparison_report.h"
#include "reports/text/csv.h"

namespace infimum {
namespace {

std::string NumberCell(const std::optional<Latency>& latency) { return latency ? FormatNumber(latency->count()) : ""; }

}  // namespace

std::string ComparisonCsv(const ComparisonReport& report) {
  Table table = CsvTable({"layer", "model", "class", "uses", "side", "latency_us", "low_us", "high_us", "ratio",
                          "ratio_low", "ratio_high", "verdict", "spread_known", "compared", "candidate", "config"});
  for (const SetLayer& layer : report.comparison.layers) {
    for (std::size_t side = 0; side < report.sides.size(); ++side) {
      const SideTime& time = layer.times[side];
      const std::optional<Difference>& difference = layer.differences[side];
      table.rows.push_back(
          {layer.uses.front().name, report.comparison.models[layer.uses.front().model].name, layer.family,
           std::to_string(layer.uses.size()), report.sides[side].label, NumberCell(time.latency),
           time.interval ? NumberCell(time.interval->low) : "", time.interval ? NumberCell(time.interval->high) : "",
           difference ? FormatNumber(difference->ratio) : "", difference ? FormatNumber(difference->between.low) : "",
           difference ? FormatNumber(difference->between.high) : "",
           difference ? std::string(Name(difference->verdict)) : "",
           difference ? (difference->is_spread_known ? "yes" : "no") : "", layer.is_common ? "yes" : "no",
           time.candidate, layer.config});
    }
  }
  return FormatCsv(table);
}

}  // namespace infimum
