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
  for (const ModelRow& row : ModelRows(report)) {
    const Layer* main = row.layers.empty() ? nullptr : &report.graph.layer(row.main);
    html.Open("tr").Element("td", {{"class", "number"}}, std::to_string(++number));
    html.Element("th", {{"scope", "row"}}, RowLabel(report, row));
    html.Element("td", main ? std::string_view(main->op) : kEngineOnlyName);
    html.Element("td", main ? row.status : "");
    if (report.run) html.Element("td", {{"class", "number"}}, time(row.measured));
    html.Element("td", {{"class", "number"}}, time(row.best));
    const bool is_compared = row.best && row.measured && row.best->count() > 0;
    if (report.run)
      html.Element("td", {{"class", "number"}}, is_compared ? fmt::format("{:.2f}×", *row.measured / *row.best) : "");
    html.Element("td", {{"class", "number"}}, row.floor.count() > 0 ? FormatLatency(row.floor) : "");
    html.Element("td", row.candidate).Close();
  }
  html.Close().Close().Close();
  return html.Take();
}

}  // namespace infimum
