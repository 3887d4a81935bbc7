// One subcommand a file: each adds itself to the command line and leaves behind what to run.
//
//   void AddInspectCommand(CLI::App& app, Invocation& invocation) {
//     auto options = std::make_shared<InspectOptions>();
//     CLI::App* command = NewCommand(app, "inspect", "what it does", "infimum inspect resnet50.onnx --dim batch=8");
//     command->add_option("model", options->model, "ONNX file")->required();
//     invocation.Bind(command, [options] { return RunInspect(*options); });
//   }
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "infimum/base/result.h"

namespace infimum::cli {

// The documented exit codes.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kGateFailed = 3;

// For what only a command itself can see to be wrong usage, beyond what an option's check sees: says it.
int UsageError(const std::string& message);

// What the user asked for, run after the whole command line was understood.
class Invocation {
 public:
  using Run = std::function<Result<int>()>;

  // A command of which a subcommand was chosen leaves it to that.
  void Bind(CLI::App* command, Run run) {
    command->callback([this, command, run = std::move(run)] {
      if (command->get_subcommands().empty()) run_ = run;
    });
  }
  const Run& run() const { return run_; }

 private:
  Run run_;
};

// A subcommand whose help has an example.
CLI::App* NewCommand(CLI::App& app, const std::string& name, const std::string& what, const std::string& details,
                     const std::string& example);

void AddAnalyzeCommand(CLI::App& app, Invocation& invocation);
void AddInspectCommand(CLI::App& app, Invocation& invocation);
void AddPlanCommand(CLI::App& app, Invocation& invocation);
void AddEmitCommand(CLI::App& app, Invocation& invocation);
void AddBenchCommand(CLI::App& app, Invocation& invocation);
void AddCampaignCommand(CLI::App& app, Invocation& invocation);
void AddCandidatesCommand(CLI::App& app, Invocation& invocation);
void AddImportCommand(CLI::App& app, Invocation& invocation);
void AddBoundCommand(CLI::App& app, Invocation& invocation);
void AddCompareCommand(CLI::App& app, Invocation& invocation);
void AddConfirmCommand(CLI::App& app, Invocation& invocation);
void AddEvaluateCommand(CLI::App& app, Invocation& invocation);
void AddExplainCommand(CLI::App& app, Invocation& invocation);
void AddMeasureCommand(CLI::App& app, Invocation& invocation);
void AddReplayCommand(CLI::App& app, Invocation& invocation);
void AddReportCommand(CLI::App& app, Invocation& invocation);
void AddDevicesCommand(CLI::App& app, Invocation& invocation);
void AddExportCommand(CLI::App& app, Invocation& invocation);
void AddDbCommand(CLI::App& app, Invocation& invocation);
void AddQueryCommand(CLI::App& app, Invocation& invocation);
void AddLlmCommand(CLI::App& app, Invocation& invocation);
void AddSynthCommand(CLI::App& app, Invocation& invocation);
void AddBricksCommand(CLI::App& synth, Invocation& invocation);

}  // namespace infimum::cli
