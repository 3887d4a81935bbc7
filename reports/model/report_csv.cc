#include "reports/model/report_csv.h"

#include <algorithm>
#include <iterator>

#include "infimum/base/text.h"
#include "reports/model/model_rows.h"
#include "reports/text/csv.h"

namespace infimum {
namespace {

std::string MicrosecondsCell(const std::optional<Latency>& latency) {
  return latency ? FormatNumber(latency->count()) : std::string();
}

std::string Quotient(const std::optional<Latency>& a, const std::optional<Latency>& b) {
  return a && b && *b > Latency(0) ? FormatNumber(*a / *b) : std::string();
}

// The measured region that is just the row's layers, the fastest of several; null where there is none.
const ReportRegion* RegionOf(const ReportModel& report, const ComparisonRow& row) {
  const auto busy = [&report](std::size_t layer) { return report.layers[layer].status != RowStatus::kFree; };
  std::vector<std::size_t> wanted;
  std::ranges::copy_if(row.layers, std::back_inserter(wanted), busy);
  const ReportRegion* fastest = nullptr;
  for (const ReportRegion& region : report.regions) {
    std::vector<std::size_t> layers;
    std::ranges::copy_if(region.layers, std::back_inserter(layers), busy);
    if (layers == wanted && (fastest == nullptr || region.latency < fastest->latency)) fastest = &region;
  }
  return wanted.empty() ? nullptr : fastest;
}

}  // namespace

std::string ReportCsv(const ReportModel& report) {
  Table table{{{"label"},
               {"operators"},
               {"family"},
               {"status"},
               {"fused"},
               {"candidate"},
               {"bound_us"},
               {"measured_us"},
               {"ratio"},
               {"roofline_us"},
               {"share"},
               {"candidates"},
               {"library_choice"},
               {"regret_us"},
               {"config"},
               {"engine_layers"}},
              {}};
  for (const ComparisonRow& row : ComparisonRows(report)) {
    std::vector<std::string> operators;
    std::vector<const ReportLayer*> busy;
    for (const std::size_t index : row.layers) {
      const ReportLayer& layer = report.layers[index];
      operators.push_back(layer.op);
      if (layer.status != RowStatus::kFree) busy.push_back(&layer);
    }
    const ReportLayer* one = busy.size() == 1 ? busy.front() : nullptr;
    const ReportRegion* region = one ? nullptr : RegionOf(report, row);
    const ReportWorkload* workload = nullptr;
    if (one && one->workload) workload = &report.workloads[*one->workload];
    if (region && region->workload) workload = &report.workloads[*region->workload];
    table.rows.push_back({RowLabel(report, row), Join(operators, " + "), row.family,
                          row.layers.empty() ? "engine only" : std::string(Name(row.status)),
                          busy.size() > 1 ? "yes" : "no", row.candidate, MicrosecondsCell(row.bound),
                          MicrosecondsCell(row.measured), Quotient(row.measured, row.bound),
                          MicrosecondsCell(row.floor), report.run ? Quotient(row.measured, report.run->latency) : "",
                          workload ? std::to_string(workload->candidates.size()) : "", one ? one->library_choice : "",
                          one ? MicrosecondsCell(one->regret) : "",
                          one      ? one->config
                          : region ? region->config
                                   : "",
                          Join(row.engine_layers, " + ")});
  }
  return FormatCsv(table);
}

}  // namespace infimum
