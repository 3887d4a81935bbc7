// infimum emit PLAN -o DIR: sources that call a library directly, to compile, read and change alone.
#include <fmt/format.h>

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
  EmitOptions emit;
  std::string folder;
  TalkOptions talk;
};

Result<int> RunEmit(const EmitCommandOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const Plan plan, options.plan.Read(options.contract));
  EmitOptions emit = options.emit;
  emit.version = InfimumVersion();
  INFIMUM_ASSIGN_OR_RETURN(const EmittedProject project, EmitProject(plan, emit));
  INFIMUM_RETURN_IF_ERROR(WriteProject(project, options.folder));
  Talk talk = options.talk.Make();
  for (const LeftOut& left : project.left_out)
    // Whole: two regions differ in their ends. The text of a plan has no characters that need escapes.
    talk.Say(fmt::format("left out: '{}': {}", left.what, left.reason));
  const auto counted = [](std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  talk.Say(fmt::format("{} written to {}, {} left out; see {}/README.md to build them",
                       counted(project.layers, "source"), options.folder, project.left_out.size(), options.folder));
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
  AddValue(command, "--library", options->emit.library, "NAME", "the library that the sources call")
      ->check([](const std::string& text) {
        const std::vector<std::string> names = EmittableLibraries();
        for (const std::string& name : names)
          if (name == text) return std::string();
        return Quoted(text) + " is none of: " + Join(names, ", ");
      })
      ->capture_default_str();
  AddList(command, "--candidate", options->emit.candidates, "NAME",
          "only this candidate, by name; may be given again (default: all that the library offers)");
  AddValue(command, "-o,--output", options->folder, "DIR", "folder to make; it must not exist, or be empty")
      ->required();
  AddTalk(command, options->talk);
  invocation.Bind(command, [options] { return RunEmit(*options); });
}

}  // namespace infimum::cli
