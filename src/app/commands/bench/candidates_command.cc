// infimum candidates WORKLOAD: which algorithms a library has for it, here or on a GPU that is not here.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "reports/text/csv.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/options.h"
#include "src/app/processes/child_process.h"
#include "src/app/runners/installation.h"
#include "src/core/results/candidate_list.h"

namespace infimum::cli {
namespace {

// Which candidates a library has for a workload: of this machine's device its runner tells, of a GPU that is not here
// the library itself, asked by a program of its own.
//
//   CandidateQuestion question{.workload = *ParseWorkload("matmul dtype=f16:f16:f16 ..."), .gpu = "h200"};
//   Result<CandidateList> list = AskForCandidates(installation, question);
struct CandidateQuestion {
  Workload workload;
  std::optional<NumericContract> contract;  // default: the workload's own
  CandidateTier tier = CandidateTier::kEngine;
  std::string backend;  // default: of this machine "onednn", of a GPU that is not here "cuda"
  std::int64_t threads = 1;
  std::string gpu;  // a shipped name or a file of device properties; empty: this machine's device
};

Result<CandidateList> AskForCandidates(const Installation& installation, const CandidateQuestion& question) {
  const std::string text = KeyOf(question.workload).text;
  const std::string contract(Name(question.contract.value_or(NativeContract(question.workload))));
  ProcessRequest request;
  if (question.gpu.empty()) {
    const std::string backend = question.backend.empty() ? DefaultBackend() : question.backend;
    INFIMUM_ASSIGN_OR_RETURN(const std::filesystem::path runner, installation.Runner(backend));
    request.arguments = {runner.string(), "--list-json", "--threads", std::to_string(question.threads)};
  } else {
    if (!question.backend.empty() && question.backend != "cuda")
      return Error{question.backend + " knows this machine's device only; --device-properties needs --backend cuda"};
    INFIMUM_ASSIGN_OR_RETURN(const std::filesystem::path enumerator, installation.Enumerator("cuda"));
    INFIMUM_ASSIGN_OR_RETURN(const std::filesystem::path properties, installation.GpuProperties(question.gpu));
    request.arguments = {enumerator.string(), "--device-properties", properties.string()};
  }
  for (const std::string& argument : {std::string("--layer"), text, std::string("--contract"), contract,
                                      std::string("--tier"), std::string(Name(question.tier))})
    request.arguments.push_back(argument);
  std::optional<CandidateList> list;
  const auto take = [&](std::string_view line) -> Status {
    if (line.empty()) return {};
    INFIMUM_ASSIGN_OR_RETURN(list, ParseCandidateList(line));
    return {};
  };
  INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end, RunProcess(request, take));
  const std::string program = std::filesystem::path(request.arguments[0]).filename().string();
  if (end.interrupted) return Error{"interrupted"};
  if (end.exit_code == 0 && list) {
    // A runner offers what it has under any contract, and leaves it to the numeric check what counts.
    const std::string refusal = ContractRefusal(list->contract, question.workload);
    if (!refusal.empty()) {
      list->candidates.clear();
      list->refusal = refusal;
    }
    return *std::move(list);
  }
  const std::string said = end.last_errors.empty() ? "" : ": " + end.last_errors.back();
  if (end.given_up || end.exit_code > 128) return Error{fmt::format("{} {}{}", program, end.how, said)};
  return Error{fmt::format("{} ended with {}{}", program, end.exit_code, said)};
}

struct CandidatesOptions {
  std::string workload;
  CandidateQuestion question;
  OutputFormat format = OutputFormat::kTable;
  ProgressLogOptions log;
};

Section MakeTable(const CandidateList& list) {
  Section table{.columns = {NameColumn("candidate"), "reads", "writes", "choice", NameColumn("notes")}};
  for (const OfferedCandidate& offered : list.candidates) {
    const Candidate& candidate = offered.candidate;
    table.rows.push_back({candidate.name(), candidate.input_layout, candidate.output_layout,
                          candidate.library_choice ? "library" : "", offered.notes});
  }
  return table;
}

Result<int> RunCandidates(const CandidatesOptions& options) {
  CandidateQuestion question = options.question;
  if (!question.gpu.empty() && !question.backend.empty() && question.backend != "cuda") {
    return UsageError("--backend " + question.backend +
                      " knows this machine's device only; --device-properties needs --backend cuda");
  }
  INFIMUM_ASSIGN_OR_RETURN(question.workload, ParseWorkload(options.workload));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const CandidateList list, AskForCandidates(installation, question));
  const Section table = MakeTable(list);
  INFIMUM_RETURN_IF_ERROR(
      WriteAnswer(options.format, "-",
                  {.table = [&] { return SectionTable(table, TerminalWidth()); },
                   .json = [&] { return nlohmann::json::parse(FormatCandidateList(list)).dump(2, ' ', false) + "\n"; },
                   .csv = [&] { return SectionCsv(table); }}));
  ProgressLog log = options.log.Make();
  const std::string asked = list.library + (list.version.empty() ? "" : " " + list.version);
  log.Say(fmt::format("{} candidate{} of {}{}, contract {}, tier {}", list.candidates.size(),
                      list.candidates.size() == 1 ? "" : "s", asked, list.device.empty() ? "" : " on " + list.device,
                      Name(list.contract), Name(list.tier)));
  if (!list.refusal.empty()) log.Say("not offered: " + list.refusal);
  return kDone;
}

}  // namespace

void AddCandidatesCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CandidatesOptions>();
  CLI::App* command = NewCommand(
      app, "candidates", "list the algorithms that a library has for a workload",
      "For this machine's device, or with --device-properties for a GPU that is not here: cuDNN answers from the given "
      "properties, and nothing is run. Names of engines belong to one version of cuDNN.\n"
      "Shipped: tesla-t4, a100-sxm4-40gb, h100-sxm, h200, b200, also as `infimum devices` names them or by how they "
      "begin (a100); a file has the JSON text that cuDNN writes of a device "
      "(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION).",
      "infimum candidates --device-properties h200 'matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 "
      "bias=no weights=const'");
  command->add_option("WORKLOAD", options->workload, "a layer's or region's canonical text")
      ->required()
      ->check([](const std::string& text) {
        const Result<Workload> workload = ParseWorkload(text);
        return workload.ok() ? std::string() : workload.error().message;
      });
  AddValue(command, "--backend", options->question.backend, "NAME",
           "the backend whose library is asked: onednn or cuda (default: as bench's, with --device-properties cuda)")
      // cuDNN is asked about other GPUs without a runner.
      ->check([](const std::string& name) { return name == "cuda" ? std::string() : IsBackend(name); });
  AddValue(command, "--device-properties", options->question.gpu, "GPU",
           "a GPU that need not be here, by name or properties file")
      ->check([](const std::string& given) {
        const Result<Installation> installation = Installation::Find();
        if (!installation) return installation.error().message;
        const Result<std::filesystem::path> file = installation->GpuProperties(given);
        return file ? std::string() : file.error().message;
      });
  AddTier(command, options->question.tier);
  AddContract(command, options->question.contract);
  AddThreads(command, options->question.threads);
  AddFormat(command, options->format);
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunCandidates(*options); });
}

}  // namespace infimum::cli
