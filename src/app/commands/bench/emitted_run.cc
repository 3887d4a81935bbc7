#include "src/app/commands/bench/emitted_run.h"

#include <fmt/format.h>

#include <fstream>

#include "infimum/base/text.h"
#include "reports/text/quantity_text.h"
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

Result<std::vector<Measurement>> RowsOf(const std::filesystem::path& results) {
  std::vector<Measurement> all;
  ResultsTaker taker;
  taker.rows = [&](const Device&, const Environment&, std::span<const Measurement> rows, std::span<const PeakRate>) {
    all.insert(all.end(), rows.begin(), rows.end());
    return Status();
  };
  std::ifstream input(results, std::ios::binary);
  INFIMUM_RETURN_IF_ERROR(ReadResults(input, results.string(), taker));
  return all;
}

}  // namespace

Result<EmittedRun> RunEmitted(const Installation& installation, const EmittedProject& project,
                              const EmittedRequest& request, Talk& talk) {
  for (const LeftOut& left : project.left_out) talk.Say(fmt::format("not emitted: '{}': {}", left.what, left.reason));
  const std::filesystem::path build = request.folder / "build";
  INFIMUM_RETURN_IF_ERROR(WriteProject(project, request.folder));
  talk.Say(fmt::format("{}: compiling {}", request.folder.string(), CountText(project.layers, "source")));
  const std::string cmake = installation.CMake()[0];
  std::vector<std::string> configure = installation.CMake();
  configure.insert(configure.end(), {"-S", request.folder.string(), "-B", build.string()});
  INFIMUM_RETURN_IF_ERROR(RunStep("configuring the emitted project", configure));
  INFIMUM_RETURN_IF_ERROR(RunStep("compiling the emitted project", {cmake, "--build", build.string()}));
  EmittedRun run{.results = request.folder / "results.json", .rows = {}};
  const std::filesystem::path program = build / (request.library + "_benchmarks");
  talk.Say(fmt::format("{}: running", program.string()));
  INFIMUM_RETURN_IF_ERROR(
      RunStep("running the emitted program",
              {program.string(), "--benchmark_out=" + run.results.string(), "--benchmark_out_format=json"},
              {{"OMP_NUM_THREADS", std::to_string(request.threads)}, {"INFIMUM_DEVICE", request.device}}));
  INFIMUM_ASSIGN_OR_RETURN(run.rows, RowsOf(run.results));
  return run;
}

}  // namespace infimum
