#include "src/app/runners/tensorrt_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "infimum/base/enum_names.h"
#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "src/app/processes/child_process.h"
#include "src/app/processes/temporary_folder.h"
#include "src/core/graph/framework_names.h"
#include "src/readers/profiles/tensorrt/tensorrt_engine.h"

namespace infimum {
namespace {

using Path = std::filesystem::path;

// The reader leaves out what began in these first 200 ms, trtexec's own default.
constexpr const char* kWarmUpMilliseconds = "200";

Result<Path> FindTrtexec() {
  const char* const listed = std::getenv("PATH");
  std::vector<Path> folders;
  const std::string_view folders_text = listed == nullptr ? "" : listed;
  for (const std::string_view folder : Split(folders_text, ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  folders.emplace_back("/usr/src/tensorrt/bin");  // where TensorRT's packages have it
  for (const Path& folder : folders) {
    const Path path = folder / "trtexec";
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0) return path;
  }
  return Error{
      "trtexec is not on the PATH; it comes with TensorRT's packages (in /usr/src/tensorrt/bin), its archive (in bin) "
      "and NVIDIA's container, not with pip"};
}

// "[11/23/2026-08:00:00] [E] Error[4]: no such operator" from its fourth word.
std::string MessageOf(std::string_view line, std::string_view mark) {
  return std::string(TrimSpace(line.substr(line.find(mark) + mark.size())));
}

constexpr EnumNames<NumericContract::kFp8> kFlags = {"--noTF32", "", "--fp16", "--bf16", "--int8", "--fp8"};

class TensorRtRun {
 public:
  TensorRtRun(Path trtexec, Path folder, const FrameworkOptions& options, ProgressLog& log)
      : trtexec_(std::move(trtexec)), folder_(std::move(folder)), options_(options), log_(log) {}

  Result<RunProfile> Measure(const Path& model) {
    INFIMUM_RETURN_IF_ERROR(Build(model));
    RunProfile run;
    for (std::int64_t i = 0; i < options_.repetitions; ++i) {
      const Path times = folder_ / fmt::format("times-{}.json", i);
      std::vector<std::string> arguments = InferenceArguments();
      arguments.push_back("--exportTimes=" + times.string());
      INFIMUM_RETURN_IF_ERROR(
          Call(fmt::format("process {} of {}, no profiler", i + 1, options_.repetitions), i + 1, std::move(arguments)));
      INFIMUM_ASSIGN_OR_RETURN(RunProfile part, ReadTensorRtEngine(TensorRtFiles{{}, {}, times, {}}));
      TakeTimes(std::move(part), run);
    }
    const TensorRtFiles layers{folder_ / "layers.json", folder_ / "profile.json", {}, {}};
    std::vector<std::string> arguments = InferenceArguments();
    arguments.push_back("--exportLayerInfo=" + layers.layer_info->string());
    arguments.push_back("--exportProfile=" + layers.profile->string());
    arguments.push_back("--profilingVerbosity=detailed");
    INFIMUM_RETURN_IF_ERROR(Call("one process under the profiler", options_.repetitions + 1, std::move(arguments)));
    INFIMUM_ASSIGN_OR_RETURN(RunProfile profiled, ReadTensorRtEngine(layers));
    run.layers = std::move(profiled.layers);
    run.settings.merge(profiled.settings);
    run.warnings.insert(run.warnings.end(), profiled.warnings.begin(), profiled.warnings.end());
    return Named(std::move(run), model);
  }

  // What the user may look at later, or give to infimum compare.
  Status Keep(const Path& into) const {
    std::error_code error;
    std::filesystem::create_directories(into, error);
    for (const auto& [from, to] : {std::pair{"layers.json", "layers.json"}, std::pair{"profile.json", "profile.json"},
                                   std::pair{"times-0.json", "times.json"}}) {
      if (!error)
        std::filesystem::copy_file(folder_ / from, into / to, std::filesystem::copy_options::overwrite_existing, error);
    }
    if (error) return Error{fmt::format("{}: cannot be written: {}", into.string(), error.message())};
    return {};
  }

 private:
  Status Build(const Path& model) {
    std::string help;
    const auto take = [&help](std::string_view line) -> Status {
      help.append(line).push_back('\n');
      return {};
    };
    ProcessRequest request;
    request.arguments = {trtexec_.string(), "--help"};
    INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end, RunProcess(request, take));
    if (end.interrupted) return Error{"interrupted while TensorRT was measured"};
    std::vector<std::string> arguments = {"--onnx=" + std::filesystem::absolute(model).string(),
                                          "--saveEngine=" + Engine(), "--skipInference",
                                          "--profilingVerbosity=detailed"};
    const std::string flag(kFlags[options_.kept_contract()]);
    if (flag.empty() || help.find(flag) != std::string::npos) {
      flags_ = flag;
      if (!flag.empty()) arguments.push_back(flag);
    } else if (options_.kept_contract() != options_.contract) {
      return Error{fmt::format(
          "this trtexec has no {}: since version 11 TensorRT computes as the model's types say; convert the model "
          "(python -m modelopt.onnx.autocast) and leave --contract out",
          flag)};
    }
    AddShapes(arguments);
    return Call("building the engine", 0, std::move(arguments));
  }

  std::string Engine() const { return (folder_ / "model.engine").string(); }

  // Of a model without symbolic dimensions trtexec refuses them.
  void AddShapes(std::vector<std::string>& arguments) const {
    if (options_.dims.empty()) return;
    std::vector<std::string> shapes;
    for (const InputShape& input : options_.input_shapes)
      if (input.shape.rank() > 0) shapes.push_back(fmt::format("{}:{}", input.name, Format(input.shape)));
    if (!shapes.empty()) arguments.push_back("--shapes=" + Join(shapes, ","));
  }

  std::vector<std::string> InferenceArguments() const {
    const double seconds = std::chrono::duration<double>(options_.sampling).count();
    std::vector<std::string> arguments = {"--loadEngine=" + Engine(), fmt::format("--warmUp={}", kWarmUpMilliseconds),
                                          fmt::format("--duration={}", std::max(1.0, std::ceil(seconds))),
                                          "--noDataTransfers", "--useSpinWait"};
    if (options_.mode == "cuda-graph") arguments.push_back("--useCudaGraph");
    AddShapes(arguments);
    return arguments;
  }

  Status Call(const std::string& stage, std::int64_t done, std::vector<std::string> arguments) {
    log_.Progress("measuring tensorrt, " + stage, done, options_.repetitions + 2, std::nullopt);
    ProcessRequest request;
    request.arguments = std::move(arguments);
    request.arguments.insert(request.arguments.begin(), trtexec_.string());
    request.budget = options_.budget;
    std::string complaint;
    const auto take = [&](std::string_view line) {
      log_.Detail(line);
      if (complaint.empty() && line.find("[E] ") != line.npos) complaint = MessageOf(line, "[E] ");
      if (line.find("Selected Device: ") != line.npos) device_ = MessageOf(line, "Selected Device: ");
      if (line.find("TensorRT version: ") != line.npos) version_ = MessageOf(line, "TensorRT version: ");
    };
    const auto take_output = [&take](std::string_view line) -> Status {
      take(line);
      return {};
    };
    INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end, RunProcess(request, take_output, take));
    if (end.interrupted) return Error{"interrupted while TensorRT was measured"};
    if (end.given_up || end.exit_code > 128) return Error{fmt::format("trtexec, {}: it {}", stage, end.how)};
    if (end.exit_code == 0) return {};
    if (complaint.empty() && !end.last_errors.empty()) complaint = std::string(TrimSpace(end.last_errors.back()));
    if (complaint.empty()) complaint = fmt::format("exit code {}", end.exit_code);
    return Error{fmt::format("trtexec, {}: {}", stage, complaint)};
  }

  static void TakeTimes(RunProfile part, RunProfile& run) {
    for (RunRepetition& repetition : part.end_to_end) run.end_to_end.push_back(std::move(repetition));
    run.settings.merge(part.settings);  // of the first process, where they differ
    run.warnings.insert(run.warnings.end(), part.warnings.begin(), part.warnings.end());
  }

  Result<RunProfile> Named(RunProfile run, const Path& model) const {
    if (run.end_to_end.empty()) return Error{"trtexec wrote no times"};
    run.framework = framework::kTensorRt;
    run.framework_version = version_;
    run.model_name = model.stem().string();
    run.model_sha256 = Sha256OfFile(model).value_or("");
    run.dims = options_.dims;
    run.threads = options_.threads;
    run.settings["warm_up"] = fmt::format("{} ms", kWarmUpMilliseconds);
    run.settings["data_transfers"] = "Disabled";
    run.settings["precision"] = flags_.empty() ? "the model's own types" : flags_;
    if (!device_.empty()) run.settings["device_name"] = device_;
    if (!options_.mode.empty()) run.settings["mode"] = options_.mode;
    // Without the flag TensorRT may round the operands of f32 products.
    if (options_.kept_contract() == NumericContract::kStrictF32 && flags_.empty()) {
      run.contract = Name(NumericContract::kTf32);
      run.warnings.push_back("this trtexec has no --noTF32: the run counts under the contract tf32");
    }
    return run;
  }

  Path trtexec_;
  Path folder_;
  const FrameworkOptions& options_;
  ProgressLog& log_;
  std::string flags_;
  std::string version_;
  std::string device_;
};

}  // namespace

Result<RunProfile> MeasureTensorRt(const Path& model, const FrameworkOptions& options, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const Path trtexec, FindTrtexec());
  INFIMUM_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  TensorRtRun tensorrt(trtexec, folder.path(), options, log);
  Result<RunProfile> run = tensorrt.Measure(model);
  log.EndProgress();
  if (run && !options.profile.empty()) INFIMUM_RETURN_IF_ERROR(tensorrt.Keep(options.profile));
  return run;
}

}  // namespace infimum
