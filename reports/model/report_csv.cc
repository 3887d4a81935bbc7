#include <algorithm>
#include <iterator>

#include "infimum/base/text.h"
#include "reports/model/model_rows.h"
#include "reports/model/report_forms.h"
#include "reports/text/csv.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

std::string Quotient(const std::optional<Latency>& a, const std::optional<Latency>& b) {
  return a && b && *b > Latency(0) ? FormatNumber(*a / *b) : std::string();
}

// The measured region that is just the row's layers, the fastest of several; absent where there is none.
std::optional<std::size_t> RegionOf(const ReportModel& report, const ModelRow& row) {
  const Bracket& bracket = report.bracket;
  const auto busy = [&bracket](const std::vector<LayerId>& layers) {
    std::vector<LayerId> kept;
    std::ranges::copy_if(layers, std::back_inserter(kept),
                         [&](LayerId layer) { return !IsFree(bracket.layers[layer.index()]); });
    return kept;
  };
  const std::vector<LayerId> wanted = busy(row.layers);
  std::optional<std::size_t> fastest;
  if (wanted.empty()) return fastest;
  for (std::size_t i = 0; i < bracket.regions.size(); ++i) {
    const RegionLatency& region = bracket.regions[i];
    if (busy(region.layers) == wanted && (!fastest || region.latency < bracket.regions[*fastest].latency)) fastest = i;
  }
  return fastest;
}

}  // namespace

std::string ReportCsv(const ReportModel& report) {
  Section section{.columns = {"label", "operators", "family", "status", "fused", "candidate", "bound_us", "measured_us",
                              "ratio", "roofline_us", "share", "candidates", "library_choice", "regret_us", "config",
                              "engine_layers"}};
  for (const ModelRow& row : ModelRows(report)) {
    std::vector<std::string> operators;
    std::optional<LayerId> one;  // that is not free, where no other is
    for (const LayerId layer : row.layers) {
      operators.push_back(report.graph.layer(layer).op);
      if (row.busy == 1 && !IsFree(report.bracket.layers[layer.index()])) one = layer;
    }
    const std::optional<std::size_t> region = one ? std::nullopt : RegionOf(report, row);
    std::optional<std::size_t> workload;
    if (one) workload = report.layer_workloads[one->index()];
    if (region) workload = report.region_workloads[*region];
    const std::optional<LibraryChoice> choice = one ? report.bracket.layers[one->index()].choice : std::nullopt;
    section.rows.push_back({RowLabel(report, row), Join(operators, " + "), row.family, row.status,
                            row.busy > 1 ? "yes" : "no", row.candidate, CsvTime(row.best), CsvTime(row.measured),
                            Quotient(row.measured, row.best), CsvTime(row.floor),
                            report.run ? Quotient(row.measured, report.run->latency) : "",
                            workload ? std::to_string(report.workloads[*workload].candidates.size()) : "",
                            choice ? choice->candidate.name() : "", choice ? CsvTime(choice->regret) : "",
                            one      ? ConfigOf(report.graph.layer(*one))
                            : region ? ConfigOf(report.bracket.regions[*region])
                                     : "",
                            Join(EngineLayersOf(report, row), " + ")});
  }
  return SectionCsv(section);
}

}  // namespace infimum
