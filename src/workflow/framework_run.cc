#include "infimum/workflow/framework_run.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "infimum/base/text.h"
#include "infimum/ingest/run_file.h"
#include "infimum/workflow/child_process.h"
#include "src/workflow/temporary_folder.h"

namespace infimum {
namespace {

// "progress 2 4": the third of four processes has begun.
bool ShowProgress(std::string_view line, const std::string& what, Talk& talk) {
  const std::vector<std::string_view> words = Split(line, ' ');
  if (words.size() != 3 || words[0] != "progress") return false;
  const auto done = ParseInteger(words[1]);
  const auto total = ParseInteger(words[2]);
  if (!done || !total) return false;
  talk.Progress(what, *done, *total, std::nullopt);
  return true;
}

}  // namespace

Result<RunProfile> MeasureFramework(const Installation& installation, const std::filesystem::path& model,
                                    const FrameworkOptions& options, Talk& talk) {
  INFIMUM_ASSIGN_OR_RETURN(const std::filesystem::path script, installation.FrameworkScript(options.framework));
  INFIMUM_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::filesystem::path output = folder.path() / "run.json";
  ProcessRequest request;
  request.arguments = {installation.Python(options.python),
                       script.string(),
                       std::filesystem::absolute(model).string(),
                       "--threads",
                       std::to_string(options.threads),
                       "--repetitions",
                       std::to_string(options.repetitions),
                       "--seconds",
                       fmt::format("{:.3f}", std::chrono::duration<double>(options.sampling).count()),
                       "--work-directory",
                       folder.path().string(),
                       "--output",
                       output.string()};
  for (const auto& [name, extent] : options.dims) {
    request.arguments.insert(request.arguments.end(), {"--dim", fmt::format("{}={}", name, extent)});
  }
  const std::string what = "measuring " + options.framework;
  talk.Say(fmt::format("{} ({} processes without profiler, one with)", what, options.repetitions));
  std::string complaint;
  const auto take_error = [&](std::string_view line) {
    if (ShowProgress(line, what, talk)) return;
    talk.Detail(line);
    if (!TrimSpace(line).empty()) complaint = std::string(TrimSpace(line));
  };
  INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end, RunProcess(
                                                     request, [](std::string_view) { return Status(); }, take_error));
  talk.EndProgress();
  if (end.interrupted) return Error{"interrupted while " + options.framework + " was measured"};
  if (end.exit_code != 0) {
    constexpr std::string_view kLead = "infimum: error: ";
    if (complaint.starts_with(kLead)) complaint.erase(0, kLead.size());
    return Error{fmt::format("{} could not be measured: {}", options.framework,
                             complaint.empty() ? fmt::format("exit code {}", end.exit_code) : complaint)};
  }
  std::ifstream file(output, std::ios::binary);
  INFIMUM_ASSIGN_OR_RETURN(RunProfile run, ReadRun(file, options.framework + " run"));
  if (run.contract.empty()) run.contract = Name(options.contract);
  return run;
}

}  // namespace infimum
