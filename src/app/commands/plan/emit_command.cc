// infimum emit PLAN -o DIR: sources that call a library directly, to compile, read and change alone.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "infimum/base/text.h"
#include "src/app/command.h"
#include "src/app/commands/plan/plan_argument.h"
#include "src/app/options.h"
#include "src/app/runners/installation.h"
#include "src/emit/project.h"

namespace infimum::cli {
namespace {

struct EmitCommandOptions {
  PlanArgument plan;
  std::optional<NumericContract> contract;
  std::vector<std::string> libraries{"onednn"};
  std::vector<std::string> candidates;
  std::string folder;
  ProgressLogOptions log;
};

Status WriteOne(const EmittedProject& project, const std::filesystem::path& folder, ProgressLog& log) {
  INFIMUM_RETURN_IF_ERROR(WriteProject(project, folder));
  for (const LeftOut& left : project.left_out)
    // Whole: two regions differ in their ends. The text of a plan has no characters that need escapes.
    log.Say(fmt::format("left out: '{}': {}", left.what, left.reason));
  const auto counted = [](std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  log.Say(fmt::format("{} written to {}, {} left out; see {}/README.md to build them",
                      counted(project.layers, "source"), folder.string(), project.left_out.size(), folder.string()));
  return {};
}

Result<int> RunEmit(const EmitCommandOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const Plan plan, options.plan.Read(options.contract));
  ProgressLog log = options.log.Make();
  const bool is_all = std::ranges::count(options.libraries, "all") > 0;
  const std::vector<std::string> libraries = is_all ? EmittableLibraries() : options.libraries;
  const bool is_alone = libraries.size() == 1;
  std::optional<Error> refusal;
  std::size_t written = 0;
  for (const std::string& library : libraries) {
    const Result<EmittedProject> project =
        EmitProject(plan, {library, options.candidates, std::string(InfimumVersion())});
    if (!project.ok()) {
      // A library that has none of the layers is no reason against the others; a folder that cannot be written is.
      if (!is_alone) log.Say(fmt::format("{}: {}", library, project.error().message));
      refusal = project.error();
      continue;
    }
    std::filesystem::path folder = options.folder;
    if (!is_alone) folder /= library;
    INFIMUM_RETURN_IF_ERROR(WriteOne(*project, folder, log));
    ++written;
  }
  if (written == 0 && refusal) return *refusal;
  return kDone;
}

}  // namespace

void AddEmitCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<EmitCommandOptions>();
  CLI::App* command = NewCommand(
      app, "emit", "stand-alone C++ sources of a plan's layers, which call the library directly",
      "A new folder with CMakeLists.txt, README.md and a source for each layer that registers a Google Benchmark for\n"
      "each candidate. Nothing in it needs infimum; `infimum import` reads the JSON that it writes. What cannot be "
      "emitted is listed with the reason.",
      "infimum emit plan.txt -o benchmarks");
  AddPlanArgument(command, options->plan, "what is emitted");
  AddContract(command, options->contract);
  AddList(command, "--library", options->libraries, "NAME,...",
          "libraries that the sources call, or all; several: a folder of DIR for each")
      ->delimiter(',')
      ->check([](const std::string& text) {
        const std::vector<std::string> names = EmittableLibraries();
        if (text == "all" || std::ranges::count(names, text) > 0) return std::string();
        return Quoted(text) + " is none of: " + Join(names, ", ") + ", all";
      })
      ->capture_default_str();
  AddList(command, "--candidate", options->candidates, "NAME",
          "only this candidate, by name; may be given again (default: all that the library offers)");
  AddValue(command, "-o,--output", options->folder, "DIR", "folder to make; it must not exist, or be empty")
      ->required();
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunEmit(*options); });
}

}  // namespace infimum::cli
