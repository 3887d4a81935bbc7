// The questions that people come with, each with its answer in a sentence or with what would answer it.
//
//   1. "How fast could it be, and what is left?"   "31.1 ms (31.1 to 31.9 ms) with kernels that were measured ..."
//   3. "Does each layer run its best algorithm?"   "No: 57 rows lose 5.58 ms (15.1 %) to slower kernels ..."
//   9. "Which generation of devices is best?"      not known: "infimum report compare resnet50.onnx --by device"
//
// Each number is one that the report shows elsewhere; `section` is the page's part that does.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

struct Answer {
  int number = 0;  // 1 to 10
  std::string question;
  bool is_known = false;
  std::string text;     // the answer; where it is not known, what it needs
  std::string section;  // "bracket"; empty where none shows more
  std::string command;  // that would answer it, or tell more; may be empty
};

// All ten, in order.
std::vector<Answer> AnswersOf(const ReportModel& report);

}  // namespace infimum
