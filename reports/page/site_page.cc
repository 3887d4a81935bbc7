// The pages of a site over a store: tables that stand in them without a script. Style and script are two files that all
// of them share.

#include "reports/page/assets.h"
#include "reports/page/heat_table.h"
#include "reports/page/html_page.h"
#include "reports/page/html_sections.h"
#include "reports/page/html_table.h"
#include "reports/page/html_writer.h"
#include "reports/site/site_report.h"

namespace infimum {
namespace {

std::string SectionsHtml(const std::vector<Section>& sections) {
  HtmlWriter html;
  for (const Section& section : sections) {
    OpenSection(section.id, section.title, section.note, html);
    HeatLook look{{}, HeatScale(ColouredRatios({section})), std::nullopt};
    for (std::size_t i = section.first_side.value_or(section.columns.size()); i < section.columns.size(); ++i)
      look.labels.push_back(section.columns[i].title);
    if (section.first_side) AddHeatKey({section}, look, html);
    if (!section.rows.empty()) AddHeatTable(section, look, html);
    html.Close();
  }
  return html.Take();
}

std::string KindHtml(bool is_index) {
  if (is_index) return "site of a store";
  HtmlWriter html;
  html.Element("a", {{"href", "../index.html"}}, "all models and devices");
  return html.Take();
}

std::string PageHtml(const SitePage& page, const SiteReport& report) {
  const bool is_index = page.path.find('/') == std::string::npos;
  // Of the index alone: the others stay as they are where nothing of theirs changed.
  const std::string data_as_of = !is_index || report.data_as_of.empty() ? "" : "Newest row of " + report.data_as_of;
  const PageFrame frame{.page = ComparisonTemplate(),
                        .title = page.title,
                        .style = {},
                        .script = {},
                        .json = {},
                        .data_as_of = data_as_of,
                        .infimum_version = report.infimum_version,
                        .assets = is_index ? "assets/" : "../assets/"};
  return WritePage(frame, {{"KIND", [&] { return KindHtml(is_index); }},
                           {"HEADLINE", [&] { return SentenceHtml(page.headline); }},
                           {"FACTS", [&] { return EscapedHtml(page.facts); }},
                           {"CAUTIONS", [] { return std::string(); }},
                           {"CONTENTS", [&] { return LinksHtml(page.sections); }},
                           {"SECTIONS", [&] { return SectionsHtml(page.sections); }},
                           {"REMARKS", [] { return std::string(); }}});
}

}  // namespace

std::map<std::string, std::string> SiteFiles(const SiteReport& report) {
  std::map<std::string, std::string> files = {
      {"assets/style.css", std::string(ReportStyle()) + std::string(ComparisonStyle())},
      {"assets/script.js", std::string(ComparisonScript())}};
  for (const SitePage& page : SitePages(report)) files[page.path] = PageHtml(page, report);
  return files;
}

}  // namespace infimum
