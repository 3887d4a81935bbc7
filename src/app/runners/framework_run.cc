#include "src/app/runners/framework_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "src/app/processes/child_process.h"
#include "src/app/processes/temporary_folder.h"
#include "src/app/runners/tensorrt_run.h"
#include "src/core/graph/framework_names.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/readers/profiles/run_file.h"

namespace infimum {
namespace {

Result<RunProfile> MeasureByScript(const Installation& installation, const std::filesystem::path& model,
                                   const FrameworkOptions& options, ProgressLog& log);

Result<RunProfile> MeasureByTrtexec(const Installation&, const std::filesystem::path& model,
                                    const FrameworkOptions& options, ProgressLog& log) {
  return MeasureTensorRt(model, options, log);
}

// What changes how a framework runs.
struct FrameworkOption {
  std::string_view name;
  std::vector<std::string_view> values = {};  // empty: numbers, several of them with commas between them
};

// A framework that can be measured.
struct Framework {
  std::string_view name;
  std::vector<std::string_view> modes = {};
  std::vector<FrameworkOption> options = {};
  bool takes_module = false;   // in place of the ONNX file
  bool keeps_16_bits = false;  // of a model in wider types, where it is asked to
  bool keeps_8_bits = false;   // likewise
  Result<RunProfile> (*measure)(const Installation&, const std::filesystem::path&, const FrameworkOptions&,
                                ProgressLog&) = MeasureByScript;
};

const std::vector<Framework>& Frameworks() {
  static const std::vector<Framework> frameworks = {
      {.name = framework::kOnnxRuntime,
       .options = {{"cores"}, {"optimization", {"all", "extended", "basic", "disabled"}}, {"seed"}}},
      {.name = framework::kOpenVino, .options = {{"cores"}, {"seed"}}, .keeps_16_bits = true},
      {.name = framework::kPyTorch,
       .modes = {"eager", "compiled", "cuda-graph"},
       .options = {{"cores"}, {"seed"}},
       .takes_module = true,
       .keeps_16_bits = true},
      {.name = framework::kTensorRt,
       .modes = {"cuda-graph"},
       .keeps_16_bits = true,
       .keeps_8_bits = true,
       .measure = MeasureByTrtexec},
  };
  return frameworks;
}

std::string Listed(const std::vector<std::string_view>& names) {
  return Join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

Status CheckOption(const Framework& framework, const std::string& name, const std::string& value) {
  const auto option = std::ranges::find(framework.options, name, &FrameworkOption::name);
  if (option == framework.options.end()) {
    std::vector<std::string_view> known;
    for (const FrameworkOption& one : framework.options) known.push_back(one.name);
    return Error{fmt::format("{} has no option {}{}; there are: {}", framework.name, Quoted(name),
                             DidYouMean(name, known), Listed(known))};
  }
  if (option->values.empty()) {
    std::set<std::int64_t> numbers;
    for (const std::string_view text : Split(value, ',')) {
      const std::optional<std::int64_t> number = ParseInteger(text);
      if (!number || *number < 0 || *number > INT32_MAX)
        return Error{fmt::format("{} of {}: {} is no number", name, framework.name, Quoted(text))};
      if (!numbers.insert(*number).second)
        return Error{fmt::format("{} of {}: {} is there twice", name, framework.name, Quoted(text))};
    }
  } else if (std::ranges::find(option->values, value) == option->values.end()) {
    return Error{fmt::format("{} of {}: there is no {}{}; there are: {}", name, framework.name, Quoted(value),
                             DidYouMean(value, option->values), Listed(option->values))};
  }
  return {};
}

Status CheckMode(const Framework& framework, const FrameworkOptions& options) {
  if (options.mode.empty()) return {};
  if (framework.modes.empty()) return Error{fmt::format("--mode {}: {} has none", options.mode, framework.name)};
  if (std::ranges::find(framework.modes, options.mode) == framework.modes.end())
    return Error{fmt::format("--mode {}: {} has no such mode{}; there {}: {}", Quoted(options.mode), framework.name,
                             DidYouMean(options.mode, framework.modes), framework.modes.size() == 1 ? "is" : "are",
                             Listed(framework.modes))};
  return {};
}

// Whether the framework can keep a contract that the model's own types do not ask for.
bool Converts(const Framework& framework, const FrameworkOptions& options) {
  if (options.contract != NumericContract::kStrictF32) return false;
  switch (options.kept_contract()) {
    case NumericContract::kTf32:
      return options.device == DeviceKind::kGpu;
    case NumericContract::kF16:
    case NumericContract::kBf16:
      return framework.keeps_16_bits;
    case NumericContract::kInt8:
    case NumericContract::kFp8:
      return framework.keeps_8_bits;
    case NumericContract::kStrictF32:
      break;
  }
  return true;
}

Status CheckContract(const Framework& framework, const FrameworkOptions& options) {
  if (options.kept_contract() == options.contract || Converts(framework, options)) return {};
  return Error{
      fmt::format("--contract {}: {} computes on this device in the model's own types, which are {}; convert the model",
                  Name(options.kept_contract()), options.framework, Name(options.contract))};
}

// "progress 2 4 process 3 of 3, no profiler": the third of four stages has begun.
bool ShowProgress(std::string_view line, const std::string& what, ProgressLog& log) {
  const std::vector<std::string_view> words = Split(line, ' ');
  if (words.size() < 3 || words[0] != "progress") return false;
  const auto done = ParseInteger(words[1]);
  const auto total = ParseInteger(words[2]);
  if (!done || !total) return false;
  const std::size_t begin = words[0].size() + words[1].size() + words[2].size() + 3;
  const std::string stage(begin < line.size() ? line.substr(begin) : "");
  log.Progress(stage.empty() ? what : what + ", " + stage, *done, *total, std::nullopt);
  return true;
}

std::vector<std::string> ScriptArguments(const std::vector<std::filesystem::path>& models,
                                         const FrameworkOptions& options) {
  std::vector<std::string> arguments;
  for (const std::filesystem::path& model : models) arguments.push_back(std::filesystem::absolute(model).string());
  arguments.insert(arguments.end(),
                   {"--device", options.device == DeviceKind::kCpu ? "cpu" : "cuda", "--contract",
                    std::string(Name(options.kept_contract())), "--threads", std::to_string(options.threads),
                    "--repetitions", std::to_string(options.repetitions), "--seconds",
                    fmt::format("{:.3f}", std::chrono::duration<double>(options.sampling).count())});
  const auto add = [&arguments](const char* name, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {name, value});
  };
  add("--module", options.module);
  add("--mode", options.mode);
  add("--keep-profile", options.profile.string());
  if (!options.inputs.empty()) add("--inputs", std::filesystem::absolute(options.inputs).string());
  if (!options.layers) arguments.emplace_back("--no-layers");
  if (options.memory) add("--memory-limit", std::to_string(options.memory->value));
  for (const auto& [name, value] : options.options) add(("--" + name).c_str(), value);
  for (const auto& [name, extent] : options.dims)
    if (!IsQuantity(name) || name == kCachePositions || KindOfQuantity(name) == kIfThen)
      add("--dim", fmt::format("{}={}", name, extent));
  return arguments;
}

// What the script writes about one model, or about several; files that it names lie in `folder`.
Result<std::string> RunMeasureScript(const Installation& installation, const std::vector<std::filesystem::path>& models,
                                     const FrameworkOptions& options, const std::filesystem::path& folder,
                                     ProgressLog& log) {
  ScriptRun script{.framework = options.framework,
                   .python = options.python,
                   .arguments = ScriptArguments(models, options),
                   .budget = options.budget,
                   .what = "measuring " + options.framework,
                   .most = options.most,
                   .failure = options.failure};
  // Without the runner there are no beats.
  if (options.device == DeviceKind::kCpu)
    if (const Result<std::filesystem::path> runner = installation.Runner("onednn"); runner.ok())
      script.arguments.insert(script.arguments.end(), {"--metronome", runner->string()});
  script.arguments.insert(script.arguments.end(), {"--work-directory", folder.string()});
  return RunScript(installation, script, folder, log);
}

Result<RunProfile> MeasureByScript(const Installation& installation, const std::filesystem::path& model,
                                   const FrameworkOptions& options, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  INFIMUM_ASSIGN_OR_RETURN(const std::string text,
                           RunMeasureScript(installation, {model}, options, folder.path(), log));
  std::istringstream run(text);
  return ReadRun(run, options.framework + " run");
}

// By how its process ended, or by the words of frameworks and of Python for it.
FrameworkFailure FailureOf(const ProcessEnd& end, std::string_view complaint) {
  struct Words {
    std::string_view text;
    FrameworkFailure failure;
  };
  constexpr Words kWords[] = {{"bad_alloc", FrameworkFailure::kOutOfMemory},
                              {"MemoryError", FrameworkFailure::kOutOfMemory},
                              {"Failed to allocate memory", FrameworkFailure::kOutOfMemory},
                              {"out of memory", FrameworkFailure::kOutOfMemory},
                              {"can't allocate memory", FrameworkFailure::kOutOfMemory},
                              {"NOT_IMPLEMENTED", FrameworkFailure::kUnsupported},
                              {"Unsupported type", FrameworkFailure::kUnsupported}};
  if (end.given_up) return FrameworkFailure::kTimeout;
  if (end.out_of_memory) return FrameworkFailure::kOutOfMemory;
  const auto* const found = std::ranges::find_if(
      kWords, [&](const Words& words) { return complaint.find(words.text) != std::string_view::npos; });
  return found == std::end(kWords) ? FrameworkFailure::kNone : found->failure;
}

// What the options say of a run, where the framework does not.
void AddStated(const FrameworkOptions& options, RunProfile& run) {
  if (run.contract.empty()) run.contract = Name(options.kept_contract());
  for (const auto& [name, extent] : options.dims)
    if (IsQuantity(name)) run.dims[name] = extent;
  run.settings["seconds"] = fmt::format("{:g}", std::chrono::duration<double>(options.sampling).count());
}

// A run on another GPU than the one that it would be kept under is none.
Status CheckDevice(const RunProfile& run, const FrameworkOptions& options) {
  for (const char* setting : {"gpu", "device_name"}) {
    const auto found = run.settings.find(setting);
    if (found == run.settings.end() || options.device_name.empty() || found->second == options.device_name) continue;
    return Error{"it ran on " + found->second};
  }
  return {};
}

}  // namespace

std::vector<InputShape> InputShapesOf(const ModelGraph& graph) {
  std::vector<InputShape> inputs;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    if (value.shape) inputs.push_back({value.name, *value.shape});
  }
  return inputs;
}

Status CheckFrameworkChoice(const FrameworkOptions& options) {
  const auto found = std::ranges::find(Frameworks(), options.framework, &Framework::name);
  if (found == Frameworks().end()) {
    std::vector<std::string_view> known;
    for (const Framework& one : Frameworks()) known.push_back(one.name);
    return Error{fmt::format("unknown framework {}{}; there are: {}", Quoted(options.framework),
                             DidYouMean(options.framework, known), Listed(known))};
  }
  if (found->takes_module && options.module.empty())
    return Error{
        "pytorch runs a module, not an ONNX file: --module names the one that the model was exported from, as "
        "FILE.py:FUNCTION, PACKAGE.MODULE:FUNCTION, FILE.pt2 (torch.export) or FILE.pt (torch.jit)"};
  if (!found->takes_module && !options.module.empty()) return Error{"--module applies to pytorch only"};
  if (found->measure != MeasureByScript && !options.inputs.empty())
    return Error{fmt::format("--inputs: {} makes up its inputs itself", options.framework)};
  for (const auto& [name, value] : options.options) INFIMUM_RETURN_IF_ERROR(CheckOption(*found, name, value));
  return CheckMode(*found, options);
}

Result<std::vector<FrameworkOptions>> ChooseFrameworks(const std::vector<std::string>& names,
                                                       const FrameworkOptions& shared) {
  std::vector<FrameworkOptions> chosen;
  const auto choose = [&](std::string_view name) -> Status {
    if (std::ranges::find(chosen, name, &FrameworkOptions::framework) != chosen.end()) return {};
    FrameworkOptions& one = chosen.emplace_back(shared);
    one.framework = name;
    const auto found = std::ranges::find(Frameworks(), name, &Framework::name);
    if (found != Frameworks().end() && !found->takes_module) one.module = one.mode = "";
    return CheckFrameworkChoice(one);
  };
  for (const std::string& name : names) {
    if (name == "none" && names.size() == 1) return chosen;
    if (name != "all") {
      INFIMUM_RETURN_IF_ERROR(choose(name));
      continue;
    }
    for (const Framework& one : Frameworks())
      if (!NeedsGpu(one.name) && (!one.takes_module || !shared.module.empty()))
        INFIMUM_RETURN_IF_ERROR(choose(one.name));
  }
  const auto takes = [&](const FrameworkOptions& one) {
    return one.module == shared.module && one.mode == shared.mode;
  };
  if (std::ranges::none_of(chosen, takes))
    return Error{"--module and --mode apply to pytorch only, which --framework does not name"};
  return chosen;
}

Status CheckFramework(const FrameworkOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckFrameworkChoice(options));
  const auto found = std::ranges::find(Frameworks(), options.framework, &Framework::name);
  const bool needs_gpu = NeedsGpu(found->name);
  if (options.device == DeviceKind::kCpu && (needs_gpu || options.mode == "cuda-graph"))
    return Error{needs_gpu ? fmt::format("{} runs on GPUs alone: --backend cuda", options.framework)
                           : std::string("--mode cuda-graph needs a GPU: --backend cuda")};
  return CheckContract(*found, options);
}

Result<std::string> RunScript(const Installation& installation, const ScriptRun& script,
                              const std::filesystem::path& folder, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const std::filesystem::path file,
                           installation.FrameworkScript(script.framework, script.task));
  const std::filesystem::path output = folder / "answer.json";
  ProcessRequest request;
  request.arguments = {installation.Python(script.python), file.string()};
  request.arguments.insert(request.arguments.end(), script.arguments.begin(), script.arguments.end());
  request.arguments.insert(request.arguments.end(), {"--output", output.string()});
  request.budget = script.budget;
  request.most = script.most;
  std::string complaint;
  const auto take_error = [&](std::string_view line) {
    if (ShowProgress(line, script.what, log)) return;
    log.Detail(line);
    if (!TrimSpace(line).empty()) complaint = std::string(TrimSpace(line));
  };
  INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end, RunProcess(
                                                     request, [](std::string_view) { return Status(); }, take_error));
  log.EndProgress();
  if (end.interrupted) return Error{"interrupted while " + script.what};
  if (script.failure != nullptr) *script.failure = FailureOf(end, complaint);
  if (end.given_up || end.exit_code > 128) return Error{"its process " + end.how};
  if (end.exit_code != 0) {
    constexpr std::string_view kErrorLead = "infimum: error: ";
    if (complaint.starts_with(kErrorLead)) complaint.erase(0, kErrorLead.size());
    return Error{complaint.empty() ? fmt::format("exit code {}", end.exit_code) : complaint};
  }
  return ReadFile(output);
}

Result<RunProfile> MeasureFramework(const Installation& installation, const std::filesystem::path& model,
                                    const FrameworkOptions& options, ProgressLog& log) {
  INFIMUM_RETURN_IF_ERROR(CheckFramework(options));
  log.Say(fmt::format("measuring {}: {} process{} of {:.3g} s after a warm-up{}", options.framework,
                      options.repetitions, options.repetitions == 1 ? "" : "es",
                      std::chrono::duration<double>(options.sampling).count(),
                      options.layers ? ", then the layers under the profiler" : ""));
  const Framework& known = *std::ranges::find(Frameworks(), options.framework, &Framework::name);
  Result<RunProfile> run = known.measure(installation, model, options, log);
  const Status same = run ? CheckDevice(*run, options) : Status(run.error());
  if (!same) {
    if (same.error().message.starts_with("interrupted")) return same.error();
    const std::string where = options.device_name.empty() ? "" : " on " + options.device_name;
    return Error{fmt::format("{} could not be measured{}: {}", options.framework, where, same.error().message)};
  }
  AddStated(options, *run);
  return run;
}

Result<std::vector<Result<RunProfile>>> MeasureInTurn(const Installation& installation,
                                                      const std::vector<std::filesystem::path>& models,
                                                      const FrameworkOptions& options, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, RunMeasureScript(installation, models, options, folder.path(), log));
  nlohmann::json answer = nlohmann::json::parse(text, nullptr, false);
  // Of one model the run alone.
  if (models.size() == 1) answer = {{"runs", nlohmann::json::array({answer})}};
  if (!answer.is_object() || !answer.contains("runs") || answer["runs"].size() != models.size())
    return Error{options.framework + " could not be measured: its script wrote no list of runs"};
  std::vector<Result<RunProfile>> runs;
  for (const nlohmann::json& one : answer["runs"]) {
    if (one.contains("failed")) {
      runs.emplace_back(Error{one["failed"].get<std::string>()});
      continue;
    }
    std::istringstream run(one.dump());
    runs.push_back(ReadRun(run, options.framework + " run"));
    if (runs.back().ok()) AddStated(options, *runs.back());
  }
  return runs;
}

}  // namespace infimum
