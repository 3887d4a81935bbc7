#include "src/app/commands/bench/candidate_question.h"

#include <fmt/format.h>

#include "src/app/processes/child_process.h"

namespace infimum {

Result<CandidateList> AskForCandidates(const Installation& installation, const CandidateQuestion& question) {
  const std::string text = KeyOf(question.workload).text;
  const std::string contract(Name(question.contract.value_or(NativeContract(question.workload))));
  ProcessRequest request;
  if (question.gpu.empty()) {
    const std::string backend = question.backend.empty() ? "onednn" : question.backend;
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

}  // namespace infimum
