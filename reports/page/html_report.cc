#include "reports/page/html_report.h"

#include <fmt/format.h>

#include <string_view>

#include "reports/model/report_forms.h"
#include "reports/page/assets.h"
#include "reports/page/html_page.h"
#include "reports/page/html_sections.h"
#include "reports/page/html_writer.h"

namespace infimum {
namespace {

std::string_view TitleOf(const ReportModel& report) {
  if (!report.title.empty()) return report.title;
  return report.model_name.empty() ? std::string_view("A model's lower bound") : report.model_name;
}

}  // namespace

std::string HtmlReport(const ReportModel& report) {
  const std::string d3 = fmt::format("\n{}\n{}\n", D3License(), D3Script());
  const std::string json = ReportJson(report);
  const auto place = [&](std::string (*part)(const ReportModel&)) { return [&report, part] { return part(report); }; };
  return FillPage(HtmlTemplate(), {{"POLICY",
                                    [&] {
                                      return EscapedHtml(PolicyFor({ReportStyle()}, {d3, ReportScript()}));
                                    }},
                                   {"TITLE", [&] { return EscapedHtml(TitleOf(report)); }},
                                   {"STYLE", [] { return std::string(ReportStyle()); }},
                                   {"FACTS", place(FactsHtml)},
                                   {"HEADLINE", place(HeadlineHtml)},
                                   {"FIRST_CHANGE", place(FirstChangeHtml)},
                                   {"TILES", place(TilesHtml)},
                                   {"ADVICE", place(AdviceHtml)},
                                   // What to change stands first where there is anything to say of it.
                                   {"BRACKET_FIRST", [&] { return report.run ? std::string() : BracketHtml(); }},
                                   {"FINDINGS", place(FindingsHtml)},
                                   {"BRACKET_NEXT", [&] { return report.run ? BracketHtml() : std::string(); }},
                                   {"WATERFALL", place(WaterfallHtml)},
                                   {"ANSWERS", place(AnswersHtml)},
                                   {"TABLES", place(TablesHtml)},
                                   {"TABLE_LINKS", place(TableLinksHtml)},
                                   {"COVERAGE", place(CoverageHtml)},
                                   {"MISSING", place(MissingHtml)},
                                   {"ROOFS", place(RoofsHtml)},
                                   {"LAYERS", place(LayersHtml)},
                                   {"BOUNDS", place(BoundsHtml)},
                                   {"ENVIRONMENT", place(EnvironmentHtml)},
                                   {"NO_LOSSES", place(NoLossesHtml)},
                                   {"NO_TIMES", place(NoTimesHtml)},
                                   {"NO_ROOFLINE", place(NoRooflineHtml)},
                                   {"FOOTER",
                                    [&] {
                                      return EscapedHtml(fmt::format(
                                          "{}. Written by infimum {}. This page is one file and fetches nothing.",
                                          DataAsOf(report), report.infimum_version));
                                    }},
                                   {"DATA",
                                    [&] {
                                      std::string data;
                                      AppendScriptData(json, data);
                                      return data;
                                    }},
                                   {"D3", [&] { return d3; }},
                                   {"SCRIPT", [] { return std::string(ReportScript()); }}});
}

}  // namespace infimum
