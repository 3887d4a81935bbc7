#include "tests/microbench/gpu/recorded_gemm_library.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "infimum/base/text.h"

namespace infimum::cuda {
namespace {

using cublaslt::Algorithm;
using cublaslt::Capabilities;

// What was answered about one problem.
struct RecordedProblem {
  std::vector<Algorithm> heuristic;
  std::vector<std::int32_t> ids;
  std::map<std::int32_t, Capabilities> capabilities;
  std::set<Algorithm> accepted;
};
using RecordedProblems = std::map<std::string, RecordedProblem>;  // by the problem's text

constexpr const char* kSchema = "infimum.gemm-recording/2";

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

class ReplayedAnswers : public cublaslt::Answers {
 public:
  explicit ReplayedAnswers(const RecordedProblem& kept) : kept_(kept) {}

  std::vector<Algorithm> Suggestions() override { return kept_.heuristic; }
  std::vector<std::int32_t> Ids() override { return kept_.ids; }
  std::optional<Capabilities> CapabilitiesOf(std::int32_t id) override {
    const auto found = kept_.capabilities.find(id);
    return found == kept_.capabilities.end() ? std::nullopt : std::optional(found->second);
  }
  bool Accepts(const Algorithm& algorithm) override { return kept_.accepted.contains(algorithm); }

 private:
  const RecordedProblem& kept_;
};

class ReplayedGemmLibrary : public GemmLibrary {
 public:
  ReplayedGemmLibrary(std::string version, RecordedProblems answers)
      : version_(std::move(version)), answers_(std::move(answers)) {}

  std::string version() const override { return version_; }
  std::string_view name() const override { return "cublaslt"; }
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
  RecordedProblems answers_;
};

}  // namespace

Result<std::shared_ptr<GemmLibrary>> ReadGemmRecording(std::string_view text, const std::string& source) {
  try {
    const nlohmann::json document = nlohmann::json::parse(text);
    if (document.at("schema") != kSchema)
      return Error{source + ": not a recording of BLAS algorithms (" + kSchema + ")"};
    RecordedProblems all;
    for (const auto& [problem, answers] : document.at("problems").items()) {
      RecordedProblem& of = all[problem];
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
