// infimum compare [MODEL] --run FILE...: what profiles say of a run, by themselves or layer by layer of a model.
#include <filesystem>
#include <memory>
#include <utility>
#include <variant>

#include "infimum/ingest/read_profile.h"
#include "infimum/onnx/read_model.h"
#include "infimum/reports/node_table.h"
#include "infimum/reports/profile_view.h"
#include "src/cli/command.h"
#include "src/cli/options.h"

namespace infimum::cli {
namespace {

struct CompareOptions {
  std::string model;
  DimOptions dims;
  std::vector<std::string> runs;
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
};

// What a column is called: the file's own name, of a folder the folder's.
std::string ColumnOf(const std::string& source) {
  const std::filesystem::path path(source);
  const std::filesystem::path name = path.filename().empty() ? path.parent_path().filename() : path.filename();
  return name.empty() ? source : name.string();
}

// A table over the model's layers; profiles that know no layers are an error.
Result<std::string> CompareNodes(const CompareOptions& options, const std::vector<NamedProfile>& profiles) {
  ReadOptions read;
  INFIMUM_ASSIGN_OR_RETURN(read.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(options.model, read));
  std::vector<NamedRun> runs;
  for (const NamedProfile& named : profiles) {
    const auto* run = std::get_if<RunProfile>(&named.profile);
    if (run == nullptr)
      return Error{
          named.source +
          ": a trace of operators and kernels, which are not matched with a model's layers yet; leave the model "
          "out to see what it says by itself"};
    runs.push_back({ColumnOf(named.source), run});
  }
  const NodeTable table = NodeTableOf(graph, runs);
  switch (options.format) {
    case OutputFormat::kTable:
      break;
    case OutputFormat::kJson:
      return NodeTableJson(table);
    case OutputFormat::kCsv:
      return NodeTableCsv(table);
  }
  return NodeTableText(table, TerminalWidth());
}

Result<int> RunCompare(const CompareOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  std::vector<ProfileView> views;
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<NamedProfile> profiles,
                           ReadProfiles({options.runs.begin(), options.runs.end()}));
  if (!options.model.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(const std::string table, CompareNodes(options, profiles));
    INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, table));
    return kDone;
  }
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
  CLI::App* command = NewCommand(
      app, "compare", "where the time of a profiled run went, and what to change",
      "Takes traces of PyTorch's profiler (torch.profiler, Kineto), exports of Nsight Systems\n"
      "(nsys export --type sqlite), what trtexec says of a TensorRT engine (--exportLayerInfo, --exportProfile,\n"
      "--exportTimes: its files, or their folder), profiles of ONNX Runtime (enable_profiling) and runs that\n"
      "infimum measure -o wrote; texts also compressed with gzip. Of a trace: what each device did with its\n"
      "time, for whom it waited, the operators and kernels that took it, and findings by what they can win; of\n"
      "an engine's layers: which operators and layers took the time. With MODEL: one table over its layers,\n"
      "with what each engine took for them, fused or not.",
      "infimum compare --run trace.json.gz");
  command->add_option("MODEL", options->model, "ONNX file, for a table over its layers");
  AddDims(command, options->dims);
  command->add_option("--run", options->runs, "a profile; several stand one below the other")
      ->required()
      ->type_name("FILE");
  AddFormat(command, options->format);
  command->add_option("-o,--output", options->output, "file to write; - for standard output")->type_name("FILE");
  invocation.Bind(command, [options] { return RunCompare(*options); });
}

}  // namespace infimum::cli
