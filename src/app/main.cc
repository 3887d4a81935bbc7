// The command line: parse, call, print. What the commands do stands in src/app.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "infimum/base/process.h"
#include "infimum/base/text.h"
#include "src/app/command.h"
#include "src/app/options.h"
#include "src/app/processes/interrupt.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/installation.h"

namespace infimum::cli {

CLI::App* NewCommand(CLI::App& app, const std::string& name, const std::string& what, const std::string& details,
                     const std::string& example) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(details + "\n\nExample:\n  " + example + "\n");
  return command;
}

int UsageError(const std::string& message) {
  Complain(message);
  return kUsage;
}

namespace {

// A long name's words, and the names of subcommands: what a mistyped word may have meant.
std::vector<std::string> KnownWords(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(command->get_name());
  }
  return words;
}

std::string DescribeParseError(const CLI::App& app, const CLI::ParseError& error) {
  std::vector<CLI::App*> chosen;
  std::string command = "infimum";
  for (CLI::App* next = const_cast<CLI::App*>(&app); !next->get_subcommands().empty(); next = chosen.back()) {
    chosen.push_back(next->get_subcommands().front());
    command += " " + chosen.back()->get_name();
  }
  const CLI::App& deepest = chosen.empty() ? app : *chosen.back();
  const std::string help = command + " --help";
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty()) {
    const bool is_option = extras.front().starts_with("-");
    const std::string word = extras.front().substr(0, is_option ? extras.front().find('=') : std::string::npos);
    const std::vector<std::string> known = KnownWords(deepest);
    if (!is_option && word.find('=') != std::string::npos && std::ranges::find(known, "--dim") != known.end())
      return fmt::format("unknown argument {0}; each dimension takes an option of its own: --dim {1}", Quoted(word),
                         Quoted(word));
    if (std::ranges::find(known, word) != known.end())
      return fmt::format("{} stands before the command that it belongs to: write it behind {}", word, Quoted(command));
    const std::vector<std::string_view> views(known.begin(), known.end());
    const char* kind = is_option ? "option" : chosen.empty() ? "command" : "argument";
    const std::string guess = DidYouMean(word, views);
    return fmt::format("unknown {} {}{}", kind, Quoted(word), guess.empty() ? "; see " + help : guess);
  }
  std::string message = error.what();
  if (message == "A subcommand is required") message = "no command was given";
  for (char& character : message) {
    if (character == '\n') character = ' ';
  }
  return fmt::format("{}; see {}", message, help);
}

int ExitCodeOf(const Status& status) {
  if (!status) Complain(status.error().message);
  return status ? kDone : kFailed;
}

int Main(int argc, char** argv) {
  CLI::App app{
      "infimum: how fast a model could run on a device, how far a framework's run is from that, and where the time is "
      "lost.\n\nThe main job: infimum analyze MODEL.onnx",
      "infimum"};
  app.set_version_flag("--version", fmt::format("infimum {}", InfimumVersion()));
  app.require_subcommand(1);
  app.fallthrough(false);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 usage, 3 a requested gate did not hold.\n"
      "Data goes to standard output, messages to standard error. `infimum COMMAND --help` has an example of each.\n");
  Invocation invocation;
  AddAnalyzeCommand(app, invocation);
  AddInspectCommand(app, invocation);
  AddPlanCommand(app, invocation);
  AddEmitCommand(app, invocation);
  AddSynthCommand(app, invocation);
  AddEvaluateCommand(app, invocation);
  AddCampaignCommand(app, invocation);
  AddLlmCommand(app, invocation);
  AddBenchCommand(app, invocation);
  AddCandidatesCommand(app, invocation);
  AddImportCommand(app, invocation);
  AddBoundCommand(app, invocation);
  AddConfirmCommand(app, invocation);
  AddMeasureCommand(app, invocation);
  AddReplayCommand(app, invocation);
  AddExplainCommand(app, invocation);
  AddCompareCommand(app, invocation);
  AddReportCommand(app, invocation);
  AddDevicesCommand(app, invocation);
  AddQueryCommand(app, invocation);
  AddExportCommand(app, invocation);
  AddDbCommand(app, invocation);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    app.exit(success, text, text);
    return ExitCodeOf(WriteOutput("-", text.str()));
  } catch (const CLI::ParseError& error) {
    return UsageError(DescribeParseError(app, error));
  }

  WatchForInterrupt();
  const Result<int> code = invocation.run()();
  return code ? *code : ExitCodeOf(code.error());
}

}  // namespace
}  // namespace infimum::cli

int main(int argc, char** argv) {
  infimum::EnsureStandardStreams();
  try {
    return infimum::cli::Main(argc, argv);
  } catch (const std::exception& error) {  // memory ran out, or a library threw where none should
    infimum::Complain(error.what());
    return infimum::cli::kFailed;
  }
}
