#include "src/app/commands/bench/emitted_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "infimum/base/text.h"
#include "reports/text/fact_text.h"
#include "src/app/processes/child_process.h"
#include "src/readers/read_results.h"

namespace infimum {
namespace {

// The last of what a step said is in its error.
constexpr std::size_t kMostLines = 8;

Status RunStep(const std::string& step, const std::vector<std::string>& arguments,
               const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  ProcessRequest request;
  request.arguments = arguments;
  request.environment = environment;
  std::vector<std::string> last;
  const auto keep = [&](std::string_view line) -> Status {
    last.emplace_back(line);
    if (last.size() > kMostLines) last.erase(last.begin());
    return {};
  };
  INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end,
                           RunProcess(request, keep, [&](std::string_view line) { (void)keep(line); }));
  if (end.interrupted) return Error{"interrupted"};
  if (end.exit_code == 0) return {};
  return Error{fmt::format("{}: {} {}{}{}", step, request.arguments[0],
                           end.how.empty() ? fmt::format("ended with {}", end.exit_code) : end.how,
                           last.empty() ? "" : ": ", Join(last, " | "))};
}

Result<EmittedRun> Import(const std::filesystem::path& results, const EmittedRequest& request, Store& store) {
  EmittedRun run;
  INFIMUM_ASSIGN_OR_RETURN(const std::string key, CampaignKeyOf(results));
  INFIMUM_ASSIGN_OR_RETURN(const auto import, store.BeginImport({key, "infimum bench --emitted"}));
  ResultsTaker taker;
  taker.rows = [&](const Device& device, const Environment& environment, std::span<const Measurement> rows,
                   std::span<const PeakRate>) {
    run.rows.insert(run.rows.end(), rows.begin(), rows.end());
    std::vector<Measurement> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept), request.keeps);
    return import->Add(device, environment, kept, {});
  };
  INFIMUM_RETURN_IF_ERROR(ReadResultsFile(results, taker));
  INFIMUM_ASSIGN_OR_RETURN(run.kept, import->Commit());
  return run;
}

}  // namespace

Result<EmittedRun> RunEmitted(const Installation& installation, const EmittedProject& project,
                              const EmittedRequest& request, Store& store, ProgressLog& log) {
  for (const LeftOut& left : project.left_out) log.Say(fmt::format("not emitted: '{}': {}", left.what, left.reason));
  const std::filesystem::path build = request.folder / "build";
  INFIMUM_RETURN_IF_ERROR(WriteProject(project, request.folder));
  log.Say(fmt::format("{}: compiling {}", request.folder.string(), CountText(project.layers, "source")));
  const std::string cmake = installation.CMake()[0];
  std::vector<std::string> configure = installation.CMake();
  configure.insert(configure.end(), {"-S", request.folder.string(), "-B", build.string()});
  INFIMUM_RETURN_IF_ERROR(RunStep("configuring the emitted project", configure));
  INFIMUM_RETURN_IF_ERROR(RunStep("compiling the emitted project", {cmake, "--build", build.string()}));
  const std::filesystem::path results = request.folder / "results.json";
  std::vector<std::string> program{(build / (request.library + "_benchmarks")).string(),
                                   "--benchmark_out=" + results.string(), "--benchmark_out_format=json"};
  program.insert(program.end(), request.arguments.begin(), request.arguments.end());
  log.Say(fmt::format("{}: running", program[0]));
  INFIMUM_RETURN_IF_ERROR(
      RunStep("running the emitted program", program,
              {{"OMP_NUM_THREADS", std::to_string(request.threads)}, {"INFIMUM_DEVICE", request.device}}));
  INFIMUM_ASSIGN_OR_RETURN(EmittedRun run, Import(results, request, store));
  const std::size_t left_out = static_cast<std::size_t>(std::ranges::count_if(run.rows, std::not_fn(request.keeps)));
  log.Say(fmt::format(
      "{}: {} added, {} known{}", results.string(), CountText(static_cast<std::size_t>(run.kept.added), "row"),
      run.kept.known,
      left_out == 0 ? "" : fmt::format("; {} left out, which the runner has not measured and checked", left_out)));
  return run;
}

}  // namespace infimum
