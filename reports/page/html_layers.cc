// The table of layers for readers without scripts: every row, in the model's order. A browser that runs scripts never
// makes elements of it, so that thousands of layers cost nothing there.
#include <fmt/format.h>

#include "infimum/base/quantity_text.h"
#include "reports/model/model_rows.h"
#include "reports/page/html_sections.h"
#include "reports/text/quantity_text.h"

namespace infimum {

std::string LayersHtml(const ReportModel& report) {
  const auto time = [](const std::optional<Latency>& latency) {
    return latency ? FormatLatency(*latency) : std::string();
  };
  HtmlWriter html;
  html.Open("div", {{"class", "scroll"}}).Open("table", {{"id", "plain-layers"}});
  if (report.run) {
    AddHead({"#No.", "Layer", "Operator", "Bound is", "#Measured", "#Bound", "#Ratio", "#Roofline", "Best kernel"},
            html);
  } else {
    AddHead({"#No.", "Layer", "Operator", "Bound is", "#Bound", "#Roofline", "Best kernel"}, html);
  }
  html.Open("tbody");
  std::size_t number = 0;
  for (const ComparisonRow& row : ComparisonRows(report)) {
    const ReportLayer* main = row.layers.empty() ? nullptr : &report.layers[row.main];
    html.Open("tr").Element("td", {{"class", "number"}}, std::to_string(++number));
    html.Element("th", {{"scope", "row"}}, RowLabel(report, row));
    html.Element("td", main ? std::string_view(main->op) : "engine only");
    html.Element("td", main ? Name(row.status) : "");
    if (report.run) html.Element("td", {{"class", "number"}}, time(row.measured));
    html.Element("td", {{"class", "number"}}, time(row.bound));
    const bool is_compared = row.bound && row.measured && row.bound->count() > 0;
    if (report.run)
      html.Element("td", {{"class", "number"}}, is_compared ? fmt::format("{:.2f}×", *row.measured / *row.bound) : "");
    html.Element("td", {{"class", "number"}}, row.floor.count() > 0 ? FormatLatency(row.floor) : "");
    html.Element("td", row.candidate).Close();
  }
  html.Close().Close().Close();
  return html.Take();
}

}  // namespace infimum
