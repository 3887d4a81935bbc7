#include "microbench/libraries/cublaslt/gemm_recording.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "infimum/base/text.h"

namespace infimum::cuda {

// What was answered about one problem.
struct ProblemAnswers {
  std::vector<GemmAlgorithm> heuristic;
  std::vector<std::int32_t> ids;
  std::map<std::int32_t, GemmCapabilities> capabilities;
  std::set<GemmAlgorithm> accepted;
};
using AllAnswers = std::map<std::string, ProblemAnswers>;  // by the problem's text

namespace {

constexpr const char* kSchema = "infimum.gemm-recording/1";

nlohmann::json Names(const auto& algorithms) {
  nlohmann::json names = nlohmann::json::array();
  for (const GemmAlgorithm& algorithm : algorithms) names.push_back(Format(algorithm));
  return names;
}

std::vector<GemmAlgorithm> ReadNames(const nlohmann::json& names) {
  std::vector<GemmAlgorithm> algorithms;
  for (const nlohmann::json& name : names) {
    const auto text = name.get<std::string>();
    const std::optional<GemmAlgorithm> algorithm = ParseGemmAlgorithm(text);
    if (!algorithm) throw std::invalid_argument(Quoted(text) + " names no algorithm");
    algorithms.push_back(*algorithm);
  }
  return algorithms;
}

class ReplayedGemmLibrary : public GemmLibrary {
 public:
  ReplayedGemmLibrary(std::string version, AllAnswers answers)
      : version_(std::move(version)), answers_(std::move(answers)) {}

  std::string version() const override { return version_; }
  Result<std::vector<GemmAlgorithm>> Heuristic(const GemmProblem& problem) override {
    INFIMUM_ASSIGN_OR_RETURN(const ProblemAnswers* const answers, Find(problem));
    return answers->heuristic;
  }
  Result<std::vector<std::int32_t>> Ids(const GemmProblem& problem) override {
    INFIMUM_ASSIGN_OR_RETURN(const ProblemAnswers* const answers, Find(problem));
    return answers->ids;
  }
  Result<GemmCapabilities> Capabilities(const GemmProblem& problem, std::int32_t id) override {
    INFIMUM_ASSIGN_OR_RETURN(const ProblemAnswers* const answers, Find(problem));
    const auto found = answers->capabilities.find(id);
    if (found == answers->capabilities.end()) return Error{"no capabilities of algorithm " + std::to_string(id)};
    return found->second;
  }
  Result<bool> Accepts(const GemmProblem& problem, const GemmAlgorithm& algorithm) override {
    INFIMUM_ASSIGN_OR_RETURN(const ProblemAnswers* const answers, Find(problem));
    return answers->accepted.contains(algorithm);
  }
  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem&, const GemmAlgorithm&) override {
    return Error{"unsupported: a recording of cuBLASLt's answers runs nothing"};
  }

 private:
  Result<const ProblemAnswers*> Find(const GemmProblem& problem) const {
    const auto found = answers_.find(Format(problem));
    if (found == answers_.end()) return Error{"unsupported: the recording has no answers about " + Format(problem)};
    return &found->second;
  }

  std::string version_;
  AllAnswers answers_;
};

}  // namespace

class RecordingGemmLibrary::Answers {
 public:
  AllAnswers all;
};

RecordingGemmLibrary::RecordingGemmLibrary(std::shared_ptr<GemmLibrary> library)
    : library_(std::move(library)), answers_(std::make_unique<Answers>()) {}
RecordingGemmLibrary::~RecordingGemmLibrary() = default;

Result<std::vector<GemmAlgorithm>> RecordingGemmLibrary::Heuristic(const GemmProblem& problem) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<GemmAlgorithm> heuristic, library_->Heuristic(problem));
  answers_->all[Format(problem)].heuristic = heuristic;
  return heuristic;
}

Result<std::vector<std::int32_t>> RecordingGemmLibrary::Ids(const GemmProblem& problem) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<std::int32_t> ids, library_->Ids(problem));
  answers_->all[Format(problem)].ids = ids;
  return ids;
}

Result<GemmCapabilities> RecordingGemmLibrary::Capabilities(const GemmProblem& problem, std::int32_t id) {
  INFIMUM_ASSIGN_OR_RETURN(GemmCapabilities capabilities, library_->Capabilities(problem, id));
  answers_->all[Format(problem)].capabilities[id] = capabilities;
  return capabilities;
}

Result<bool> RecordingGemmLibrary::Accepts(const GemmProblem& problem, const GemmAlgorithm& algorithm) {
  INFIMUM_ASSIGN_OR_RETURN(const bool accepts, library_->Accepts(problem, algorithm));
  if (accepts) answers_->all[Format(problem)].accepted.insert(algorithm);
  return accepts;
}

std::string RecordingGemmLibrary::Text() const {
  nlohmann::ordered_json problems = nlohmann::ordered_json::object();
  for (const auto& [text, answers] : answers_->all) {
    nlohmann::ordered_json capabilities = nlohmann::ordered_json::object();
    for (const auto& [id, of] : answers.capabilities) {
      capabilities[std::to_string(id)] = {
          {"tiles", of.tiles},           {"stages", of.stages},          {"splits_k", of.splits_k},
          {"reductions", of.reductions}, {"swizzles", of.most_swizzles}, {"custom", of.most_custom}};
    }
    problems[text] = {{"heuristic", Names(answers.heuristic)},
                      {"ids", answers.ids},
                      {"capabilities", std::move(capabilities)},
                      {"accepted", Names(answers.accepted)}};
  }
  const nlohmann::ordered_json document = {
      {"schema", kSchema}, {"library", library_->version()}, {"problems", std::move(problems)}};
  return document.dump(1);
}

Result<std::shared_ptr<GemmLibrary>> ReadGemmRecording(std::string_view text, const std::string& source) {
  try {
    const nlohmann::json document = nlohmann::json::parse(text);
    if (document.at("schema") != kSchema)
      return Error{source + ": not a recording of BLAS algorithms (" + kSchema + ")"};
    AllAnswers all;
    for (const auto& [problem, answers] : document.at("problems").items()) {
      ProblemAnswers& of = all[problem];
      of.heuristic = ReadNames(answers.at("heuristic"));
      answers.at("ids").get_to(of.ids);
      for (const auto& [id, capabilities] : answers.at("capabilities").items()) {
        GemmCapabilities& read = of.capabilities[static_cast<std::int32_t>(std::stol(id))];
        capabilities.at("tiles").get_to(read.tiles);
        capabilities.at("stages").get_to(read.stages);
        capabilities.at("splits_k").get_to(read.splits_k);
        capabilities.at("reductions").get_to(read.reductions);
        capabilities.at("swizzles").get_to(read.most_swizzles);
        capabilities.at("custom").get_to(read.most_custom);
      }
      const std::vector<GemmAlgorithm> accepted = ReadNames(answers.at("accepted"));
      of.accepted.insert(accepted.begin(), accepted.end());
    }
    return std::shared_ptr<GemmLibrary>(
        std::make_shared<ReplayedGemmLibrary>(document.at("library").get<std::string>(), std::move(all)));
  } catch (const std::exception& exception) {
    return Error{source + ": not a recording of BLAS algorithms: " + Quoted(exception.what())};
  }
}

}  // namespace infimum::cuda
