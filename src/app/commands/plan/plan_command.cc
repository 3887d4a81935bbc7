// infimum plan MODEL...: what is to be measured, as a text that runners take.
#include <fmt/format.h>

#include <memory>

#include "infimum/db/store.h"
#include "infimum/measurement/plan.h"
#include "src/app/command.h"
#include "src/app/models/model_variant.h"
#include "src/app/options.h"
#include "src/app/runners/device_choice.h"
#include "src/planner/planner.h"
#include "src/readers/onnx/read_model.h"

namespace infimum::cli {
namespace {

struct PlanCommandOptions {
  std::vector<std::string> models;
  DimOptions dims;
  std::string database = "infimum.db";
  std::string device;
  CampaignOptions campaign;
  std::vector<std::string> backend_options;
  std::optional<NumericContract> contract;
  bool all = false;
  bool no_regions = false;
  std::string output = "-";
  ProgressLogOptions log;
};

Result<int> RunPlan(const PlanCommandOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  INFIMUM_ASSIGN_OR_RETURN(const auto dims, options.dims.Parse());
  std::vector<ModelGraph> graphs;
  std::optional<NumericContract> selected;
  for (const std::string& model : options.models) {
    INFIMUM_ASSIGN_OR_RETURN(ModelUnder under, ReadModelUnder(model, dims, options.contract));
    if (const Status planned = under.CanBePlanned(); !planned.ok())
      return UsageError(fmt::format("{}: {}", model, planned.error().message));
    if (!graphs.empty() && under.selected != selected)
      return Error{model + ": keeps its own types under --contract, other models do not; plan it separately"};
    selected = under.selected;
    graphs.push_back(std::move(under.graph));
  }
  std::vector<const ModelGraph*> pointers;
  for (const ModelGraph& graph : graphs) pointers.push_back(&graph);
  PlanOptions plan_options;
  plan_options.contract = selected;
  plan_options.regions = !options.no_regions;
  Plan plan = BuildPlan(pointers, plan_options);
  const std::size_t whole = plan.entries.size();

  if (!options.all && StoreExists(options.database)) {
    CampaignOptions campaign = options.campaign;
    INFIMUM_ASSIGN_OR_RETURN(campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
    INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
    Selection selection;
    if (options.device.empty()) {
      // Here a campaign would run with these libraries: rows of older ones leave their layers in the plan.
      INFIMUM_ASSIGN_OR_RETURN(const RunnerDescription here, DescribeRunner(installation, campaign));
      selection.device = here.device.Key();
      selection.environment = here.environment.Key();
    } else {
      INFIMUM_ASSIGN_OR_RETURN(const Device device, ChooseDevice(options.device, installation, campaign, *store));
      selection.device = device.Key();
    }
    selection.threads = campaign.threads;
    selection.cache = campaign.cache;
    selection.contract = selected;
    // Of another device one repetition is data; here a campaign would go on until there are enough.
    SettledRule rule;
    if (!options.device.empty()) rule.repetitions = 1;
    INFIMUM_ASSIGN_OR_RETURN(plan, LeaveOutKnown(std::move(plan), *store, selection, rule));
  }
  INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, Format(plan)));
  options.log.Make().Say(fmt::format("{} configurations, {} of them already in {}", whole, whole - plan.entries.size(),
                                     ShownAddress(options.database)));
  return kDone;
}

}  // namespace

void AddPlanCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PlanCommandOptions>();
  CLI::App* command =
      NewCommand(app, "plan", "the unique layer configurations and fusable regions of models, as a benchmark plan",
                 "One workload a line, layers before regions, largest expected share first; what the store already has "
                 "for this device and "
                 "environment is\n"
                 "left out. Runners (infimum-microbench-*) and `infimum bench` take it, here or on another machine.",
                 "infimum plan resnet50.onnx bert-base.onnx --dim batch=1 --dim sequence=128 -o plan.txt");
  command->add_option("MODEL", options->models, "ONNX files")->required();
  AddDims(command, options->dims);
  AddDatabase(command, options->database);
  AddValue(command, "--device", options->device, "NAME", "a device from the store or a data sheet (default: this one)");
  AddThreads(command, options->campaign.threads);
  AddContract(command, options->contract);
  options->campaign.cache = CacheState::kWarm;
  AddCache(command, options->campaign.cache, "leave out what the store has in this cache state");
  AddBackend(command, options->campaign.backend, options->backend_options);
  command->add_flag("--no-regions", options->no_regions, "single layers only, no fusable regions");
  command->add_flag("--all", options->all, "include what the store already has");
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunPlan(*options); });
}

}  // namespace infimum::cli
