#include "infimum/reports/html_report.h"

#include <string_view>

#include "infimum/reports/report_json.h"
#include "infimum/reports/summary.h"
#include "reports/assets.h"
#include "reports/html_text.h"

namespace infimum {

namespace {

std::string_view TitleOf(const ReportModel& report) {
  if (!report.title.empty()) return report.title;
  return report.model_name.empty() ? std::string_view("A model's lower bound") : report.model_name;
}

}  // namespace

// The template's places, each replaced once; what is put in is never searched again, so that a name
// like "@SCRIPT@" stays a name.
std::string HtmlReport(const ReportModel& report) {
  std::string out;
  std::string_view rest = HtmlTemplate();
  while (true) {
    std::size_t open = rest.find("@@");
    if (open == std::string_view::npos) break;
    std::size_t close = rest.find("@@", open + 2);
    if (close == std::string_view::npos) break;
    out += rest.substr(0, open);
    std::string_view place = rest.substr(open + 2, close - open - 2);
    rest.remove_prefix(close + 2);
    if (place == "TITLE") {
      AppendHtmlText(TitleOf(report), out);
    } else if (place == "HEADLINE") {
      AppendHtmlText(Headline(report), out);
    } else if (place == "DATA_AS_OF") {
      AppendHtmlText(DataAsOf(report), out);
    } else if (place == "STYLE") {
      out += ReportStyle();
    } else if (place == "D3") {
      out += D3Script();
    } else if (place == "D3_LICENSE") {
      out += D3License();
    } else if (place == "SCRIPT") {
      out += ReportScript();
    } else if (place == "DATA") {
      AppendScriptData(ReportJson(report), out);
    }
  }
  return out += rest;
}

}  // namespace infimum
