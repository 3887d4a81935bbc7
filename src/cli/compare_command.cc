// infimum compare --run FILE...: what profiles say of a run.
#include <memory>
#include <utility>
#include <variant>

#include "infimum/ingest/read_profile.h"
#include "infimum/reports/profile_view.h"
#include "src/cli/command.h"
#include "src/cli/options.h"

namespace infimum::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> runs;
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
};

Result<int> RunCompare(const CompareOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  std::vector<ProfileView> views;
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<NamedProfile> profiles,
                           ReadProfiles({options.runs.begin(), options.runs.end()}));
  for (const NamedProfile& named : profiles) {
    views.push_back(std::visit([&named](const auto& profile) { return ProfileView(ViewOf(profile, named.source)); },
                               named.profile));
  }
  std::string text;
  switch (options.format) {
    case OutputFormat::kTable:
      for (const ProfileView& view : views) text += (text.empty() ? "" : "\n") + ProfileText(view, TerminalWidth());
      break;
    case OutputFormat::kJson:
      text = ProfilesJson(views);
      break;
    case OutputFormat::kCsv:
      text = ProfilesCsv(views);
      break;
  }
  INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, text));
  return kDone;
}

}  // namespace

void AddCompareCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      NewCommand(app, "compare", "where the time of a profiled run went, and what to change",
                 "Takes traces of PyTorch's profiler (torch.profiler, Kineto; old and new), profiles of ONNX Runtime\n"
                 "(enable_profiling) and runs that infimum measure -o wrote, each also compressed with gzip. Of a "
                 "trace: what each\n"
                 "device did with its time, for whom it waited, the operators and kernels that took it, and findings "
                 "by what they\n"
                 "can win; of an engine's layers: which operators and layers took the time.",
                 "infimum compare --run trace.json.gz");
  command->add_option("--run", options->runs, "a profile; several stand one below the other")
      ->required()
      ->type_name("FILE");
  AddFormat(command, options->format);
  command->add_option("-o,--output", options->output, "file to write; - for standard output")->type_name("FILE");
  invocation.Bind(command, [options] { return RunCompare(*options); });
}

}  // namespace infimum::cli
