// The main job, step by step: model in; first answer in seconds; campaign; a framework's run; bracket; report.
//
//   AnalysisOptions options;
//   options.model = "resnet50.onnx";
//   Result<Analysis> analysis = Analyze(options, log);
//
// Steps that the store can already answer are skipped: the second time nothing is measured. An interrupt ends the step
// under way; what is known by then is reported, and what is missing is named.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/benanza2019/benanza_bracket.h"
#include "analyzer/bracket/bracket.h"
#include "infimum/db/store.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"
#include "reports/model/report_model.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"
#include "src/app/runners/framework_run.h"

namespace infimum {

struct AnalysisOptions {
  std::filesystem::path model;
  std::map<std::string, std::int64_t> dims;
  std::string database = "infimum.db";
  CampaignOptions campaign;
  std::optional<NumericContract> contract;
  // Whose runs are measured, each by what it needs of its own: python, module, mode, inputs.
  std::vector<FrameworkOptions> frameworks;
  std::string python;          // of replays
  bool measure_again = false;  // the frameworks' runs, although the store has some
  bool regions = true;         // measure what a library may run as one, too
  bool replay = true;          // run what the bound adds up as one program (R), where there is a framework
  bool anonymize = false;      // the report without the model's names, src/app/models/anonymizer.h
};

struct Analysis {
  // Empty where the report has them.
  ModelGraph graph;
  Bracket bracket;
  std::optional<RunProfile> run;
  Device device;        // of AnalyzeStored
  ReportModel report;   // by its own graph, bracket and run
  bool failed = false;  // measuring did: a runner crashed, was killed, or was ended since it was stuck
  bool interrupted = false;
};

Result<Analysis> Analyze(const AnalysisOptions& options, ProgressLog& log);

// The report's part alone, from what the store has: nothing is measured, no child is started but to describe this
// device when `device` is empty.
struct StoredAnalysisOptions {
  std::filesystem::path model;
  std::map<std::string, std::int64_t> dims;
  std::string database = "infimum.db";
  std::string device;
  CampaignOptions campaign;
  std::optional<NumericContract> contract;
  std::vector<std::string> frameworks;  // the fastest run of these is the report's; none named: of any
  bool observed = false;                // the framework's own layers as candidates too
  std::vector<std::string> what_ifs;    // see analyzer/bracket/what_if.h
  // With others than those of brackets the analysis' graph is the model as they see it, and its bracket has their
  // bounds.
  BoundRules rules = BoundRules::kBracket;
  bool anonymize = false;    // as above; takes a report
  bool fills_report = true;  // Analysis::report, which takes more than the bracket; else it stays empty
};
Result<Analysis> AnalyzeStored(const StoredAnalysisOptions& options);

// UTC now as "2026-11-21T10:47:44Z".
std::string UtcNow();

}  // namespace infimum
