// The demonstrated run end to end, on real models where they stand beside the checkout: outputs must be ONNX Runtime's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"
#include "tests/support/shared_data.h"

namespace infimum::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

struct Model {
  const char* name;
  std::vector<std::string> dims;
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

// Without such instructions oneDNN adds pairs of 8-bit products in 16 bits, which saturate with weights of all 8 bits.
bool SumsOfBytesAreExact() {
  std::ifstream file("/proc/cpuinfo");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.find("vnni") != std::string::npos;
}

class ReplayedModel : public ::testing::TestWithParam<Model> {};

TEST_P(ReplayedModel, HasTheOutputsOfOnnxRuntimeAndIsKeptForItsBounds) {
  const fs::path file = SharedData("models") / (std::string(GetParam().name) + ".onnx");
  INFIMUM_NEEDS_DATA(file);
  const ProgramTest program;
  std::vector<std::string> arguments{"replay", file.string(), "--repetitions", "1", "--budget", "1s"};
  arguments.insert(arguments.end(), GetParam().dims.begin(), GetParam().dims.end());
  const Ended ended = program.Infimum(arguments);
  if (LacksFramework(ended)) GTEST_SKIP() << "no Python with ONNX Runtime is known; the model is not replayed";
  if (std::string(GetParam().name) == "resnet50-int8" && !SumsOfBytesAreExact() && ended.exit_code != 0) {
    EXPECT_THAT(ended.errors, HasSubstr("wrong numbers"));
    return;
  }
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("R (demonstrated)"));
  EXPECT_THAT(ended.output, HasSubstr("verified"));
  EXPECT_THAT(ended.output, Not(HasSubstr("NOT VERIFIED")));
  EXPECT_THAT(ended.output, HasSubstr("composition error"));

  std::vector<std::string> bound{"bound", file.string(), "--format", "json"};
  bound.insert(bound.end(), GetParam().dims.begin(), GetParam().dims.end());
  const nlohmann::json json = program.Json(bound);
  ASSERT_TRUE(json.is_object());
  ASSERT_EQ(json.at("demonstrated_us").is_number(), !IsNoisyReplay(ended));
  if (IsNoisyReplay(ended)) return;
  EXPECT_GT(json.at("demonstrated_us").get<double>(), 0);
  // The numbers are the machine's affair.
  const auto& error = json.at("composition_error");
  const double warm = error.at("warm"), cold = error.at("cold-weights"), share = error.at("resident_share");
  EXPECT_GT(warm, 0);
  EXPECT_GT(cold, 0);
  EXPECT_THAT(share, ::testing::AllOf(::testing::Ge(0), ::testing::Le(1)));
  EXPECT_THAT(error.at("value").get<double>(), ::testing::AllOf(::testing::Ge(std::min(warm, cold) * 0.999),
                                                                ::testing::Le(std::max(warm, cold) * 1.001)));
}

// One of each kind: layouts, padded channels and clips; 8-bit layers with scales; transposes, gathers, softmax and
// normalisations.
INSTANTIATE_TEST_SUITE_P(Shared, ReplayedModel,
                         ::testing::Values(Model{"mobilenet_v2", {"--dim", "batch=1"}}, Model{"resnet50-int8", {}},
                                           Model{"bert-base", {"--dim", "batch=1", "--dim", "sequence=16"}}),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           for (char& character : name) {
                             if (character == '-') character = '_';
                           }
                           return name;
                         });

// From a file of f32, whose numbers are rounded; ONNX Runtime runs the file as it is.
TEST(Replay, UnderAContractOfLessPrecisionItIsVerifiedToo) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const Ended ended = program.Infimum({"replay", model, "--contract", "bf16", "--repetitions", "1", "--budget", "1s"});
  if (LacksFramework(ended)) GTEST_SKIP() << "no Python with ONNX Runtime is known";
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("verified"));
  EXPECT_THAT(ended.output, Not(HasSubstr("NOT VERIFIED")));
  const auto demonstrated = [&](const std::string& contract) {
    return program.Json({"bound", model, "--contract", contract, "--format", "json"}).at("demonstrated_us");
  };
  EXPECT_EQ(demonstrated("bf16").is_number(), !IsNoisyReplay(ended));
  EXPECT_TRUE(demonstrated("strict-f32").is_null()) << "bf16 meets no contract of more precision";
}

TEST(Replay, ABackendThatCannotReplaySaysSo) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"replay", ProgramTest::Light("squeezenet"), "--backend", "fake"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, ::testing::AnyOf(HasSubstr("cannot replay"), HasSubstr("could not be created")));
}

}  // namespace
}  // namespace infimum::testing
