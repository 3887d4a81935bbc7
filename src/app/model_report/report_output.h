// A report to a file, in the form that the file's ending asks for; the same for every command that writes one.
#pragma once

#include <functional>
#include <string>

#include "infimum/base/result.h"
#include "reports/model/report_model.h"

namespace infimum::cli {

// What every command that writes a report says of it.
inline constexpr const char* kReportForms =
    "The file's ending chooses the form: .html (default), .md, .json or .csv. The page needs no network.";

// In the working folder: the model's name and .html, or model.html where that name is not to be told.
std::string DefaultReportPath(const std::string& model, bool anonymize);

// `path`, unless the file there is not of the model with this hash, nor a page of it: then another name, with the first
// digits of the hash in it. Without a hash, of a model whose name is not to be told, any file there is another one's.
std::string PathOfOwnReport(const std::string& path, const std::string& sha256);

// An error where the ending is of none of them; before any work.
Status CheckReportForm(const std::string& path);
// The form that the ending asks for; without one, and with any other, the page.
struct ReportForms {
  std::function<std::string()> page, markdown, json, csv;
};
Status WriteReportForm(const std::string& path, const ReportForms& forms);
Status WriteReport(const std::string& path, const ReportModel& report);

}  // namespace infimum::cli
