// infimum explain MODEL: what each choice of the best plan wins, switched on and off.
#include <memory>

#include "src/app/command.h"
#include "src/app/commands/explain/explain.h"
#include "src/app/commands/explain/switches.h"
#include "src/app/options.h"
#include "src/core/graph/framework_names.h"

namespace infimum::cli {
namespace {

struct ExplainCommandOptions {
  std::string model;
  DimOptions dims;
  ExplainOptions explain;
  std::vector<std::string> backend_options;
  std::string run;
  std::string keep;
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
  ProgressLogOptions log;
};

Result<int> RunExplain(const ExplainCommandOptions& options) {
  if ((options.explain.switches == framework::kPyTorch) != !options.explain.module.empty())
    return UsageError("--switches pytorch goes with --module, and with nothing else does that");
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  ProgressLog log = options.log.Make();
  ExplainOptions explain = options.explain;
  explain.run = options.run;
  explain.replay.model = options.model;
  explain.replay.keep = options.keep;
  INFIMUM_ASSIGN_OR_RETURN(explain.replay.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(explain.replay.campaign.backend_options,
                           ParsePairs(options.backend_options, "--backend-option"));
  INFIMUM_ASSIGN_OR_RETURN(const Explanation explanation,
                           explain.switches.empty() ? ExplainModel(explain, log) : ExplainSwitches(explain, log));
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, options.output,
                                      {.table = [&] { return ExplanationText(explanation, TerminalWidth()); },
                                       .json = [&] { return ExplanationJson(explanation); },
                                       .csv = [&] { return ExplanationCsv(explanation); }}));
  return kDone;
}

// A check of --switches: "" where this framework's switches can be explained, else which can.
std::string HasSwitches(const std::string& framework) {
  const Result<Installation> installation = Installation::Find();
  if (!installation) return installation.error().message;
  const Result<std::filesystem::path> script = installation->FrameworkScript(framework, "explain");
  return script ? std::string() : script.error().message;
}

}  // namespace

void AddExplainCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ExplainCommandOptions>();
  ExplainOptions& explain = options->explain;
  CLI::App* command = NewCommand(
      app, "explain", "what each choice of kernel and fusion wins, by switching it on and off in whole inferences",
      "Level 0 is the plan that `infimum replay` runs. Level 1 is like what the framework ran: fused where it fused,\n"
      "and by the measured candidates nearest to its times (--run, else the store's run of --framework); without a\n"
      "run each layer by what its library picks; with --rivals by the plan's own next best candidates. Inferences in\n"
      "which random halves of the choices are at level 1 are timed\n"
      "in turn; the effects have 95 % intervals and add up to the difference of both programs, without an order.\n"
      "Every step of both levels is compared with a reference, the outputs with ONNX Runtime's.\n"
      "--switches onnxruntime: of the framework itself instead, what each of its own switches wins (graph "
      "optimizations, the\n"
      "NCHWc layout, pre-packing, memory arena): level 0 is on, as by default, level 1 is off. --switches pytorch\n"
      "--module FILE.py:NAME: freezing, fusion of loops, vector instructions, patterns of torch.compile.",
      "infimum explain resnet50.onnx --run resnet50.run.json");
  AddModel(command, options->model);
  AddDims(command, options->dims);
  AddDatabase(command, explain.replay.database);
  AddThreads(command, explain.replay.campaign.threads);
  AddContract(command, explain.replay.contract);
  AddCache(command, explain.replay.campaign.cache, "choose the best candidates by rows measured in this cache state");
  AddValue(command, "--run", options->run, "FILE", "a profile of what the framework ran");
  AddValue(command, "--framework", explain.framework, "F",
           "the framework whose stored run is used if no --run is given")
      ->capture_default_str();
  command->add_flag("--heuristic", explain.heuristic, "level 1 by what the libraries pick, whatever runs there are")
      ->excludes("--run");
  command
      ->add_flag("--rivals", explain.rivals,
                 "level 1 by the next best known candidates, with other regions, where they take little longer")
      ->excludes("--run")
      ->excludes("--heuristic");
  AddBudget(command, explain.budget);
  AddValue(command, "--seed", explain.seed, "N", "of the random design")->capture_default_str();
  AddBackend(command, explain.replay.campaign.backend, options->backend_options);
  AddValue(command, "--python", explain.replay.python, "PATH", "the Python with ONNX Runtime");
  command->add_flag("!--no-regions", explain.replay.regions, "single layers only, no measured regions");
  AddValue(command, "--keep", options->keep, "DIR", "keep schedule, tensors and result in this folder");
  CLI::Option* switches = AddValue(command, "--switches", explain.switches, "F",
                                   "switch this framework's own optimizations: onnxruntime, pytorch")
                              ->check(HasSwitches);
  for (const char* of_replays :
       {"--contract", "--cache", "--run", "--framework", "--heuristic", "--rivals", "--no-regions", "--keep"})
    switches->excludes(of_replays);
  AddValue(command, "--module", explain.module, "M",
           "of PyTorch, what the ONNX file was exported from: models.py:resnet50, PACKAGE.MODULE:NAME or FILE.pt2")
      ->needs(switches);
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunExplain(*options); });
}

}  // namespace infimum::cli
