#include "src/evaluation/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/folders.h"
#include "tests/support/temporary_folder.h"

namespace infimum::evaluation_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<PlannedCell> Cells(const std::string& text, const std::filesystem::path& folder = ".") {
  const Result<Evaluation> evaluation = ParseEvaluation(text);
  EXPECT_TRUE(evaluation.ok()) << (evaluation.ok() ? "" : evaluation.error().message);
  if (!evaluation.ok()) return {};
  const Result<std::vector<PlannedCell>> cells = CellsOf(*evaluation, folder, 1000);
  EXPECT_TRUE(cells.ok()) << (cells.ok() ? "" : cells.error().message);
  return cells.ok() ? *cells : std::vector<PlannedCell>();
}

std::string Refusal(const std::string& text) {
  const Result<Evaluation> evaluation = ParseEvaluation(text);
  if (!evaluation.ok()) return evaluation.error().message;
  const Result<std::vector<PlannedCell>> cells = CellsOf(*evaluation, ".", 1000);
  return cells.ok() ? "no error" : cells.error().message;
}

std::string With(const std::string& members) { return R"({"schema": "infimum.evaluation/1", )" + members + "}"; }

constexpr const char* kFc = R"("models": [{"family": "fc", "choices": {"layers": [2, 4], "nodes": "32..64*2"}}])";

TEST(Cells, AreTheProductOfAllThatIsNamed) {
  const std::vector<PlannedCell> cells = Cells(With(std::string(kFc) + R"(, "threads": [1, 2])"));
  ASSERT_EQ(cells.size(), 8U);
  EXPECT_EQ(cells.front().name, "fc layers=2 nodes=32");
  EXPECT_EQ(cells.front().cell.framework.name, "onnxruntime");
  EXPECT_EQ(cells[1].cell.threads, 2);
  std::set<std::string> hashes;
  for (const PlannedCell& cell : cells) hashes.insert(cell.hash);
  EXPECT_EQ(hashes.size(), 8U);
}

TEST(Cells, AModelsOwnConditionsStandInPlaceOfTheEvaluations) {
  const std::vector<PlannedCell> cells =
      Cells(With(R"("models": [{"family": "fc", "threads": [4]}, {"family": "rnn"}], "threads": [1, 2])"));
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].cell.threads, 4);
}

TEST(Cells, ThatTwoEntriesMeanAreThereOnce) {
  EXPECT_EQ(Cells(With(R"("models": [{"family": "fc"}, {"family": "fc", "choices": {"layers": [1, 4]}}])")).size(), 2U);
}

TEST(Cells, OfOtherDevicesHaveNoFramework) {
  const std::vector<PlannedCell> cells = Cells(With(std::string(kFc) + R"(, "devices": ["here", "H200"])"));
  ASSERT_EQ(cells.size(), 8U);
  EXPECT_EQ(cells[1].cell.quantity, CellQuantity::kFloor);
  EXPECT_EQ(cells[1].cell.framework.name, "");
  EXPECT_EQ(ConditionsOf(cells[1].cell), "H200");
  // Threads are a processor's.
  EvaluationCell cell = cells[0].cell;
  EXPECT_THAT(ConditionsOf(cell), ::testing::HasSubstr("1 thread"));
  cell.framework.name = "tensorrt";
  EXPECT_THAT(ConditionsOf(cell), ::testing::Not(::testing::HasSubstr("thread")));
}

TEST(Cells, OfAFileAreKnownByItsContentAndNotByItsName) {
  const testing::TemporaryFolder folder;
  folder.Write("one.onnx", "bytes");
  folder.Write("two.onnx", "bytes");
  folder.Write("three.onnx", "other bytes");
  const auto hash = [&](const std::string& file) {
    return Cells(With(R"("models": [{"file": ")" + file + R"(", "dims": {"batch": "1..4*2"}}])"), folder.path())
        .back()
        .hash;
  };
  EXPECT_EQ(hash("one.onnx"), hash("two.onnx"));
  EXPECT_NE(hash("one.onnx"), hash("three.onnx"));
}

TEST(Cells, OfAModuleAreKnownByItsContentAndNotByItsName) {
  const testing::TemporaryFolder folder;
  folder.Write("one.py", "net = 1");
  std::filesystem::create_directory(folder.path() / "sub");
  folder.Write("sub/two.py", "net = 1");
  folder.Write("three.py", "net = 2");
  const auto cell = [&](const std::string& module) {
    return Cells(With(std::string(kFc) + R"(, "frameworks": [{"name": "pytorch", "module": ")" + module + R"("}])"),
                 folder.path())
        .back();
  };
  EXPECT_EQ(cell("one.py:net").hash, cell("sub/two.py:net").hash);
  EXPECT_EQ(cell("one.py:net").hash, cell((folder.path() / "one.py").string() + ":net").hash);
  EXPECT_NE(cell("one.py:net").hash, cell("three.py:net").hash);
  EXPECT_NE(cell("one.py:net").hash, cell("one.py:other").hash);
  EXPECT_EQ(cell("one.py:net").module, (folder.path() / "one.py:net").string());
  // Absent ones, and packages, which Python finds.
  EXPECT_EQ(cell("none.py:net").cell.framework.module, "absent:net");
  EXPECT_EQ(cell("none.pt2").cell.framework.module, "absent");
  EXPECT_EQ(cell("package.module:net").cell.framework.module, "package.module:net");
  EXPECT_EQ(cell("package.module:net").module, "package.module:net");
  folder.Write("none.pt2", "x");
  EXPECT_EQ(cell("none.pt2").cell.framework.module.size(), 64U);
}

TEST(Cells, CanonicalTextHoldsNothingThatIsAsUsual) {
  EXPECT_EQ(CanonicalText(Cells(With(kFc)).back().cell),
            R"({"framework":{"name":"onnxruntime"},"model":{"choices":{"nodes":"64"},"family":"fc"}})");
}

TEST(Cells, CanonicalTextReadsBackToTheSameCell) {
  for (
      const PlannedCell& planned : Cells(With(
          std::string(kFc) +
          R"(, "frameworks": [{"name": "pytorch", "mode": "compiled", "module": "m.py:net", "options": {"optimization": "basic"}}],
              "threads": [3], "cores": "0", "input": 7, "contracts": ["bf16"],
              "method": {"seconds": 0.25, "processes": 5, "time_limit_s": 9, "memory_limit": 2000000})"))) {
    const Result<EvaluationCell> read = ParseCell(CanonicalText(planned.cell));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(HashOf(*read), planned.hash);
  }
}

TEST(EvaluationFile, IsReadAsItWasWritten) {
  const std::string text = With(
      std::string(kFc) + R"(, "name": "n", "devices": ["here", "H200"], "threads": [1, 2], "contracts": ["own", "f16"],
      "frameworks": [{"name": "onnxruntime", "options": {"optimization": "basic"}}], "cores": "0", "input": 7,
      "method": {"seconds": 0.25, "memory_limit": 2000000})");
  const Result<Evaluation> evaluation = ParseEvaluation(text);
  ASSERT_TRUE(evaluation.ok()) << evaluation.error().message;
  EXPECT_EQ(HashOf(Cells(FormatEvaluation(*evaluation))), HashOf(Cells(text)));
  EXPECT_THAT(FormatEvaluation(*evaluation), HasSubstr("\"name\": \"n\""));
}

TEST(EvaluationFile, MistakesAreSaidWithTheirPlace) {
  EXPECT_THAT(Refusal("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(Refusal("[]"), HasSubstr("schema"));
  EXPECT_THAT(Refusal(R"({"schema": "infimum.evaluation/2", "models": []})"), HasSubstr("infimum.evaluation/1"));
  EXPECT_EQ(Refusal(With(R"("modles": [])")), "unknown member 'modles', did you mean 'models'?");
  EXPECT_THAT(Refusal(With(R"("models": [])")), HasSubstr("nothing to evaluate"));
  EXPECT_EQ(Refusal(With(R"("models": [{"family": "fc", "choice": {}}])")),
            "models[0]: unknown member 'choice', did you mean 'choices'?");
  EXPECT_EQ(Refusal(With(std::string(kFc) + R"(, "method": {"secondz": 1})")),
            "method: unknown member 'secondz', did you mean 'seconds'?");
  EXPECT_EQ(Refusal(With(std::string(kFc) + R"(, "frameworks": [{"nam": "x"}])")),
            "frameworks[0]: unknown member 'nam', did you mean 'name'?");
  EXPECT_EQ(Refusal(With(R"("models": [{"family": "fcc"}])")).substr(0, 51),
            "models[0]: unknown family 'fcc', did you mean 'fc'?");
  EXPECT_EQ(Refusal(With(R"("models": [{"family": "fc", "choices": {"layer": 3}}])")),
            "models[0]: choices: 'fc' has no parameter 'layer'");
  EXPECT_THAT(Refusal(With(R"("models": [{"family": "fc", "choices": {"layers": "x"}}])")),
              HasSubstr("models[0]: choices.layers: 'x' is not a number"));
  EXPECT_THAT(Refusal(With(R"("models": [{"family": "fc", "choices": {"layers": 1.5}}])")),
              HasSubstr("choices.layers"));
  EXPECT_THAT(Refusal(With(R"("models": [{"family": "fc", "choices": {"layers": "1..65536+1"}}])")),
              HasSubstr("more than 1000"));
  EXPECT_THAT(Refusal(With(R"("models": [{"family": "fc", "file": "x.onnx"}])")), HasSubstr("either"));
  EXPECT_THAT(Refusal(With(R"("models": [{}])")), HasSubstr("either"));
  EXPECT_THAT(Refusal(With(R"("models": [{"file": "nowhere.onnx"}])")), HasSubstr("nowhere.onnx: cannot be read"));
  EXPECT_THAT(Refusal(With(std::string(kFc) + R"(, "contracts": ["f12"])")), HasSubstr("unknown contract 'f12'"));
  EXPECT_THAT(Refusal(With(std::string(kFc) + R"(, "threads": [0])")), HasSubstr("threads"));
  EXPECT_THAT(Refusal(With(std::string(kFc) + R"(, "method": {"seconds": 1e9})")), HasSubstr("seconds"));
}

TEST(Differences, NameTheFieldsAndTheValuesThatOneSideLacks) {
  const auto one = Cells(With(std::string(kFc) + R"(, "threads": [1, 2])"));
  const auto other = Cells(With(std::string(kFc) + R"(, "threads": [1, 4], "cores": "0")"));
  const std::vector<FieldDifference> differences = DifferencesOf(one, other);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].field, "cores");
  EXPECT_EQ(differences[1].field, "threads");
  EXPECT_THAT(differences[1].only_here, ElementsAre("2"));
  EXPECT_THAT(differences[1].only_there, ElementsAre("4"));
  EXPECT_THAT(DifferencesOf(one, one), IsEmpty());
}

// The schema file is for editors and for other programs: it names what the reader takes.
TEST(SchemaFile, AllowsWhatTheReaderReads) {
  std::ifstream file(testing::SourceFolder() + "/src/evaluation/evaluation.schema.json");
  const nlohmann::json schema = nlohmann::json::parse(file);
  const auto names = [](const nlohmann::json& object) {
    std::vector<std::string> members;
    for (const auto& [name, value] : object.at("properties").items()) members.push_back(name);
    return members;
  };
  // A member that the schema lacks would be one that the reader complains about, and the reverse.
  for (const std::string& name : names(schema))
    EXPECT_THAT(Refusal(With("\"" + name + "\": null")), ::testing::Not(HasSubstr("unknown member"))) << name;
  for (const std::string& name : names(schema["$defs"]["model"]))
    EXPECT_THAT(Refusal(With(R"("models": [{")" + name + R"(": null}])")), ::testing::Not(HasSubstr("unknown member")));
  for (const std::string& name : names(schema["properties"]["method"]))
    EXPECT_THAT(Refusal(With(R"("models": [], "method": {")" + name + R"(": null})")),
                ::testing::Not(HasSubstr("unknown member")));
  EXPECT_EQ(names(schema).size(), 12U);
  EXPECT_EQ(names(schema["$defs"]["model"]).size(), 9U);
}

}  // namespace
}  // namespace infimum::evaluation_test
