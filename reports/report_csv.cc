#include "infimum/reports/report_csv.h"

#include <algorithm>

#include "infimum/base/text.h"
#include "infimum/reports/comparison.h"
#include "infimum/reports/csv.h"

namespace infimum {
namespace {

std::string Number(const std::optional<Latency>& latency) {
  return latency ? FormatNumber(latency->count()) : std::string();
}

std::string Quotient(const std::optional<Latency>& a, const std::optional<Latency>& b) {
  return a && b && *b > Latency(0) ? FormatNumber(*a / *b) : std::string();
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
    table.rows.push_back(
        {RowLabel(report, row), Join(operators, " + "), row.family,
         row.layers.empty() ? "engine only" : std::string(Name(row.status)), busy.size() > 1 ? "yes" : "no",
         row.candidate, Number(row.bound), Number(row.measured), Quotient(row.measured, row.bound), Number(row.floor),
         report.run ? Quotient(row.measured, report.run->latency) : "",
         one && one->workload ? std::to_string(report.workloads[*one->workload].candidates.size()) : "",
         one ? one->library_choice : "", one ? Number(one->regret) : "", one ? one->config : "",
         Join(row.engine_layers, " + ")});
  }
  return FormatCsv(table);
}

}  // namespace infimum
