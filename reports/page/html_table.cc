#include "reports/page/html_table.h"

#include <cctype>

#include "infimum/base/text.h"

namespace infimum {
namespace {

std::string Capitalized(std::string title) {
  if (!title.empty()) title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

std::string_view ClassOf(const Section& section, std::size_t column) {
  return section.columns[column].align == Align::kRight ? "number" : "";
}

void AddRow(const Section& section, const TableLook& look, std::size_t index, HtmlWriter& html) {
  const TableRow& row = section.rows[index];
  html.Open("tr", {{"class", index < look.row_classes.size() ? look.row_classes[index] : ""}});
  for (std::size_t column = 0; column < row.size(); ++column) {
    const Cell& cell = row[column];
    const std::string_view shown = cell.is_code ? "mono" : ClassOf(section, column);
    if (look.heading == column)
      html.Open("th", {{"scope", "row"}, {"class", shown}, {"title", cell.hint}});
    else
      html.Open("td", {{"class", shown}, {"title", cell.hint}});
    AddCellText(cell, html);
    if (!cell.aside.empty()) html.Text(" " + cell.aside);
    html.Close();
  }
  html.Close();
}

}  // namespace

void OpenSection(std::string_view id, std::string_view title, std::string_view lead, HtmlWriter& html) {
  const std::string heading = std::string(id) + "-title";
  html.Open("section", {{"id", id}, {"aria-labelledby", heading}}).Element("h2", {{"id", heading}}, title);
  if (lead.empty()) return;
  html.Open("p", {{"class", "lead"}});
  // What stands between backticks is a command.
  bool is_code = false;
  for (const std::string_view part : Split(lead, '`')) {
    if (is_code)
      html.Element("code", part);
    else
      html.Text(part);
    is_code = !is_code;
  }
  html.Close();
}

void AddCellText(const Cell& cell, HtmlWriter& html) {
  if (cell.link.empty())
    html.Text(cell.text);
  else
    html.Element("a", {{"href", cell.link}}, cell.text);
}

void AddTable(const Section& section, const TableLook& look, HtmlWriter& html) {
  if (!look.label.empty())
    html.Open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", look.label}});
  html.Open("table", {{"class", look.classes}, {"id", look.id}}).Open("thead").Open("tr");
  for (std::size_t column = 0; column < section.columns.size(); ++column)
    html.Element("th", {{"scope", "col"}, {"class", ClassOf(section, column)}},
                 Capitalized(section.columns[column].title));
  html.Close().Close().Open("tbody");
  for (std::size_t row = 0; row < section.rows.size(); ++row) AddRow(section, look, row, html);
  html.Close().Close();
  if (!look.label.empty()) html.Close();
}

}  // namespace infimum
