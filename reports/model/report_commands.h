// Commands that would tell more than a report does, ready for a shell; empty where none can be told.
//
//   AnalyzeCommand(report)                        "infimum analyze net.onnx --db team.db"
//   CompareCommand(report, {"--by device"})       "infimum report compare net.onnx --db team.db --by device"
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "reports/model/report_model.h"

namespace infimum {

// Measures what the report lacks, under its own contract or as `contract` says ("--contract bf16"). On another device
// nothing can be measured from here.
std::string AnalyzeCommand(const ReportModel& report, std::string_view contract = "");

// Measures a framework's run: on processors alone.
std::string MeasureCommand(const ReportModel& report);

// A framework's run of the model on its device: measured, or where it cannot be measured from here, imported.
std::string RunCommand(const ReportModel& report);

// Runs the best kernels one after the other in the model.
std::string ReplayCommand(const ReportModel& report);

// A plan to be taken to a device: of what it lacks, or as `options` say ("--contract f16", "--all").
std::string PlanCommand(const ReportModel& report, std::string_view options);

std::string CompareCommand(const ReportModel& report, std::initializer_list<std::string_view> options);

}  // namespace infimum
