#include "microbench/libraries/cublaslt/gemm_recording.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "infimum/base/text.h"

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

constexpr const char* kSchema = "infimum.gemm-recording/1";

nlohmann::json Names(const auto& algorithms) {
  nlohmann::json names = nlohmann::json::array();
  for (const Algorithm& algorithm : algorithms) names.push_back(cublaslt::Format(algorithm));
  return names;
}

std::vector<Algorithm> ReadNames(const nlohmann::json& names) {
  std::vector<Algorithm> algorithms;
  for (const nlohmann::json& name : names) {
    const auto text = name.get<std::string>();
    const std::optional<Algorithm> algorithm = cublaslt::ParseAlgorithm(text);
    if (!algorithm) throw std::invalid_argument(Quoted(text) + " names no algorithm");
    algorithms.push_back(*algorithm);
  }
  return algorithms;
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

class ReplayedAnswers : public cublaslt::Answers {
 public:
  explicit ReplayedAnswers(const ProblemAnswers& kept) : kept_(kept) {}

  std::vector<Algorithm> Suggestions() override { return kept_.heuristic; }
  std::vector<std::int32_t> Ids() override { return kept_.ids; }
  std::optional<Capabilities> CapabilitiesOf(std::int32_t id) override {
    const auto found = kept_.capabilities.find(id);
    return found == kept_.capabilities.end() ? std::nullopt : std::optional(found->second);
  }
  bool Accepts(const Algorithm& algorithm) override { return kept_.accepted.contains(algorithm); }

 private:
  const ProblemAnswers& kept_;
};

class ReplayedGemmLibrary : public GemmLibrary {
 public:
  ReplayedGemmLibrary(std::string version, AllAnswers answers)
      : version_(std::move(version)), answers_(std::move(answers)) {}

  std::string version() const override { return version_; }
  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem& problem) override {
    const auto found = answers_.find(Format(problem));
    if (found == answers_.end()) return Error{"unsupported: the recording has no answers about " + Format(problem)};
    return std::unique_ptr<cublaslt::Answers>(std::make_unique<ReplayedAnswers>(found->second));
  }
  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem&, const Algorithm&) override {
    return Error{"unsupported: a recording of cuBLASLt's answers runs nothing"};
  }

 private:
  std::string version_;
  AllAnswers answers_;
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
        Capabilities& read = of.capabilities[static_cast<std::int32_t>(std::stol(id))];
        capabilities.at("tiles").get_to(read.tiles);
        capabilities.at("stages").get_to(read.stages);
        capabilities.at("splits_k").get_to(read.splits_k);
        capabilities.at("reductions").get_to(read.reductions);
        capabilities.at("swizzles").get_to(read.most_swizzles);
        capabilities.at("custom").get_to(read.most_custom);
      }
      const std::vector<Algorithm> accepted = ReadNames(answers.at("accepted"));
      of.accepted.insert(accepted.begin(), accepted.end());
    }
    return std::shared_ptr<GemmLibrary>(
        std::make_shared<ReplayedGemmLibrary>(document.at("library").get<std::string>(), std::move(all)));
  } catch (const std::exception& exception) {
    return Error{source + ": not a recording of BLAS algorithms: " + Quoted(exception.what())};
  }
}

}  // namespace infimum::cuda
