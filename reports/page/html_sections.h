// The parts of a model's page that are text and tables: written once, so that they are there for readers without
// scripts, for search and for print. Charts and the table that sorts are drawn by the page's own script.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/report_model.h"
#include "reports/page/html_writer.h"

namespace infimum {

// Each fills the place of its name in assets/report.html.in: TilesHtml fills TILES.
std::string FactsHtml(const ReportModel& report);        // device, threads, contract, inputs
std::string HeadlineHtml(const ReportModel& report);     // the answer, its numbers in bold
std::string FirstChangeHtml(const ReportModel& report);  // what to change first, and what it wins
std::string TilesHtml(const ReportModel& report);
std::string AdviceHtml(const ReportModel& report);
std::string AnswersHtml(const ReportModel& report);
std::string BracketHtml(const ReportModel& report);
std::string FindingsHtml(const ReportModel& report);
std::string WaterfallHtml(const ReportModel& report);
std::string TablesHtml(const ReportModel& report);      // those of TablesOf(), each under its heading
std::string TableLinksHtml(const ReportModel& report);  // to them
std::string CoverageHtml(const ReportModel& report);
std::string MissingHtml(const ReportModel& report);
std::string LayersHtml(const ReportModel& report);  // the whole table, for readers without scripts
std::string BoundsHtml(const ReportModel& report);
std::string RoofsHtml(const ReportModel& report);
std::string EnvironmentHtml(const ReportModel& report);

// What would fill a chart that has nothing to draw; empty where it has.
std::string NoLossesHtml(const ReportModel& report);
std::string NoTimesHtml(const ReportModel& report);
std::string NoRooflineHtml(const ReportModel& report);

// A sentence, its quantities in bold.
std::string SentenceHtml(std::string_view sentence);

// A command with its button for copying; nothing for an empty one.
void AddCommand(std::string_view command, HtmlWriter& html);

}  // namespace infimum
