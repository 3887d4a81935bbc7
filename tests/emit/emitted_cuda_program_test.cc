// Emitted projects for NVIDIA's libraries build where no GPU is, say so in one line when they are run there, and name
// the very candidates that the enumerator has for a GPU that is described to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "src/core/results/candidate_list.h"
#include "tests/emit/emitted_program.h"
#include "tests/support/folders.h"

namespace infimum::emitted_cuda_program_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// GCC 12 sees overlaps where std::string is assigned a literal (its bug 105651).
constexpr const char* kFlags = "-Wall -Wextra -Wpedantic -Wshadow -Werror";

Plan PlanOf(const std::vector<std::string>& texts) {
  Plan plan;
  for (const std::string& text : texts) {
    const Result<Workload> workload = ParseWorkload(text);
    EXPECT_TRUE(workload.ok()) << text << ": " << (workload.ok() ? "" : workload.error().message);
    if (workload.ok()) plan.entries.push_back({*workload, NativeContract(*workload), 1, 0});
  }
  return plan;
}

bool HasDriver() { return std::filesystem::exists("/proc/driver/nvidia/version"); }

void ExpectToSayThatThereIsNoGpu(const testing::EmittedProgram& program) {
  if (HasDriver()) return;
  const auto said = program.Say("");
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.output, "");
  EXPECT_THAT(said.error, HasSubstr("_benchmarks: no GPU to run on: "));
  EXPECT_EQ(std::count(said.error.begin(), said.error.end(), '\n'), 1) << said.error;
}

std::string OutputOf(const std::string& command) {
  std::string output;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, count);
  return pclose(pipe) == 0 ? output : "";
}

// "cudnn-graph/eng1_k2=5/acc=f16 acdb->acdb contract=f16", as the program lists them; kernels of ours are not emitted,
// nor are products with a constant.
std::set<std::string> EnumeratorsLines(const std::string& layer, const std::string& properties,
                                       const std::string& library = "cudnn-graph") {
  const std::string line = OutputOf("'" + testing::Program("infimum-candidates-cuda") + "' --layer '" + layer +
                                    "' --device-properties '" + properties + "'");
  const Result<CandidateList> list = ParseCandidateList(line);
  EXPECT_TRUE(list.ok()) << line;
  std::set<std::string> lines;
  if (!list.ok()) return lines;
  for (const OfferedCandidate& offered : list->candidates) {
    const Candidate& candidate = offered.candidate;
    if (candidate.library != library || candidate.algorithm.starts_with("as-matmul/")) continue;
    lines.insert(candidate.name() + " " + candidate.input_layout + "->" + candidate.output_layout +
                 " contract=" + std::string(Name(list->contract)));
  }
  return lines;
}

TEST(EmittedCudaProgram, OfCublasLtBuildsAndSaysThatThereIsNoGpu) {
  if (const auto reason = testing::WhyNoEmittedProgram("cublaslt")) GTEST_SKIP() << *reason;
  testing::EmittedProgram program(
      PlanOf({"region [matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=column weights=const](in0,w0,w1) ; "
              "[pointwise kind=gelu_tanh dtype=f16:-:f16 in=393216](%0)",
              "matmul dtype=f8e4m3:f8e4m3:f8e4m3 a=12x128x64 b=12x64x128 bias=no weights=const",
              "matmul dtype=f4e2m1:f4e2m1:f16 a=1x128x768 b=1x768x3072 bias=no weights=const scales=16x1:f8e4m3 "
              "a_scales=1x16:f8e4m3",
              "matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=column weights=const sparsity=2:4"}),
      {"cublaslt", {}, "1.2.3"});
  ASSERT_EQ(program.Build(kFlags + std::string(" -O3")), "");  // as projects are built
  ExpectToSayThatThereIsNoGpu(program);
  const auto said = program.Say("--tier every");
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.error, HasSubstr("--tier every: it is heuristic, engine or exhaustive"));
}

TEST(EmittedCudaProgram, OfCudnnNamesTheEnumeratorsCandidates) {
  if (const auto reason = testing::WhyNoEmittedProgram("cudnn")) GTEST_SKIP() << *reason;
  const std::string layer =
      "convolution dtype=f16:f16:f16 in=1x3x224x224 out_channels=64 kernel=7x7 stride=2x2 dilation=1x1 pad=3,3,3,3 "
      "groups=1 bias=yes weights=const";
  // Addends in the shape of a normalization, a chain where cuDNN has no operation, scales of integers, each family.
  const std::vector<std::string> layers{
      layer,
      "region [pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in0,in1) ; [normalization kind=layer "
      "dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=yes](%0,w0,w1)",
      "region [normalization kind=batch dtype=f16:f16:f16 in=1x64x56x56 axis=1 scale=yes bias=yes](in0,w0,w1,w2,w3) ; "
      "[pointwise kind=hard_swish dtype=f16:-:f16 in=200704](%0)",
      "region [matmul dtype=s8:s8:s8 a=1x128x256 b=1x256x512 bias=column weights=const](in0,w0,w1) ; [pointwise "
      "kind=relu dtype=s8:-:s8 in=65536](%0)",
      "convolution dtype=s8:s8:s8 in=1x64x28x28 out_channels=32 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=1 bias=no weights=const",
      "pooling kind=max dtype=f16:-:f16 in=1x64x112x112 out=1x64x56x56 kernel=3x3 stride=2x2 dilation=1x1 "
      "pad=1,1,1,1",
      "normalization kind=batch dtype=f16:f32:f16 in=1x64x56x56 axis=1 scale=yes bias=yes",
      "normalization kind=lrn dtype=f32:-:f32 in=1x96x55x55 axis=1 size=5 scale=no bias=no",
      "softmax kind=softmax dtype=f16:-:f16 in=1536x128x1 axis=1",
      "softmax kind=log_softmax dtype=f32:-:f32 in=8x21x1024 axis=1",
      "recurrent kind=lstm dtype=f16:f16:f16 sequence=64 batch=1 input=256 hidden=512 directions=2 bias=yes "
      "weights=const",
      "recurrent kind=rnn_relu dtype=f32:f32:f32 sequence=8 batch=4 input=16 hidden=32 directions=1 bias=no "
      "weights=const",
      "reduction kind=mean dtype=f32:-:f32 in=1280x49 axes=1",
      "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=full"};
  testing::EmittedProgram program(PlanOf(layers), {"cudnn", {}, "1.2.3"});
  ASSERT_EQ(program.Build(kFlags + std::string(" -O0")), "");  // the frontend compiles for a minute otherwise
  ExpectToSayThatThereIsNoGpu(program);

  const auto help = program.Say("--help");
  EXPECT_THAT(help.output,
              AllOf(HasSubstr("--tier"), HasSubstr("--device-properties"), HasSubstr("--benchmark_filter")));
  const std::string properties = testing::SourceFolder() + "/db/data/gpus/h200.json";
  const auto said = program.Say("--list --device-properties '" + properties + "'");
  ASSERT_EQ(said.status, 0) << said.error;
  std::map<std::string, std::set<std::string>> lines, older;
  std::string at;
  for (std::size_t start = 0, end = 0; (end = said.output.find('\n', start)) != std::string::npos; start = end + 1) {
    const std::string line = said.output.substr(start, end - start);
    // "# a layer", or "# a form: why not".
    if (std::find(layers.begin(), layers.end(), line.substr(std::min<std::size_t>(2, line.size()))) != layers.end())
      at = line.substr(2);
    if (line[0] != '#') (line.rfind("cudnn-legacy/", 0) == 0 ? older : lines)[at].insert(line);
  }
  EXPECT_GT(lines[layer].size(), 20U);
  for (const std::string& each : layers) EXPECT_EQ(lines[each], EnumeratorsLines(each, properties)) << each;
  // The older calls' eight algorithms on Tensor Cores, without, with sums of f16, and one with channels last.
  EXPECT_EQ(older[layer].size(), 25U);
  EXPECT_EQ(older[layer], EnumeratorsLines(layer, properties, "cudnn-legacy"));
  EXPECT_THAT(older[layer], IsSupersetOf({"cudnn-legacy/winograd_nonfused/tensor_op abcd->abcd contract=f16",
                                          "cudnn-legacy/fft abcd->abcd contract=f16",
                                          "cudnn-legacy/gemm/tensor_op/acc=f16 abcd->abcd contract=f16",
                                          "cudnn-legacy/implicit_precomp_gemm/tensor_op acdb->acdb contract=f16"}));
  std::size_t with_older = 0;
  for (const std::string& each : layers) {
    EXPECT_EQ(older[each], EnumeratorsLines(each, properties, "cudnn-legacy")) << each;
    with_older += older[each].empty() ? 0 : 1;
  }
  EXPECT_EQ(with_older, 8U) << "an f16 convolution, a pooling, batch and local response normalization, two softmaxes, "
                               "two recurrent layers";
  EXPECT_THAT(older[layers[5]], ElementsAre("cudnn-legacy/pooling/max abcd->abcd contract=f16",
                                            "cudnn-legacy/pooling/max acdb->acdb contract=f16"));
  EXPECT_THAT(older[layers[10]],
              ElementsAre("cudnn-legacy/rnn/persist_dynamic/tensor_op plain->plain contract=f16",
                          "cudnn-legacy/rnn/persist_static/tensor_op plain->plain contract=f16",
                          "cudnn-legacy/rnn/persist_static_small_h/tensor_op plain->plain contract=f16",
                          "cudnn-legacy/rnn/standard/tensor_op plain->plain contract=f16"));
}

}  // namespace
}  // namespace infimum::emitted_cuda_program_test
