// infimum evaluate: cells that are run once, whoever ends when, and what of them is shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tests/app/commands/program.h"

namespace infimum::testing::evaluate_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// In place of Python: a framework that answers at once, with the time that `time.txt` holds (the first process less
// what `apart.txt` does, the last one more), and keeps count.
constexpr const char* kFramework = R"sh(#!/bin/sh
[ -f fails.txt ] && { cat fails.txt >&2; exit 1; }
[ -f sleeps.txt ] && sleep "$(cat sleeps.txt)"
echo "$2" >> calls.txt
case "$1" in *pytorch*) name=pytorch;; *) name=onnxruntime;; esac
model=$(sha256sum "$2" | cut -c1-64)
us=$(cat time.txt)
apart=$(cat apart.txt)
while [ $# -gt 1 ]; do
  case "$1" in --output) out=$2;; --contract) contract=$2;; --module) module=$2;; esac
  shift
done
case "$module" in ''|/*) ;; *) module=$PWD/$module;; esac
samples() { echo "{\"samples_us\": [$1.0,$1.1,$1.2,$1.1,$1.0,$1.1,$1.2,$1.1]}"; }
cat > "$out" <<END
{"schema": "infimum.run/1", "framework": "$name", "framework_version": "$(cat version.txt)", "model": "m",
 "model_sha256": "$model", "dims": {}, "threads": 1, "contract": "$contract",
 "settings": {"module": "$module", "outputs": "[{\"name\": \"y\", \"norm\": 2, \"values\": [$(cat value.txt)]}]"},
 "end_to_end": [$(samples $((us - apart))), $(samples $us), $(samples $((us + apart)))],
 "layers": [], "warnings": []}
END
)sh";

class EvaluateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    program_.Write("framework", kFramework);
    fs::permissions(program_.folder() / "framework", fs::perms::owner_all);
    for (const auto& [file, text] :
         {std::pair{"time.txt", "100"}, {"apart.txt", "0"}, {"version.txt", "1.0"}, {"value.txt", "1"}})
      program_.Write(file, text);
  }

  void WriteEvaluation(const std::string& models, const std::string& more = "") const {
    program_.Write("e.json",
                   R"({"schema": "infimum.evaluation/1", "name": "test", "models": [)" + models + "]" + more + "}");
  }

  static std::vector<std::string> Command(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"evaluate", "e.json", "--backend", "fake", "--python", "./framework"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::map<std::string, std::string> States() const {
    std::map<std::string, std::string> states;
    const nlohmann::json answer = program_.Json(Command({"--format", "json"}));
    for (const nlohmann::json& cell : answer["cells"])
      states[cell["name"]] = cell["state"].is_null() ? "none" : cell["state"].get<std::string>();
    return states;
  }

  std::size_t Calls() const {
    if (!fs::exists(program_.folder() / "calls.txt")) return 0;
    const std::string calls = program_.Read("calls.txt");
    return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), '\n'));
  }

  nlohmann::json Attempts() const {
    return program_.Json({"query", "--sql",
                          "SELECT a.cell_id AS cell, r.state AS state FROM cell_attempts a LEFT JOIN cell_results r ON "
                          "r.attempt_id = a.id ORDER BY a.id",
                          "--format", "json"});
  }

  const ProgramTest program_;
};

TEST_F(EvaluateTest, EachCellIsMeasuredOnceAndItsStateIsKept) {
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": [1, 2], "nodes": 16}},
                     {"family": "fc", "choices": {"nodes": 200000}},
                     {"family": "transformer", "choices": {"hidden": 10, "heads": 3}},
                     {"family": "fc", "choices": {"layers": 3}, "devices": ["H200"]})");
  const nlohmann::json listed = program_.Json(Command({"--list", "--format", "json"}));
  EXPECT_EQ(listed["schema"], "infimum.sweep/1");
  ASSERT_EQ(listed["cells"].size(), 5U);
  EXPECT_TRUE(listed["cells"][0]["state"].is_null());
  EXPECT_EQ(listed["cells"][0]["facts"]["parameters"], 2001 * 16 + 17 * 1000);
  EXPECT_THAT(program_.Run(Command({"--list"})), HasSubstr("not run"));
  EXPECT_FALSE(fs::exists(program_.folder() / "infimum.db"));

  const std::map<std::string, std::string> states = States();
  ASSERT_EQ(states.size(), 5U);
  EXPECT_EQ(states.at("fc layers=1 nodes=16"), "ok");
  EXPECT_EQ(states.at("fc layers=4 nodes=200000"), "oom");
  EXPECT_EQ(states.at("transformer"), "skipped");
  EXPECT_EQ(Calls(), 2U);
  EXPECT_EQ(States(), states);
  EXPECT_EQ(Calls(), 2U);
  program_.Run(Command({"--again"}));
  EXPECT_EQ(Calls(), 4U);

  const nlohmann::json cells = program_.Json(Command({"--format", "json"}))["cells"];
  EXPECT_NEAR(cells[0]["latency_us"].get<double>(), 100.1, 0.2);
  // A data sheet's device: the least time, and nothing measured.
  EXPECT_EQ(cells[4]["device"], "H200");
  EXPECT_GT(cells[4]["facts"]["floor_us"].get<double>(), 0);
  EXPECT_TRUE(cells[4]["latency_us"].is_null());
}

// What `infimum llm` writes is measured as any evaluation, and stands in its table beside the least times.
TEST_F(EvaluateTest, ALanguageModelsTableShowsWhatWasMeasured) {
  program_.Run({"synth", "decoder", "--layers", "1", "--hidden", "64", "--heads", "4", "--kv-heads", "2",
                "--vocabulary", "100", "--context", "33", "-o", "."});
  std::string model;
  for (const auto& file : fs::directory_iterator(program_.folder()))
    if (file.path().extension() == ".onnx") model = file.path().filename().string();
  const auto llm = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"llm", model, "--backend", "fake", "--batch", "1", "--context", "33"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  // In an empty store this machine's rates are measured first.
  const nlohmann::json fresh = program_.Json(llm({"--db", "fresh.db", "--format", "json"}));
  EXPECT_GT(fresh["cells"][0]["facts"]["floor_us"].get<double>(), 0);
  program_.Run(llm({"--evaluation", "e.json"}));
  ASSERT_EQ(States().size(), 1U);
  EXPECT_EQ(Calls(), 1U);
  const nlohmann::json cells = program_.Json(llm({"--weights", "own,s4", "--format", "json"}))["cells"];
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0]["fields"]["phase"], "decode");
  EXPECT_NEAR(cells[0]["latency_us"].get<double>(), 100.1, 0.2);
  EXPECT_TRUE(cells[1]["latency_us"].is_null());
  EXPECT_EQ(cells[1]["fields"]["weights"], "s4");
  EXPECT_LE(cells[1]["facts"]["floor_us"].get<double>(), cells[0]["facts"]["floor_us"].get<double>());
  EXPECT_THAT(program_.Run(llm({})), AllOf(HasSubstr("tokens/s, most"), HasSubstr(", 1 thread ")));
  // Ranges with k, too; one device by two names is one.
  const nlohmann::json grown = program_.Json({"llm", model, "--device", "h100,H100", "--device", "h100-sxm", "--batch",
                                              "1", "--context", "33", "--format", "json"});
  EXPECT_EQ(grown["cells"].size(), 1U);
  EXPECT_THAT(grown["remarks"].dump(),
              AllOf(HasSubstr("no cell was measured there"), HasSubstr("takes one token at a time: --prefill MODEL")));
  const auto errors_of = [&](const std::string& context) {
    return program_.Infimum({"llm", model, "--device", "h100-sxm", "--batch", "1", "--context", context}).errors;
  };
  EXPECT_THAT(errors_of("1..8k*2"), Not(AnyOf(HasSubstr("is not a number"), HasSubstr("At Most"))));
  EXPECT_THAT(errors_of("1.5k"), HasSubstr("--context: '1.5k' is not a number"));
  EXPECT_THAT(program_.Infimum({"llm", model, "--device", ""}).errors, HasSubstr("--device '': it names no device"));
  EXPECT_THAT(program_.Infimum(llm({"--weights", "s3"})).errors, HasSubstr("types of weights are own"));
}

// Where the store has rows of the device, what the best kernels add up to stands in the table: as `bound` has it where
// all layers have one, else estimated from other shapes.
TEST_F(EvaluateTest, ALanguageModelsTableShowsWhatRowsAddUpTo) {
  program_.Run({"synth", "decoder", "--layers", "1", "--hidden", "64", "--heads", "4", "--kv-heads", "2",
                "--vocabulary", "100", "--context", "33", "-o", "."});
  std::string model;
  for (const auto& file : fs::directory_iterator(program_.folder()))
    if (file.path().extension() == ".onnx") model = file.path().filename().string();
  const auto cells = [&](const std::string& context) {
    return program_.Json(
        {"llm", model, "--backend", "fake", "--batch", "1", "--context", context, "--format", "json"})["cells"];
  };
  const nlohmann::json unmeasured = cells("33");
  ASSERT_EQ(unmeasured.size(), 1U);
  EXPECT_TRUE(unmeasured[0]["known"].is_null());
  EXPECT_GE(unmeasured[0]["roofline_us"].get<double>(), unmeasured[0]["facts"]["floor_us"].get<double>());
  program_.Run({"analyze", model, "--backend", "fake", "--framework", "none"});
  const nlohmann::json measured = cells("33");
  ASSERT_TRUE(measured[0]["known"].is_object()) << measured[0].dump();
  EXPECT_EQ(measured[0]["known"]["measured_share"], 1);
  const nlohmann::json bounds = program_.Json({"bound", model, "--backend", "fake", "--format", "json"})["bounds"];
  double fused = 0;
  for (const nlohmann::json& bound : bounds)
    if (bound["variant"] == "fused-sequential") fused = bound["latency_us"].get<double>();
  EXPECT_DOUBLE_EQ(measured[0]["known"]["latency_us"].get<double>(), fused);
  EXPECT_THAT(program_.Run({"llm", model, "--backend", "fake", "--batch", "1", "--context", "33"}),
              HasSubstr("TPOT, kernels"));
}

TEST_F(EvaluateTest, AFrameworkThatFailsIsAStateAndOnlyRetryTriesAgain) {
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": 1, "nodes": 16}})", R"(, "method": {"time_limit_s": 1})");
  program_.Write("fails.txt", "infimum: error: NOT_IMPLEMENTED: no such kernel\n");
  EXPECT_EQ(States().begin()->second, "unsupported");
  fs::remove(program_.folder() / "fails.txt");
  EXPECT_EQ(States().begin()->second, "unsupported");
  program_.Write("fails.txt", "infimum: error: std::bad_alloc\n");
  program_.Run(Command({"--retry"}));
  EXPECT_EQ(States().begin()->second, "oom");
  program_.Write("fails.txt", "infimum: error: something else\n");
  program_.Run(Command({"--retry"}));
  EXPECT_EQ(States().begin()->second, "failed");
  fs::remove(program_.folder() / "fails.txt");
  program_.Write("sleeps.txt", "30");
  program_.Run(Command({"--retry"}));
  EXPECT_EQ(States().begin()->second, "timeout");
  fs::remove(program_.folder() / "sleeps.txt");
  program_.Run(Command({"--retry"}));
  EXPECT_EQ(States().begin()->second, "ok");
}

TEST_F(EvaluateTest, KilledAtTwentyPointsNoCellIsLostAndNoneIsRunTwiceWithoutAWord) {
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": "1..30+1", "nodes": 16}})");
  program_.Write("sleeps.txt", "0.03");
  std::mt19937 random(27);
  std::size_t told = 0;
  const auto count_told = [&](const std::string& errors) {
    for (std::size_t at = errors.find("never ended"); at != std::string::npos; at = errors.find("never ended", at + 1))
      ++told;
  };
  for (int kill = 0; kill < 20; ++kill) {
    const std::size_t before = Calls();
    const pid_t running = program_.Start(Command());
    // From the first cell's run on, however slow the program is, and while the process lives.
    siginfo_t state{};
    while (Calls() == before && ::waitid(P_PID, static_cast<id_t>(running), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           state.si_pid == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution<int>(0, 150)(random)));
    ::kill(running, SIGKILL);
    count_told(program_.Finish(running).errors);
  }
  const Ended last = program_.Infimum(Command());
  ASSERT_EQ(last.exit_code, 0) << last.errors;
  count_told(last.errors);
  std::map<std::int64_t, int> ended;
  std::size_t unfinished = 0;
  const nlohmann::json attempts = Attempts();
  for (const nlohmann::json& row : attempts["rows"]) {
    if (row[1].is_null()) {
      ++unfinished;
    } else {
      ++ended[row[0].get<std::int64_t>()];
    }
  }
  EXPECT_EQ(ended.size(), 30U);
  for (const auto& [cell, results] : ended) EXPECT_EQ(results, 1) << cell;
  EXPECT_GT(unfinished, 0U);
  // A word that was lost with the process that said it cannot be counted.
  EXPECT_LE(told, unfinished);
  EXPECT_GE(told + 2, unfinished);
}

TEST_F(EvaluateTest, EightProcessesShareTheCellsOfOneStore) {
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": "1..24+1", "nodes": 16}})");
  program_.Write("sleeps.txt", "0.05");
  std::vector<pid_t> workers;
  workers.reserve(8);
  for (int worker = 0; worker < 8; ++worker) workers.push_back(program_.Start(Command()));
  for (const pid_t worker : workers) {
    const Ended ended = program_.Finish(worker);
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  }
  EXPECT_EQ(Calls(), 24U);
  EXPECT_EQ(Attempts()["rows"].size(), 24U);
}

TEST_F(EvaluateTest, PartsOfTheCellsAreThoseOfTheWhole) {
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": "1..5+1", "nodes": 16}})");
  program_.Run(Command({"--cells", "1/2"}));
  EXPECT_EQ(Calls(), 3U);
  program_.Run(Command({"--cells", "2/2"}));
  EXPECT_EQ(Calls(), 5U);
  for (const char* const part : {"0/2", "3/2", "1", "1/0", "a/b"})
    EXPECT_EQ(program_.Infimum(Command({"--cells", part})).exit_code, 2) << part;
}

TEST_F(EvaluateTest, VerifySaysSameSlowerOtherNumbersAndWhatElseChanged) {
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": 1, "nodes": 16}})");
  const auto verify = [&](int code) {
    const Ended ended = program_.Infimum(Command({"--verify", "--format", "json"}));
    EXPECT_EQ(ended.exit_code, code) << ended.errors;
    return nlohmann::json(nlohmann::json::parse(ended.output)["cells"][0]);
  };
  EXPECT_THAT(verify(1)["why"].get<std::string>(), HasSubstr("without --verify makes one"));
  program_.Run(Command());
  EXPECT_EQ(verify(0)["verdict"], "same");
  EXPECT_EQ(verify(0)["numbers"], "same");
  program_.Write("time.txt", "120");
  program_.Write("version.txt", "1.1");
  const nlohmann::json slower = verify(3);
  EXPECT_EQ(slower["verdict"], "slower");
  EXPECT_EQ(slower["causes"][0], "framework 1.0 -> 1.1");
  // What no longer runs is worse, be it all.
  program_.Write("fails.txt", "infimum: error: something else\n");
  EXPECT_THAT(verify(3)["why"].get<std::string>(), HasSubstr("it is failed now"));
  fs::remove(program_.folder() / "fails.txt");
  // What a verification measured is not what the next one is held against.
  EXPECT_EQ(verify(3)["verdict"], "slower");
  program_.Write("time.txt", "100");
  program_.Write("value.txt", "1.5");
  EXPECT_EQ(verify(3)["numbers"], "differ");
}

TEST_F(EvaluateTest, VerifyMeasuresOnWhereTheVerdictIsOpen) {
  const std::string model = R"({"family": "fc", "choices": {"layers": 1, "nodes": 16}})";
  const auto why = [&](const std::string& more) {
    WriteEvaluation(model, more);
    program_.Run(Command());
    program_.Write("apart.txt", "30");
    const nlohmann::json cell = program_.Json(Command({"--verify", "--format", "json"}))["cells"][0];
    program_.Write("apart.txt", "0");
    EXPECT_EQ(cell["verdict"], "undecided");
    return cell["why"].get<std::string>();
  };
  EXPECT_THAT(why(""), HasSubstr("the processes (9 now, 3 before) are too far apart"));
  EXPECT_EQ(Calls(), 4U);
  EXPECT_THAT(why(R"(, "method": {"time_limit_s": 1})"),
              HasSubstr("(3 now, 3 before) are too far apart: a quieter machine would tell; more do not fit into "
                        "its time limit"));
  EXPECT_EQ(Calls(), 6U);
}

TEST_F(EvaluateTest, AVerificationThatIsKilledLeavesItsAttempt) {
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": 1, "nodes": 16}})");
  program_.Run(Command());
  program_.Write("sleeps.txt", "30");
  const pid_t running = program_.Start(Command({"--verify"}));
  for (int wait = 0; wait < 200 && Attempts()["rows"].size() < 2; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // Another one leaves the cell to it.
  EXPECT_THAT(program_.Run(Command({"--verify"})), HasSubstr("another process measures it now"));
  ::kill(running, SIGKILL);
  program_.Finish(running);
  ASSERT_EQ(Attempts()["rows"].size(), 2U);
  EXPECT_TRUE(Attempts()["rows"][1][1].is_null());
  fs::remove(program_.folder() / "sleeps.txt");
  // The cell has its result: it is to be run no more, and is verified again.
  EXPECT_THAT(program_.Infimum(Command()).errors, Not(HasSubstr("never ended")));
  const Ended again = program_.Infimum(Command({"--verify"}));
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("never ended"));
  EXPECT_EQ(Attempts()["rows"].size(), 3U);
}

// What an evaluation may state otherwise is named, each alone.
TEST_F(EvaluateTest, VerifyOfOtherCellsNamesWhatIsOtherwise) {
  const std::string model = R"({"family": "fc", "choices": {"layers": 1, "nodes": 16}})";
  WriteEvaluation(model);
  program_.Run(Command());
  const auto why = [&](const std::string& changed, const std::string& more) {
    WriteEvaluation(changed, more);
    const Ended ended = program_.Infimum(Command({"--verify", "--format", "json"}));
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.errors, HasSubstr("nothing was verified"));
    const nlohmann::json answer = nlohmann::json::parse(ended.output);
    return answer["cells"][0]["why"].get<std::string>();
  };
  EXPECT_THAT(why(model, R"(, "threads": [2])"), HasSubstr("threads 1 -> 2"));
  EXPECT_THAT(why(model, R"(, "frameworks": [{"name": "onnxruntime", "options": {"optimization": "basic"}}])"),
              HasSubstr("framework.options.optimization none -> basic"));
  EXPECT_THAT(why(R"({"family": "fc", "choices": {"layers": 1, "nodes": 16}, "weights": 3})", ""),
              HasSubstr("model.weights none -> 3"));
  EXPECT_THAT(why(R"({"family": "fc", "choices": {"layers": 1, "nodes": 16, "batch": 2}})", ""),
              HasSubstr("model.choices.batch none -> 2"));
  EXPECT_THAT(why(model, R"(, "contracts": ["bf16"])"), HasSubstr("contract none -> bf16"));
  EXPECT_THAT(why(model, R"(, "input": 2)"), HasSubstr("input 1 -> 2"));
  EXPECT_THAT(why(model, R"(, "cores": "0")"), HasSubstr("cores none -> 0"));
}

TEST_F(EvaluateTest, DiffNamesTheFieldsAndWhatTheStoreKnowsOfThem) {
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": [1, 2], "nodes": 16}})");
  program_.Run(Command());
  program_.Write("time.txt", "50");
  fs::rename(program_.folder() / "e.json", program_.folder() / "first.json");
  WriteEvaluation(R"({"family": "fc", "choices": {"layers": [1, 2], "nodes": 16}})", R"(, "threads": [2])");
  program_.Run(Command());
  const nlohmann::json diff = program_.Json({"evaluate", "first.json", "--diff", "e.json", "--format", "json"});
  ASSERT_EQ(diff["differences"].size(), 1U);
  EXPECT_EQ(diff["differences"][0]["field"], "threads");
  EXPECT_EQ(diff["differences"][0]["pairs"], 2);
  EXPECT_NEAR(diff["differences"][0]["ratio"].get<double>(), 0.5, 0.01);
}

TEST_F(EvaluateTest, MistakesInTheFileAreSaidBeforeAnythingRuns) {
  program_.Write("e.json", "{");
  EXPECT_EQ(program_.Infimum(Command()).exit_code, 1);
  WriteEvaluation(R"({"family": "fc", "choices": {"nodes": 16}})", R"(, "devices": ["H2000"])");
  const Ended ended = program_.Infimum(Command());
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("e.json: unknown device 'H2000'"));
  const auto error_of = [&](const std::string& more) {
    WriteEvaluation(R"({"family": "fc", "choices": {"nodes": 16}})", more);
    const Ended refused = program_.Infimum(Command({"--list"}));
    EXPECT_EQ(refused.exit_code, 1);
    return refused.errors;
  };
  EXPECT_THAT(error_of(R"(, "frameworks": [{"name": "onnxruntine"}])"), HasSubstr("did you mean 'onnxruntime'?"));
  EXPECT_THAT(
      error_of(R"(, "frameworks": [{"name": "onnxruntime", "options": {"optimization": "basik"}}])"),
      HasSubstr("e.json: optimization of onnxruntime: there is no 'basik', did you mean 'basic'?; there are: all, "
                "extended, basic, disabled"));
  EXPECT_THAT(error_of(R"(, "cores": "0,x")"), HasSubstr("cores of onnxruntime: 'x' is no number"));
  EXPECT_THAT(error_of(R"(, "cores": "-1")"), HasSubstr("cores of onnxruntime: '-1' is no number"));
  EXPECT_THAT(error_of(R"(, "cores": "1,1")"), HasSubstr("cores of onnxruntime: '1' is there twice"));
  EXPECT_THAT(error_of(R"(, "frameworks": [{"name": "onnxruntime", "mode": "eager"}])"),
              HasSubstr("--mode eager: onnxruntime has none"));
  EXPECT_THAT(error_of(R"(, "frameworks": [{"name": "onnxruntime", "options": {"seed": "2"}}])"),
              HasSubstr("frameworks: options: 'seed' is said by 'input' of the evaluation"));
  EXPECT_EQ(Calls(), 0U);
}

TEST(Evaluate, OnnxRuntimeRunsACellAndItsOutputsAreVerified) {
  const ProgramTest program;
  program.Write("e.json", R"({"schema": "infimum.evaluation/1",
    "models": [{"family": "fc", "choices": {"layers": 2, "nodes": 64}}, {"family": "rnn", "choices": {"hidden": 16}}],
    "method": {"seconds": 0.05, "processes": 1, "memory_limit": 4000000000}})");
  const Ended ended = program.Infimum({"evaluate", "e.json", "--backend", "fake", "--format", "json"});
  if (LacksFramework(ended)) GTEST_SKIP() << ended.errors;
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const nlohmann::json measured = nlohmann::json::parse(ended.output);
  for (const nlohmann::json& cell : measured["cells"]) {
    if (cell["state"] != "ok") {
      EXPECT_THAT(cell["reason"].get<std::string>(), HasSubstr("noisy"));
      continue;
    }
    EXPECT_GT(cell["latency_us"].get<double>(), 0);
  }
  const Ended verified = program.Infimum({"evaluate", "e.json", "--backend", "fake", "--verify", "--format", "json"});
  // A busy machine may be slower now.
  EXPECT_THAT(verified.exit_code, AnyOf(0, 3)) << verified.errors;
  const nlohmann::json again = nlohmann::json::parse(verified.output);
  for (const nlohmann::json& cell : again["cells"]) EXPECT_NE(cell["numbers"], "differ") << cell;
}

TEST_F(EvaluateTest, WeightsBesideAModelAreInItsHashAndMissingOnlyWhereTheyAreNeeded) {
  onnx::ModelProto model;
  const auto parsed = onnx::OnnxParser::Parse(model, R"(<ir_version: 9, opset_import: ["" : 17]>
      g (float[8, 64] x) => (float[8, 32] y) { y = MatMul(x, w) })");
  ASSERT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
  onnx::TensorProto& weights = *model.mutable_graph()->add_initializer();
  weights.set_name("w");
  weights.set_data_type(onnx::TensorProto::FLOAT);
  weights.add_dims(64);
  weights.add_dims(32);
  weights.set_data_location(onnx::TensorProto::EXTERNAL);
  weights.add_external_data()->set_key("location");
  weights.mutable_external_data(0)->set_value("w.bin");
  program_.Write("m.onnx", model.SerializeAsString());
  WriteEvaluation(R"({"file": "m.onnx"})", R"(, "devices": ["here", "H200"])");
  const auto cells = [&] { return nlohmann::json(program_.Json(Command({"--format", "json"}))["cells"]); };

  const nlohmann::json absent = cells();
  EXPECT_EQ(absent[0]["state"], "skipped");
  EXPECT_THAT(absent[0]["reason"].get<std::string>(), HasSubstr("'w.bin' cannot be found beside the model"));
  EXPECT_EQ(absent[1]["state"], "ok");
  EXPECT_GT(absent[1]["facts"]["floor_us"].get<double>(), 0);
  program_.Write("w.bin", std::string(std::size_t{64} * 32 * 4, 'a'));
  const nlohmann::json there = cells();
  EXPECT_EQ(there[0]["state"], "ok");
  EXPECT_EQ(there[1]["facts"]["floor_us"], absent[1]["facts"]["floor_us"]);
  program_.Write("w.bin", std::string(std::size_t{64} * 32 * 4, 'b'));
  const nlohmann::json other = cells();
  EXPECT_EQ(Calls(), 2U);
  for (const int cell : {0, 1}) {
    EXPECT_NE(absent[cell]["hash"], there[cell]["hash"]);
    EXPECT_NE(other[cell]["hash"], there[cell]["hash"]);
  }
}

// Of a module in another folder, converted to another type.
TEST_F(EvaluateTest, AReportsRunOfAModuleIsReproducedAsTheSameCell) {
  program_.Run({"synth", "fc", "--layers", "1", "--nodes", "16", "-o", "."});
  fs::rename(program_.folder() / "fc_layers-1_nodes-16_inputs-2000_outputs-1000_batch-1_type-f32.onnx",
             program_.folder() / "m.onnx");
  fs::create_directory(program_.folder() / "nets");
  program_.Write("nets/net.py", "net = 1");
  const std::string module = (program_.folder() / "nets/net.py:net").string();
  const auto reproduce = [&](const std::string& file) {
    program_.Run({"report", "m.onnx", "--backend", "fake", "--framework", "pytorch", "--reproduce", "-o", file});
    return nlohmann::json(
        program_.Json({"evaluate", file, "--list", "--backend", "fake", "--format", "json"})["cells"][0]);
  };
  WriteEvaluation(R"({"file": "m.onnx"})", R"(, "frameworks": [{"name": "pytorch", "module": "nets/net.py:net"}],
                  "contracts": ["bf16"], "input": 7, "method": {"seconds": 0.5, "processes": 4, "time_limit_s": 99})");
  const nlohmann::json measured = program_.Json(Command({"--format", "json"}))["cells"][0];
  ASSERT_EQ(measured["state"], "ok") << measured;
  const nlohmann::json again = reproduce("sub.json");
  EXPECT_EQ(again["hash"], measured["hash"]);
  EXPECT_EQ(again["fields"]["contract"], "bf16");
  EXPECT_EQ(again["state"], "ok");
  EXPECT_THAT(program_.Read("sub.json"), HasSubstr(module));
  // Another content is another cell.
  program_.Write("nets/net.py", "net = 2");
  EXPECT_NE(reproduce("sub.json")["hash"], measured["hash"]);

  // A run that no cell asked for: as a cell it is the same one from then on.
  program_.Run({"measure", "m.onnx", "--backend", "fake", "--python", "./framework", "--framework", "pytorch",
                "--module", module, "--contract", "f16", "--seconds", "0.25"});
  const nlohmann::json first = reproduce("first.json");
  EXPECT_EQ(first["fields"]["contract"], "f16");
  EXPECT_EQ(first["fields"]["framework.version"], "1.0");
  EXPECT_EQ(first["fields"]["method.seconds"], "0.25");
  EXPECT_TRUE(first["state"].is_null());
  program_.Run({"evaluate", "first.json", "--backend", "fake", "--python", "./framework"});
  EXPECT_EQ(reproduce("second.json")["hash"], first["hash"]);
}

TEST(Evaluate, AReportsRunIsReproducedByAnEvaluationOfOneCell) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  program.Write("e.json", R"({"schema": "infimum.evaluation/1", "models": [{"file": ")" + model +
                              R"("}], "method": {"seconds": 0.05, "processes": 2}})");
  const Ended ended = program.Infimum({"evaluate", "e.json", "--backend", "fake", "--format", "json"});
  if (LacksFramework(ended)) GTEST_SKIP() << ended.errors;
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const nlohmann::json measured = nlohmann::json::parse(ended.output);
  if (measured["cells"][0]["state"] != "ok") GTEST_SKIP() << measured["cells"][0]["reason"];
  program.Run({"report", model, "--backend", "fake", "--reproduce", "-o", "again.json"});
  const nlohmann::json again =
      program.Json({"evaluate", "again.json", "--list", "--backend", "fake", "--format", "json"});
  ASSERT_EQ(again["cells"].size(), 1U);
  EXPECT_EQ(again["cells"][0]["hash"], measured["cells"][0]["hash"]);
  EXPECT_THAT(program.Read("again.json"), HasSubstr(measured["cells"][0]["framework_version"].get<std::string>()));
}

}  // namespace
}  // namespace infimum::testing::evaluate_test
