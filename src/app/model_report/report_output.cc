#include "src/app/model_report/report_output.h"

#include <filesystem>
#include <iterator>

#include "infimum/base/file_text.h"
#include "reports/model/report_forms.h"
#include "reports/page/html_report.h"
#include "src/app/options.h"
#include "src/readers/onnx/read_model.h"

namespace infimum::cli {

std::string DefaultReportPath(const std::string& model, bool anonymize) {
  return (anonymize ? std::string("model") : ModelName(model)) + ".html";
}

std::string PathOfOwnReport(const std::string& path, const std::string& sha256) {
  constexpr std::size_t kDigits = 8;
  const auto is_free = [&sha256](const std::string& candidate) {
    std::error_code failed;
    if (!std::filesystem::exists(candidate, failed)) return true;
    const Result<std::string> page = ReadFile(candidate);
    return page && !sha256.empty() && page->find(sha256) != std::string::npos;
  };
  const std::filesystem::path whole(path);
  std::string own = path;
  for (std::size_t number = 2; !is_free(own); ++number) {
    const bool is_hashed = number == 2 && !sha256.empty();
    own = (whole.parent_path() / whole.stem()).string() + "-" +
          (is_hashed ? sha256.substr(0, kDigits) : std::to_string(number)) + whole.extension().string();
  }
  return own;
}

Status CheckReportForm(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  for (const char* known : {"", ".html", ".htm", ".md", ".json", ".csv"}) {
    if (ending == known) return CheckWritable(path);
  }
  return Error{path + ": a report is written as .html, .md, .json or .csv"};
}

Status WriteReportForm(const std::string& path, const ReportForms& forms) {
  if (path.ends_with(".md")) return WriteOutput(path, forms.markdown());
  if (path.ends_with(".json")) return WriteOutput(path, forms.json());
  if (path.ends_with(".csv")) return WriteOutput(path, forms.csv());
  return WriteOutput(path, forms.page());
}

Status WriteReport(const std::string& path, const ReportModel& report) {
  return WriteReportForm(path, {.page = [&] { return HtmlReport(report); },
                                .markdown = [&] { return MarkdownReport(report); },
                                .json = [&] { return ReportJson(report); },
                                .csv = [&] { return ReportCsv(report); }});
}

}  // namespace infimum::cli
