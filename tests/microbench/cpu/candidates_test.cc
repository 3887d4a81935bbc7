// The main promise of the backend: whatever it offers for a layer runs, and meets its contract against the
// f64 reference. The layers stand in layers/*.txt, one a line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "infimum/base/text.h"
#include "microbench/cpu/onednn_backend.h"
#include "tests/microbench/cpu/layer_texts.h"

namespace infimum::candidates_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Workload Parsed(const std::string& text) {
  Result<Workload> workload = ParseWorkload(text);
  EXPECT_TRUE(workload.ok()) << text << ": " << (workload.ok() ? "" : workload.error().message);
  return *workload;
}

std::vector<Candidate> CandidatesOf(Backend& backend, const Workload& workload,
                                    CandidateTier tier = CandidateTier::kEngine) {
  Result<std::vector<Candidate>> candidates = backend.Candidates(workload, NativeContract(workload), tier);
  EXPECT_TRUE(candidates.ok()) << (candidates.ok() ? "" : candidates.error().message);
  return candidates.ok() ? *candidates : std::vector<Candidate>();
}

class EveryCandidate : public ::testing::TestWithParam<std::string> {
 protected:
  OneDnnBackend backend_{BackendOptions{}};
};

// Also with copies of its weights that lie elsewhere: packed, converted and padded they are copied whole.
TEST_P(EveryCandidate, RunsAndMeetsItsContractWithEachCopyOfItsConstants) {
  const std::vector<std::string> layers = testing::LayerTexts(GetParam());
  ASSERT_THAT(layers, Not(IsEmpty()));
  for (const std::string& text : layers) {
    SCOPED_TRACE(text);
    const Workload workload = Parsed(text);
    const NumericContract contract = NativeContract(workload);
    const bool is_layer = std::holds_alternative<LayerConfig>(workload);
    const std::vector<Candidate> candidates = CandidatesOf(backend_, workload);
    EXPECT_THAT(candidates, Not(IsEmpty()));
    for (const Candidate& candidate : candidates) {
      SCOPED_TRACE(candidate.name());
      Result<std::unique_ptr<PreparedRun>> run = backend_.Prepare(workload, candidate, contract);
      ASSERT_TRUE(run.ok()) << run.error().message;
      EXPECT_GT((*run)->footprint().value, 0);
      EXPECT_TRUE((*run)->Run().ok());
      const auto check = [&](int copy) {
        const Result<std::optional<double>> error = (*run)->NumericError();
        ASSERT_TRUE(error.ok()) << error.error().message;
        ASSERT_TRUE(error->has_value());
        EXPECT_LE(**error, Tolerance(contract, workload)) << "copy " << copy;
      };
      check(-1);
      const bool has_constants = (*run)->constants().value > 0;
      // A region's constants may be read by a kernel that cannot be told to read others.
      if (is_layer && HasConstants(workload)) {
        EXPECT_TRUE(has_constants);
      }
      if (!has_constants) continue;
      ASSERT_TRUE((*run)->RotateConstants(2).ok());
      for (int copy = 0; copy < 2; ++copy) check(copy);
      EXPECT_TRUE((*run)->RotateConstants(1).ok());
      EXPECT_TRUE((*run)->Run().ok());
    }
  }
}

TEST_P(EveryCandidate, HasANameOfItsOwnThatStaysTheSame) {
  for (const std::string& text : testing::LayerTexts(GetParam())) {
    SCOPED_TRACE(text);
    const Workload workload = Parsed(text);
    const std::vector<Candidate> candidates = CandidatesOf(backend_, workload);
    std::set<std::string> names;
    for (const Candidate& candidate : candidates) names.insert(candidate.name());
    EXPECT_EQ(names.size(), candidates.size());
    EXPECT_EQ(CandidatesOf(backend_, workload), candidates);
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, EveryCandidate, ::testing::ValuesIn(testing::LayerFamilies()),
                         [](const auto& family) { return family.param; });

constexpr char kConvolution[] =
    "convolution dtype=f32:f32:f32 in=1x64x14x14 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
    "groups=1 bias=yes weights=const";

TEST(OneDnnBackend, TheLibrarysOwnChoiceComesFirstAndIsTheOnlyOneMarked) {
  OneDnnBackend backend{BackendOptions{}};
  const std::vector<Candidate> candidates = CandidatesOf(backend, Parsed(kConvolution));
  ASSERT_THAT(candidates, Not(IsEmpty()));
  EXPECT_TRUE(candidates[0].library_choice);
  EXPECT_EQ(candidates[0].library, "onednn");
  for (std::size_t i = 1; i < candidates.size(); ++i) EXPECT_FALSE(candidates[i].library_choice);
}

TEST(OneDnnBackend, AHigherTierOffersAllThatALowerOneDoes) {
  OneDnnBackend backend{BackendOptions{}};
  const Workload workload = Parsed(kConvolution);
  std::vector<std::set<std::string>> names(3);
  const CandidateTier tiers[] = {CandidateTier::kHeuristic, CandidateTier::kEngine, CandidateTier::kExhaustive};
  for (int i = 0; i < 3; ++i) {
    for (const Candidate& candidate : CandidatesOf(backend, workload, tiers[i])) names[i].insert(candidate.name());
  }
  EXPECT_LE(names[0].size(), 2U);
  EXPECT_TRUE(std::includes(names[1].begin(), names[1].end(), names[0].begin(), names[0].end()));
  EXPECT_TRUE(std::includes(names[2].begin(), names[2].end(), names[1].begin(), names[1].end()));
  EXPECT_GT(names[2].size(), names[1].size());
}

// Those of layers/attention.txt whose scores are more than a block has are held to their contract with the others.
// Panels are for as many heads as threads.
TEST(OneDnnBackend, AttentionRunsByBlocksWhereItsScoresAreMany) {
  OneDnnBackend backend{BackendOptions{}};
  const int threads = omp_get_max_threads();
  omp_set_num_threads(2);
  std::size_t by_blocks = 0, by_panels = 0;
  for (const std::string& text : testing::LayerTexts("attention"))
    for (const Candidate& candidate : CandidatesOf(backend, Parsed(text))) {
      if (candidate.algorithm.starts_with("attention-panels")) ++by_panels;
      if (!candidate.algorithm.starts_with("attention-blocks")) continue;
      EXPECT_TRUE(text.find("kv=4099") != std::string::npos || text.find("kv=1030") != std::string::npos) << text;
      ++by_blocks;
    }
  omp_set_num_threads(threads);
  EXPECT_EQ(by_blocks, 7U);
  EXPECT_EQ(by_panels, 8U);
}

TEST(OneDnnBackend, AnUnknownCandidateIsUnsupportedByName) {
  OneDnnBackend backend{BackendOptions{}};
  Candidate candidate;
  candidate.library = "onednn";
  candidate.algorithm = "quantum:annealed";
  const auto run = backend.Prepare(Parsed(kConvolution), candidate, NumericContract::kStrictF32);
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, StartsWith("unsupported: "));
  EXPECT_THAT(run.error().message, HasSubstr("onednn/quantum:annealed"));
}

TEST(OneDnnBackend, AWorkloadThatIsNotValidIsRefusedWithAReason) {
  OneDnnBackend backend{BackendOptions{}};
  ConvolutionConfig config;  // no shapes at all
  const auto candidates = backend.Candidates(LayerConfig(config), NumericContract::kStrictF32, CandidateTier::kEngine);
  ASSERT_FALSE(candidates.ok());
  EXPECT_THAT(candidates.error().message, Not(IsEmpty()));
}

TEST(OneDnnBackend, ALayerTooLargeForTheMachineIsAnErrorNotACrash) {
  OneDnnBackend backend{BackendOptions{}};
  const Workload workload = Parsed("pointwise kind=relu dtype=f32:-:f32 in=1000000000000");
  for (const Candidate& candidate : CandidatesOf(backend, workload)) {
    EXPECT_FALSE(backend.Prepare(workload, candidate, NumericContract::kStrictF32).ok());
  }
}

TEST(OneDnnBackend, AnOptionThatItDoesNotKnowIsNamed) {
  BackendOptions options;
  options.settings["colour"] = "blue";
  OneDnnBackend backend{options};
  const auto device = backend.DescribeDevice();
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("colour"));
}

}  // namespace
}  // namespace infimum::candidates_test
