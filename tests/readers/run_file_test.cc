#include "src/readers/profiles/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "src/readers/read_profile.h"
#include "tests/support/temporary_folder.h"

namespace infimum::run_file_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

RunProfile MakeRun() {
  RunProfile run;
  run.framework = "onnxruntime";
  run.framework_version = "1.31.1";
  run.model_name = "a \"model\" \xc3\xa9";
  run.model_sha256 = "ab12";
  run.dims = {{"batch", 8}};
  run.threads = 2;
  run.contract = "strict-f32";
  run.device = "cpu/Test";
  run.settings = {{"graph_optimization_level", "all"}};
  run.end_to_end = {{{Latency(100.125), Latency(1.0 / 3)}},
                    {{Latency(7)}, Beat{Latency(100.5), Latency(410), Latency(20.5)}}};
  run.layers = {{"conv", "Conv", "CPU", {"n0"}, {"x", ""}, {"y"}, {Latency(10), Latency(11.5)}, {}, {}, {}}};
  run.layers[0].input_tensors = {{"f32", {1, 3, 224, 224}, "nchw"}, {}};
  run.layers[0].output_tensors = {{"f16", {}, ""}};
  run.layers[0].algorithm = "sm80_xmma";
  run.layers[0].serves = "conv2";
  run.noisy = "other programs ran on its cores";
  run.profiled = {Latency(110), Latency(1.0 / 7)};
  run.idle = DeviceIdle{Latency(3), Latency(0.5), Latency(0), Latency(2.25)};
  run.warnings = {"first", "second"};
  return run;
}

Result<RunProfile> Parse(const std::string& text) {
  std::istringstream input(text);
  return ReadRun(input, "run.json");
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(RunFile, ReadingAFormattedRunGivesItBack) {
  const RunProfile run = MakeRun();
  const Result<RunProfile> read = Parse(FormatRun(run));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(FormatRun(*read), FormatRun(run));
  EXPECT_EQ(read->model_name, run.model_name);
  EXPECT_EQ(read->dims, run.dims);
  EXPECT_EQ(read->threads, 2);
  EXPECT_EQ(read->end_to_end, run.end_to_end);
  EXPECT_EQ(read->layers[0].samples, run.layers[0].samples);
  EXPECT_EQ(read->layers[0].input_tensors, run.layers[0].input_tensors);
  EXPECT_EQ(read->layers[0].output_tensors, run.layers[0].output_tensors);
  EXPECT_EQ(read->layers[0].algorithm, "sm80_xmma");
  EXPECT_EQ(read->layers[0].serves, "conv2");
  EXPECT_EQ(read->noisy, run.noisy);
  EXPECT_EQ(read->profiled, run.profiled);
  EXPECT_EQ(read->idle, run.idle);
}

TEST(RunFile, AMissingThreadCountStaysUnknown) {
  RunProfile run = MakeRun();
  run.threads.reset();
  const Result<RunProfile> read = Parse(FormatRun(run));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->threads, std::nullopt);
}

TEST(RunFile, BeatsOfAWrongFormAreRefused) {
  const auto error_of = [](const std::string& beat) {
    const Result<RunProfile> run =
        Parse(R"({"schema":"infimum.run/1","framework":"x","end_to_end":[{"samples_us":[9],"beat_us":)" + beat + "}]}");
    return run.ok() ? "no error" : run.error().message;
  };
  EXPECT_EQ(error_of("[100.5,410]"), "no error");
  EXPECT_EQ(error_of("[100.5,-1]"), "run.json: end_to_end[0]: 'beat_us' is -1, expected a number from 0 to 1e+15");
  EXPECT_EQ(error_of("[1,2,3,4]"),
            "run.json: end_to_end[0]: beat_us: expected [arithmetic, memory] or [arithmetic, memory, cache], all more "
            "than 0");
  EXPECT_EQ(error_of("\"fast\""), "run.json: end_to_end[0]: 'beat_us' is the text 'fast', expected a list");
}

TEST(RunFile, IdleTimesOfAWrongFormAreRefused) {
  const std::string good = FormatRun(MakeRun());
  EXPECT_THAT(Parse(Replaced(good, "\"host_us\": 3.0", "\"host_us\": -3")).error().message, HasSubstr("'host_us'"));
  EXPECT_THAT(Parse(Replaced(good, "\"queued_us\"", "\"queue_us\"")).error().message, HasSubstr("'queued_us'"));
  EXPECT_THAT(Parse(Replaced(good, "\"idle\": {", "\"idle\": 3, \"x\": {")).error().message,
              HasSubstr("'idle' is 3, expected an object"));
}

TEST(RunFile, TensorsOfAWrongFormAreRefused) {
  const std::string good = FormatRun(MakeRun());
  EXPECT_THAT(Parse(Replaced(good, "224", "-224")).error().message,
              HasSubstr("layers[0]: input_tensors[0]: 'dims' is "));
  EXPECT_THAT(Parse(Replaced(good, "224", "99999999999999")).error().message,
              HasSubstr("layers[0]: input_tensors[0]: 'dims' is "));
  EXPECT_THAT(Parse(Replaced(good, "\"dtype\": \"f32\"", "\"dtype\": 7")).error().message, HasSubstr("dtype"));
}

TEST(RunFile, AProfileAndTheEnginesNodesAreJoinedByName) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  const std::string profile = (folder / "profile.json").string();
  std::ofstream(profile) << R"([{"cat":"Node","name":"conv_kernel_time","dur":5,"args":{"op_name":"Conv"}},)"
                            R"({"cat":"Session","name":"model_run","dur":9}])";
  const Result<RunProfile> run = Parse(
      R"({"schema":"infimum.run/1","framework":"onnxruntime","end_to_end":[{"samples_us":[9]}],"profile":")" + profile +
      R"(","engine_nodes":[{"name":"conv","op":"Conv","domain":"","inputs":["x","w"],"outputs":["y"]}]})");
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_THAT(run->layers, SizeIs(1));
  EXPECT_THAT(run->layers[0].inputs, ElementsAre("x", "w"));
  EXPECT_THAT(run->layers[0].outputs, ElementsAre("y"));
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(5)));
}

// A short profile holds more inferences of the warm-up than its reader leaves out by itself.
TEST(RunFile, LayersHaveNoSamplesOfTheWarmUp) {
  const testing::TemporaryFolder temporary;
  const std::string path = (temporary.path() / "profile.json").string();
  std::ofstream profile(path);
  for (int i = 0; i < 10; ++i)
    profile << (i == 0 ? "[" : ",") << R"({"cat":"Node","name":"conv_kernel_time","ts":)" << 100 * i + 1 << R"(,"dur":)"
            << i << R"(,"args":{"op_name":"Conv"}},{"cat":"Session","name":"model_run","ts":)" << 100 * i
            << R"(,"dur":)" << 10 + i << "}";
  profile << "]";
  profile.close();
  const Result<RunProfile> run = Parse(
      R"({"schema":"infimum.run/1","framework":"onnxruntime","end_to_end":[{"samples_us":[9]}],"profiled_us":[16,17,18,19],)"
      R"("disturbed":[1],"profile":")" +
      path + "\"}");
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(run->profiled, SizeIs(3));
  EXPECT_THAT(run->layers.at(0).samples, ElementsAre(Latency(6), Latency(8), Latency(9)));
}

TEST(RunFile, DisturbedInferencesLeaveTheRunAndItsLayersTogether) {
  const std::string text =
      R"({"schema":"infimum.run/1","framework":"f","end_to_end":[{"samples_us":[7]}],"profiled_us":[10,90,12],"layers":[)"
      R"({"name":"a","samples_us":[8,80,9]},{"name":"sometimes","samples_us":[1,2]}],"disturbed":[1]})";
  const Result<RunProfile> run = Parse(text);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(run->profiled, ElementsAre(Latency(10), Latency(12)));
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(8), Latency(9)));
  EXPECT_THAT(run->layers[1].samples, ElementsAre(Latency(1), Latency(2)));
  for (const char* wrong : {"[3]", "[-1]", "[0.5]", "[\"x\"]"})
    EXPECT_FALSE(Parse(Replaced(text, "\"disturbed\":[1]", std::string("\"disturbed\":") + wrong)).ok()) << wrong;
}

TEST(RunFile, AMissingProfileIsNamed) {
  const Result<RunProfile> run = Parse(
      R"({"schema":"infimum.run/1","framework":"f","end_to_end":[{"samples_us":[9]}],"profile":"/no/such/file"})");
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, AllOf(HasSubstr("run.json"), HasSubstr("/no/such/file")));
}

// Opening a pipe without a writer waits for ever.
TEST(RunFile, AProfileThatIsNotARegularFileIsRefusedWithoutOpeningIt) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  const std::string pipe = (folder / "profile.json").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto error_of = [](const std::string& profile) {
    const Result<RunProfile> run = Parse(
        R"({"schema":"infimum.run/1","framework":"f","end_to_end":[{"samples_us":[9]}],"profile":")" + profile + "\"}");
    return run.ok() ? "none" : run.error().message;
  };
  EXPECT_EQ(error_of(pipe),
            "run.json: 'profile': '" + pipe + "': a pipe or a device; write its output into a file and name that file");
  EXPECT_THAT(error_of("/dev/zero"), HasSubstr("'/dev/zero': a pipe or a device"));
  EXPECT_THAT(error_of(folder.string()), HasSubstr("a folder; name the files in it"));
  const Result<std::vector<NamedProfile>> direct = ReadProfiles({pipe});
  ASSERT_FALSE(direct.ok());
  EXPECT_THAT(direct.error().message, HasSubstr("a pipe or a device"));
}

TEST(RunFile, ANewerSchemaIsRefusedWithAdviceToUpdate) {
  const Result<RunProfile> run = Parse(Replaced(FormatRun(MakeRun()), "infimum.run/1", "infimum.run/2"));
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message,
              AllOf(HasSubstr("run.json"), HasSubstr("infimum.run/2"), HasSubstr("newer infimum")));
}

TEST(RunFile, WrongTypesAndTimesAreErrorsThatNameTheField) {
  const std::string good = FormatRun(MakeRun());
  EXPECT_THAT(Parse(Replaced(good, "\"threads\": 2", "\"threads\": \"2\"")).error().message, HasSubstr("'threads'"));
  EXPECT_THAT(Parse(Replaced(good, "\"threads\": 2", "\"threads\": -2")).error().message, HasSubstr("'threads'"));
  EXPECT_THAT(Parse(Replaced(good, "100.125", "-1")).error().message, HasSubstr("'samples_us'"));
  EXPECT_THAT(Parse(Replaced(good, "100.125", "\"x\"")).error().message, HasSubstr("'samples_us'"));
  EXPECT_THAT(Parse(Replaced(good, "\"batch\": 8", "\"batch\": 1.5")).error().message, HasSubstr("'dims.batch'"));
  EXPECT_THAT(Parse(Replaced(good, "\"layers\": [", "\"layers\": 7, \"others\": [")).error().message,
              HasSubstr("'layers' is 7, expected a list"));
  EXPECT_THAT(Parse(R"({"schema":"infimum.run/1","framework":"f","dims":[1],"end_to_end":[]})").error().message,
              HasSubstr("'dims' is a list, expected an object"));
  EXPECT_THAT(Parse("{}").error().message, HasSubstr("schema"));
  EXPECT_THAT(Parse("[]").error().message, HasSubstr("run.json"));
}

TEST(RunFile, ARunWithoutSamplesIsRefused) {
  EXPECT_THAT(Parse(R"({"schema":"infimum.run/1","framework":"f","end_to_end":[]})").error().message,
              HasSubstr("no samples"));
}

TEST(RunFile, NoDamagedTextCrashesTheReader) {
  const std::string good = FormatRun(MakeRun());
  std::mt19937_64 random(3);
  for (int attempt = 0; attempt < 3000; ++attempt) {
    std::string text = good;
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
    if (attempt % 5 == 0) text.resize(random() % text.size());
    static_cast<void>(Parse(text).ok());
  }
  std::string deep =
      R"({"schema":"infimum.run/1","settings":)" + std::string(50'000, '[') + std::string(50'000, ']') + "}";
  EXPECT_FALSE(Parse(deep).ok());
}

}  // namespace
}  // namespace infimum::run_file_test
