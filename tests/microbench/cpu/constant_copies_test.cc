// That copies are used, and that nothing but constants is copied, is told by spoiling them one by one.
#include "microbench/cpu/constant_copies.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "microbench/cpu/offers.h"
#include "microbench/reference/random_fill.h"
#include "microbench/reference/reference.h"

namespace infimum::cpu {
namespace {

// A layer's tensors, and whether what its program computes is right.
class Layer {
 public:
  explicit Layer(const char* text) {
    problem.config = *ParseLayerConfig(text);
    for (const Operand& operand : OperandsOf(problem.config)) {
      tensors_.push_back(*HostTensor::Make(operand.shape, operand.type));
      FillOperand(problem.config, problem.operands.size(), 1, tensors_.back());
      problem.operands.push_back(&tensors_.back());
    }
    for (const Operand& output : OutputsOf(problem.config)) {
      tensors_.push_back(*HostTensor::Make(output.shape, output.type));
      problem.outputs.push_back(&tensors_.back());
    }
  }

  // Of what the last run left.
  bool IsRight(Program& program) {
    EXPECT_TRUE(program.Unpack().ok());
    const std::unique_ptr<Reference> reference = MakeReference(problem.config);
    std::deque<TensorSource> sources;
    Sources operands;
    for (const HostTensor* tensor : problem.operands) operands.push_back(&sources.emplace_back(*tensor));
    const Workload workload(problem.config);
    return LargestError(*reference, MeasureOf(workload), operands, problem.outputs, 1) <=
           Tolerance(NativeContract(workload), workload);
  }

  Problem problem;

 private:
  std::deque<HostTensor> tensors_;
};

class Copies : public ::testing::TestWithParam<const char*> {};

TEST_P(Copies, AreReadInTurnAndEachInMemoryOfItsOwn) {
  Layer layer(GetParam());
  for (const Offer& offer : OffersFor(layer.problem.config, CandidateTier::kEngine)) {
    SCOPED_TRACE(offer.candidate.name());
    const Result<std::unique_ptr<Program>> program = offer.make(layer.problem);
    if (!program.ok()) continue;
    // Where constants lie as they came, they are the problem's own tensors: spoilt here, mended below.
    const std::vector<ConstantBlock> blocks = (*program)->Constants();
    ASSERT_FALSE(blocks.empty());
    ConstantCopies copies(**program);
    std::size_t bytes = 0;
    for (const ConstantBlock& block : blocks) bytes += block.bytes;
    EXPECT_EQ(copies.bytes(), Bytes{static_cast<std::int64_t>(bytes)});
    ASSERT_TRUE((*program)->Run().ok());
    ASSERT_TRUE(layer.IsRight(**program));
    ASSERT_TRUE(copies.Make(3).ok());
    std::vector<std::vector<char>> kept;
    for (const ConstantBlock& block : blocks) {
      kept.emplace_back(static_cast<char*>(block.data), static_cast<char*>(block.data) + block.bytes);
    }
    for (int round = 0; round < 2; ++round) {
      for (const bool own : {false, false, true}) {
        copies.Next();
        for (const ConstantBlock& block : blocks) std::memset(block.data, 0, block.bytes);
        EXPECT_TRUE((*program)->Run().ok());
        for (std::size_t i = 0; i < blocks.size(); ++i) std::memcpy(blocks[i].data, kept[i].data(), kept[i].size());
        EXPECT_EQ(layer.IsRight(**program), !own) << round;
      }
    }
    ASSERT_TRUE(copies.Make(1).ok());
    ASSERT_TRUE((*program)->Run().ok());
    EXPECT_TRUE(layer.IsRight(**program));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layers, Copies,
    ::testing::Values(
        "convolution dtype=f32:f32:f32 in=1x16x14x14 out_channels=24 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
        "groups=1 bias=yes weights=const",
        "convolution dtype=bf16:bf16:bf16 in=1x16x14x14 out_channels=24 kernel=1x1 stride=1x1 dilation=1x1 "
        "pad=0,0,0,0 groups=1 bias=no weights=const",
        "matmul dtype=f32:f32:f32 a=1x16x48 b=1x48x40 bias=column weights=const",
        // Weights on huge pages, a bias on small ones.
        "matmul dtype=f32:f32:f32 a=1x1x1100 b=1x1100x1000 bias=column weights=const",
        "recurrent kind=lstm dtype=f32:f32:f32 sequence=4 batch=1 input=24 hidden=16 directions=2 bias=yes "
        "weights=const"));

// What one program's copies were in holds another's next: nothing of the first may show.
TEST(ConstantCopies, OfSeveralProgramsMayFollowOneAnother) {
  Layer large("matmul dtype=f32:f32:f32 a=1x4x96 b=1x96x80 bias=column weights=const");
  Layer small("matmul dtype=f32:f32:f32 a=1x4x24 b=1x24x20 bias=column weights=const");
  for (Layer* layer : {&large, &small, &large, &small}) {
    const Result<std::unique_ptr<Program>> program =
        OffersFor(layer->problem.config, CandidateTier::kEngine).front().make(layer->problem);
    ASSERT_TRUE(program.ok());
    ConstantCopies copies(**program);
    ASSERT_TRUE(copies.Make(5).ok());
    // Moved with what they hold, as those of a replay are.
    ConstantCopies moved = std::move(copies);
    for (int run = 0; run < 10; ++run) {
      moved.Next();
      ASSERT_TRUE((*program)->Run().ok());
      EXPECT_TRUE(layer->IsRight(**program));
    }
  }
}

TEST(ConstantCopies, AreRefusedWhereThereAreNoConstants) {
  Layer layer("pointwise kind=relu dtype=f32:-:f32 in=64");
  const Result<std::unique_ptr<Program>> program =
      OffersFor(layer.problem.config, CandidateTier::kEngine).front().make(layer.problem);
  ASSERT_TRUE(program.ok());
  ConstantCopies copies(**program);
  EXPECT_EQ(copies.bytes(), Bytes{});
  EXPECT_TRUE(copies.Make(1).ok());
  EXPECT_FALSE(copies.Make(2).ok());
}

}  // namespace
}  // namespace infimum::cpu
