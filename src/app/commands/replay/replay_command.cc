// infimum replay MODEL: the demonstrated run R of the best candidates that the store knows.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "infimum/base/quantity_text.h"
#include "reports/text/fact_text.h"
#include "src/app/command.h"
#include "src/app/commands/replay/replay.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

constexpr std::size_t kSlowestShown = 8;

struct ReplayCommandOptions {
  std::string model;
  DimOptions dims;
  ReplayOptions replay;
  std::vector<std::string> backend_options;
  std::string keep;
  std::string schedule;
  std::string output = "-";
  ProgressLogOptions log;
};

CompositionError ErrorOf(const ReplayResult& result) {
  return {result.composition_error(CacheState::kWarm), result.composition_error(CacheState::kColdWeights),
          result.share_near()};
}

// Why R is held against its parts in that cache state.
std::string WhyThatState(const ReplayResult& result) {
  const std::string_view come =
      result.cache_of_weights() == CacheState::kWarm ? "stay in the caches" : "come from memory";
  if (result.resident_share) {
    return fmt::format("{}: of {} that an inference goes through the caches keep {}", come,
                       BytesText(result.constants() + result.arena), PercentText(*result.resident_share));
  }
  if (result.last_level_cache.value == 0) return "taken to stay in the caches, whose size is not known";
  return fmt::format("{}: {} of weights, {} of cache", come, BytesText(result.constants()),
                     BytesText(result.last_level_cache));
}

std::string Describe(const Replay& replay) {
  const ReplayResult& result = replay.result;
  const auto reorders = static_cast<std::size_t>(
      std::count_if(result.parts.begin(), result.parts.end(), [](const ReplayPart& part) { return part.is_reorder; }));
  Latency reordering{0};
  for (const ReplayPart& part : result.parts) reordering += part.is_reorder ? part.alone : Latency{0};
  std::string text = result.noisy.empty()
                         ? fmt::format("  R (demonstrated)    {}\n", FormatLatency(result.demonstrated()))
                         : fmt::format("  R (demonstrated)    noisy, kept as no time of the model: {}\n", result.noisy);
  text += fmt::format(
      "  sum of its parts    each alone {} with warm caches, {} with weights from memory; {} as they take\n"
      "                      between their neighbours\n",
      FormatLatency(result.sum_alone(CacheState::kWarm)), FormatLatency(result.sum_alone(CacheState::kColdWeights)),
      FormatLatency(result.sum_in_loop()));
  text += fmt::format("  composition error   R is {}\n", CompositionText(ErrorOf(result)));
  text += fmt::format("  weights             {}\n", WhyThatState(result));
  text += fmt::format("  parts               {} steps, {} changes of layout ({})\n", result.parts.size() - reorders,
                      reorders, FormatLatency(reordering));
  text += fmt::format("  memory              {:.1f} MiB of weights, {:.1f} MiB for all intermediates\n",
                      static_cast<double>(result.weights.value) / (1 << 20),
                      static_cast<double>(result.arena.value) / (1 << 20));
  const std::optional<std::string> fault = result.FirstFault();
  if (fault) return text + fmt::format("  NOT VERIFIED        {}\n", *fault);
  for (const ReplayOutput& output : result.outputs) {
    text += fmt::format("  verified            output {}: error {:.2g} of its largest element, {:.2g} allowed\n",
                        output.name, output.error, output.tolerance);
  }
  std::vector<const ReplayPart*> parts;
  for (const ReplayPart& part : result.parts) parts.push_back(&part);
  std::stable_sort(parts.begin(), parts.end(), [](const ReplayPart* a, const ReplayPart* b) {
    return a->in_loop - a->alone > b->in_loop - b->alone;
  });
  text += "  slower in the loop than alone:\n";
  for (std::size_t i = 0; i < std::min(kSlowestShown, parts.size()); ++i) {
    const ReplayPart& part = *parts[i];
    if (part.in_loop <= part.alone) break;
    text += fmt::format("    {:<40} {:<44} alone {}, in the loop {}\n", part.name, part.candidate,
                        FormatLatency(part.alone), FormatLatency(part.in_loop));
  }
  return text;
}

Result<int> RunReplay(const ReplayCommandOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  ProgressLog log = options.log.Make();
  ReplayOptions replay = options.replay;
  replay.model = options.model;
  replay.keep = options.keep;
  INFIMUM_ASSIGN_OR_RETURN(replay.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(replay.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  if (!options.schedule.empty()) {
    INFIMUM_RETURN_IF_ERROR(CheckWritable(options.schedule));
    INFIMUM_ASSIGN_OR_RETURN(const std::string schedule, ScheduleText(replay));
    INFIMUM_RETURN_IF_ERROR(WriteOutput(options.schedule, schedule));
    return kDone;
  }
  INFIMUM_ASSIGN_OR_RETURN(const Replay done, ReplayModel(replay, log));
  INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, Describe(done)));
  if (const std::optional<std::string> fault = done.result.FirstFault()) return Error{"wrong numbers: " + *fault};
  if (!done.result.noisy.empty())
    log.Warn("the run is noisy and stands in no bound: replay again while the machine is quiet");
  return kDone;
}

}  // namespace

void AddReplayCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ReplayCommandOptions>();
  options->replay.campaign.budget = std::chrono::minutes(1);
  CLI::App* command =
      NewCommand(app, "replay", "the demonstrated run R: a model's best known candidates, executed in sequence",
                 "Takes each layer's best candidate from the store (`infimum analyze` measures them), runs the whole "
                 "model with real\n"
                 "weights and buffers, compares every step with a reference and the outputs with ONNX Runtime's, and "
                 "keeps R in\n"
                 "the store, where bounds find it. Where R finds its weights in memory, what decides the bound is "
                 "measured so as\n"
                 "well, within --budget: `infimum bound --cache cold-weights` then has rows.",
                 "infimum replay resnet50.onnx --dim batch=1 --db infimum.db");
  AddModel(command, options->model);
  AddDims(command, options->dims);
  AddDatabase(command, options->replay.database);
  AddThreads(command, options->replay.campaign.threads);
  AddContract(command, options->replay.contract);
  AddCache(command, options->replay.campaign.cache, "choose the best candidates by rows measured in this cache state");
  AddBudget(command, options->replay.campaign.budget);
  AddBackend(command, options->replay.campaign.backend, options->backend_options);
  AddDeviceHere(command, options->replay.campaign.backend);
  AddValue(command, "--python", options->replay.python, "PATH", "the Python with ONNX Runtime");
  AddValue(command, "--repetitions", options->replay.rounds, "N", "processes")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_flag("!--no-regions", options->replay.regions, "single layers only, no measured regions");
  AddValue(command, "--keep", options->keep, "DIR", "keep schedule, tensors and result in this folder");
  AddValue(command, "--schedule", options->schedule, "FILE",
           "only write the schedule, for a machine that has nothing but a runner:\n"
           "infimum-microbench-NAME --replay FILE --results JOURNAL");
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunReplay(*options); });
}

}  // namespace infimum::cli
