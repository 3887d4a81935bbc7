// The command line's promises: exit codes, one clear line for each error, data on standard output alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const kCommands[] = {"analyze", "inspect", "plan",    "emit",   "bench",   "candidates", "synth",
                                 "import",  "bound",   "measure", "report", "devices", "llm"};

// One line that starts as every error does.
void ExpectOneError(const Ended& ended, const std::string& part) {
  EXPECT_THAT(ended.errors, StartsWith("infimum: error: "));
  EXPECT_EQ(std::count(ended.errors.begin(), ended.errors.end(), '\n'), 1) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr(part));
  EXPECT_EQ(ended.output, "");
}

TEST(CommandLine, HelpOfEveryCommandHasAnExampleOfIt) {
  const ProgramTest program;
  for (const std::string command : kCommands) {
    const Ended ended = program.Infimum({command, "--help"});
    EXPECT_EQ(ended.exit_code, 0) << command;
    EXPECT_THAT(ended.output, HasSubstr("Example:\n  infimum " + command));
  }
}

TEST(CommandLine, AMistypedCommandIsAUsageErrorWithAGuess) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"analyse", "model.onnx"});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneError(ended, "unknown command 'analyse', did you mean 'analyze'?");
}

TEST(CommandLine, AMistypedOptionIsAUsageErrorWithAGuess) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"inspect", "model.onnx", "--fromat", "json"});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneError(ended, "unknown option '--fromat', did you mean '--format'?");
}

TEST(CommandLine, ADimensionWithoutItsOwnOptionIsAUsageErrorWithTheOption) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"inspect", "model.onnx", "--dim", "batch=1", "sequence=2"});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneError(ended, "unknown argument 'sequence=2'; each dimension takes an option of its own: --dim 'sequence=2'");
}

TEST(CommandLine, NoCommandAndNoModelAreUsageErrors) {
  const ProgramTest program;
  EXPECT_EQ(program.Infimum({}).exit_code, 2);
  EXPECT_EQ(program.Infimum({"inspect"}).exit_code, 2);
  EXPECT_EQ(program.Infimum({"bound", "m.onnx", "--contract", "f17"}).exit_code, 2);
  EXPECT_EQ(program.Infimum({"analyze", "m.onnx", "--budget", "soon"}).exit_code, 2);
}

TEST(CommandLine, AnOptionBeforeTheCommandThatHasItIsToldItsPlace) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"synth", "--output", "models", "fc"});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneError(ended, "--output stands before the command that it belongs to: write it behind 'infimum synth fc'");
}

TEST(CommandLine, UnknownRulesAreAUsageErrorWithAGuessOrTheList) {
  const ProgramTest program;
  const Ended guessed = program.Infimum({"bound", "m.onnx", "--rules", "benanza-2109"});
  EXPECT_EQ(guessed.exit_code, 2);
  ExpectOneError(guessed, "unknown rules 'benanza-2109', did you mean 'benanza-2019'?");
  const Ended listed = program.Infimum({"bound", "m.onnx", "--rules", "none"});
  EXPECT_EQ(listed.exit_code, 2);
  ExpectOneError(listed, "they are bracket, benanza-2019, benanza-2019-fused");
}

TEST(CommandLine, FilesThatAreNoModelsAreRefusedInOneLine) {
  const ProgramTest program;
  ExpectOneError(program.Infimum({"inspect", "absent.onnx"}), "absent.onnx");
  for (const std::string& text :
       {std::string(), std::string("hello"), std::string(4096, '\xff'), std::string("\x3a\xff\xff\xff\xff\x07")}) {
    const std::string path = program.Write("bad.onnx", text);
    for (const char* command : {"inspect", "bound", "plan", "analyze"}) {
      const Ended ended = program.Infimum({command, path});
      EXPECT_EQ(ended.exit_code, 1) << command;
      ExpectOneError(ended, "bad.onnx");
    }
  }
}

TEST(CommandLine, ADimensionMayBeZeroAndNotLess) {
  const ProgramTest program;
  onnx::ModelProto model;
  const auto parsed = onnx::OnnxParser::Parse(model, R"(<ir_version: 9, opset_import: ["" : 17]>
      g (float[past, 8] x) => (float[past, 8] y) { y = Relu (x) })");
  ASSERT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
  program.Write("m.onnx", model.SerializeAsString());
  EXPECT_THAT(program.Run({"inspect", "m.onnx", "--dim", "past=0", "--all"}), HasSubstr("its result has no elements"));
  EXPECT_THAT(program.Infimum({"inspect", "m.onnx", "--dim", "past=-1"}).errors, HasSubstr("with N of at least 0"));
}

TEST(CommandLine, ADataSheetNeedsNoStoreAndWhichOneItIsIsSaid) {
  const ProgramTest program;
  const auto bound = [&](const std::string& device) {
    return program.Infimum({"bound", program.Light("squeezenet"), "--device", device});
  };
  EXPECT_THAT(bound("NVIDIA H100").output,
              StartsWith("NVIDIA H100 80GB HBM3, by its data sheet; 'NVIDIA H100' may also be NVIDIA H100 PCIe, NVIDIA "
                         "H100 NVL\n"));
  EXPECT_THAT(bound("h100 nvl").output, StartsWith("NVIDIA H100 NVL, by its data sheet\n"));
  ExpectOneError(bound("A100 80GB"),
                 "device 'A100 80GB' is not one but 2: NVIDIA A100-SXM4-80GB, NVIDIA A100 80GB PCIe");
  ExpectOneError(bound("here"), "infimum.db: no such store");
}

TEST(CommandLine, InspectPrintsTheDocumentedKeys) {
  const ProgramTest program;
  const nlohmann::json json = program.Json({"inspect", ProgramTest::Light("resnet50"), "--format", "json"});
  EXPECT_EQ(json.at("schema"), "infimum.inspect/1");
  for (const char* key : {"name", "sha256", "opset", "inputs"}) EXPECT_TRUE(json.at("model").contains(key)) << key;
  ASSERT_FALSE(json.at("layers").empty());
  for (const auto& layer : json.at("layers")) {
    for (const char* key :
         {"name", "op", "status", "config", "reason", "flops", "bytes_read", "bytes_written", "parameters"}) {
      EXPECT_TRUE(layer.contains(key)) << key;
    }
    EXPECT_NE(layer.at("status"), "unknown") << layer;
  }
}

TEST(CommandLine, AnOutputThatCannotBeWrittenIsRefusedBeforeAnyWork) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"inspect", ProgramTest::Light("resnet50"), "-o", "no/such/folder/out.txt"});
  EXPECT_EQ(ended.exit_code, 1);
  ExpectOneError(ended, "no/such/folder/out.txt");
}

TEST(CommandLine, AModelThatIsNotQuantizedHasNoPlanUnderInt8) {
  const ProgramTest program;
  for (const char* contract : {"int8", "fp8"}) {
    const Ended ended = program.Infimum({"plan", ProgramTest::Light("squeezenet"), "--contract", contract});
    EXPECT_EQ(ended.exit_code, 2) << ended.output;
    ExpectOneError(ended, "quantize the model and analyze it without --contract");
  }
}

TEST(CommandLine, UnknownBackendsAndFrameworksListWhatThereIs) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"analyze", ProgramTest::Light("squeezenet"), "--backend", "onednm"});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneError(ended, "did you mean 'onednn'?");
}

TEST(CommandLine, EmitWritesANewFolderAndNamesWhatItLeavesOut) {
  const ProgramTest program;
  program.Write("plan.txt",
                "# infimum plan 1\npointwise kind=relu dtype=f32:-:f32 in=64\nscan kind=sum dtype=f32:-:f32 in=2x3x1 "
                "axis=1\n");
  const Ended ended = program.Infimum({"emit", "plan.txt", "-o", "benchmarks"});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(ended.errors,
              HasSubstr("infimum: left out: 'scan kind=sum dtype=f32:-:f32 in=2x3x1 axis=1': oneDNN has"));
  EXPECT_THAT(ended.errors, HasSubstr("1 source written to benchmarks, 1 left out"));
  EXPECT_THAT(program.Read("benchmarks/CMakeLists.txt"), HasSubstr("onednn_pointwise_relu_f32_64_"));
  const Ended again = program.Infimum({"emit", "plan.txt", "-o", "benchmarks"});
  EXPECT_EQ(again.exit_code, 1);
  ExpectOneError(again, "benchmarks: is not empty");
  const Ended unread = program.Infimum({"emit", "absent.txt", "-o", "other"});
  EXPECT_EQ(unread.exit_code, 1);
  ExpectOneError(unread,
                 "absent.txt: cannot be read: No such file or directory; `infimum plan MODEL -o FILE` writes a plan");
  EXPECT_EQ(program.Infimum({"emit", "plan.txt"}).exit_code, 2);
  EXPECT_EQ(program.Infimum({"emit", "plan.txt", "-o", "x", "--library", "mkl"}).exit_code, 2);
  program.Run({"emit", "--layer", "matmul dtype=f32:f32:f32 a=1x8x16 b=1x16x8 bias=no weights=const", "--contract",
               "tf32", "--library", "cublaslt", "-o", "products"});
  EXPECT_THAT(program.Read("products/CMakeLists.txt"), HasSubstr("CUDA::cublasLt"));
  // Several libraries: a folder for each that has any of the layers.
  const Ended all = program.Infimum({"emit", "plan.txt", "--library", "all", "-o", "all"});
  EXPECT_EQ(all.exit_code, 0) << all.errors;
  EXPECT_THAT(program.Read("all/onednn/CMakeLists.txt"), HasSubstr("onednn_pointwise_relu_f32_64_"));
  EXPECT_THAT(program.Read("all/cudnn/CMakeLists.txt"), HasSubstr("cudnn_pointwise_relu_f32_64_"));
  EXPECT_THAT(all.errors, HasSubstr("cublaslt: nothing of the plan can be emitted"));
  EXPECT_FALSE(std::filesystem::exists(program.folder() / "all/cublaslt"));
  // A folder that cannot be written fails, whatever others could be.
  std::filesystem::remove_all(program.folder() / "all/cudnn");
  const Ended refused = program.Infimum({"emit", "plan.txt", "--library", "cudnn,onednn", "-o", "all"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("all/onednn: is not empty"));
  const std::string convolution =
      "convolution dtype=f16:f16:f16 in=1x8x9x9 out_channels=8 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
      "bias=no weights=const";
  program.Run({"emit", "--layer", convolution, "--library", "cudnn", "--candidate", "cudnn-legacy/winograd/tensor_op",
               "-o", "older"});
}

}  // namespace
}  // namespace infimum::testing
