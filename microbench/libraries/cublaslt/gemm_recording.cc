#include "microbench/libraries/cublaslt/gemm_recording.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace infimum::cuda {

using cublaslt::Algorithm;
using cublaslt::Capabilities;

// What was answered about one problem.
struct ProblemAnswers {
  std::vector<Algorithm> heuristic;
  std::vector<std::int32_t> ids;
  std::map<std::int32_t, Capabilities> capabilities;
  std::set<Algorithm> accepted;
};
using AllAnswers = std::map<std::string, ProblemAnswers>;  // by the problem's text

namespace {

constexpr const char* kSchema = "infimum.gemm-recording/2";

nlohmann::json Names(const auto& algorithms) {
  nlohmann::json names = nlohmann::json::array();
  for (const Algorithm& algorithm : algorithms) names.push_back(cublaslt::Format(algorithm));
  return names;
}

class RecordingAnswers : public cublaslt::Answers {
 public:
  RecordingAnswers(std::unique_ptr<cublaslt::Answers> answers, ProblemAnswers& kept)
      : answers_(std::move(answers)), kept_(kept) {}

  std::vector<Algorithm> Suggestions() override { return kept_.heuristic = answers_->Suggestions(); }
  std::vector<std::int32_t> Ids() override { return kept_.ids = answers_->Ids(); }
  std::optional<Capabilities> CapabilitiesOf(std::int32_t id) override {
    std::optional<Capabilities> capabilities = answers_->CapabilitiesOf(id);
    if (capabilities) kept_.capabilities[id] = *capabilities;
    return capabilities;
  }
  bool Accepts(const Algorithm& algorithm) override {
    const bool accepts = answers_->Accepts(algorithm);
    if (accepts) kept_.accepted.insert(algorithm);
    return accepts;
  }

 private:
  std::unique_ptr<cublaslt::Answers> answers_;
  ProblemAnswers& kept_;
};

}  // namespace

class RecordingGemmLibrary::Kept {
 public:
  AllAnswers all;
};

RecordingGemmLibrary::RecordingGemmLibrary(std::shared_ptr<GemmLibrary> library)
    : library_(std::move(library)), kept_(std::make_unique<Kept>()) {}
RecordingGemmLibrary::~RecordingGemmLibrary() = default;

Result<std::unique_ptr<cublaslt::Answers>> RecordingGemmLibrary::Ask(const GemmProblem& problem) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<cublaslt::Answers> answers, library_->Ask(problem));
  return std::unique_ptr<cublaslt::Answers>(
      std::make_unique<RecordingAnswers>(std::move(answers), kept_->all[Format(problem)]));
}

std::string RecordingGemmLibrary::Text() const {
  nlohmann::ordered_json problems = nlohmann::ordered_json::object();
  for (const auto& [text, answers] : kept_->all) {
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

}  // namespace infimum::cuda
