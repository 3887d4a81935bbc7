#include "reports/page/html_report.h"

#include <fmt/format.h>

#include <string_view>

#include "reports/model/report_forms.h"
#include "reports/page/assets.h"
#include "reports/page/html_page.h"
#include "reports/page/html_sections.h"

namespace infimum {
namespace {

std::string_view TitleOf(const ReportModel& report) {
  if (!report.title.empty()) return report.title;
  return report.model_name.empty() ? std::string_view("A model's lower bound") : report.model_name;
}

}  // namespace

std::string HtmlReport(const ReportModel& report) {
  const std::string data_as_of = DataAsOf(report);
  // Without a time what is said of times is left out.
  const bool has_times = !HasFloorsAlone(report);
  const std::string page = VersionOf(HtmlTemplate(), has_times ? "times" : "floors", has_times ? "floors" : "times");
  const PageFrame frame{.page = page,
                        .title = TitleOf(report),
                        .style = std::string(ReportStyle()),
                        .script = ReportScript(),
                        .d3 = fmt::format("\n{}\n{}\n", D3License(), D3Script()),
                        .json = ReportJson(report),
                        .data_as_of = data_as_of,
                        .infimum_version = report.infimum_version};
  const auto place = [&](std::string (*part)(const ReportModel&)) { return [&report, part] { return part(report); }; };
  // What to change stands first where there is anything to say of it.
  const auto bracket = [&report](bool is_here) {
    return [&report, is_here] { return is_here ? BracketHtml(report) : std::string(); };
  };
  return WritePage(frame, {{"FACTS", place(FactsHtml)},
                           {"HEADLINE", place(HeadlineHtml)},
                           {"FIRST_CHANGE", place(FirstChangeHtml)},
                           {"TILES", place(TilesHtml)},
                           {"ADVICE", place(AdviceHtml)},
                           {"BRACKET_FIRST", bracket(!report.run)},
                           {"FINDINGS", place(FindingsHtml)},
                           {"BRACKET_NEXT", bracket(report.run.has_value())},
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
                           {"NO_ROOFLINE", place(NoRooflineHtml)}});
}

}  // namespace infimum
