// Work of layers whose numbers are known from the literature or are easy to check by hand.
#include "src/core/layer/work.h"

#include <gtest/gtest.h>

#include "infimum/layer/workload.h"
#include "tests/support/random_layer.h"

namespace infimum {
namespace {

LayerConfig Parsed(std::string_view text) {
  Result<LayerConfig> config = ParseLayerConfig(text);
  if (config.ok()) return *std::move(config);
  ADD_FAILURE() << config.error().message;
  return PointwiseConfig{};
}

Work WorkOfText(std::string_view text) { return WorkOf(Parsed(text)); }

std::vector<Bytes> BytesList(std::initializer_list<std::int64_t> values) {
  std::vector<Bytes> bytes;
  for (const std::int64_t value : values) bytes.push_back({value});
  return bytes;
}

TEST(Work, TheFirstConvolutionOfResNet50) {
  const Work work = WorkOfText(
      "convolution dtype=f32:f32:f32 in=1x3x224x224 out_channels=64 kernel=7x7 stride=2x2 dilation=1x1 pad=3,3,3,3 "
      "groups=1 bias=no weights=const");
  EXPECT_EQ(work.direct.value, 2 * 118'013'952);
  EXPECT_EQ(work.conventional.value, 2 * 3 * 64 * 778 * 778);  // 778 of 784 taps in each dimension
  EXPECT_EQ(work.operand_reads, BytesList({4 * 3 * 224 * 224, 4 * 64 * 3 * 49}));
  EXPECT_EQ(work.written.value, 4 * 64 * 112 * 112);
}

TEST(Work, AConvolutionOfOneTapWithAStrideReadsAQuarter) {
  const Work work = WorkOfText(
      "convolution dtype=f32:f32:f32 in=1x256x56x56 out_channels=512 kernel=1x1 stride=2x2 dilation=1x1 pad=0,0,0,0 "
      "groups=1 bias=yes weights=const");
  EXPECT_EQ(work.direct.value, 2 * 102'760'448 + 512 * 28 * 28);
  EXPECT_EQ(work.conventional, work.direct);
  EXPECT_EQ(work.operand_reads, BytesList({4 * 256 * 28 * 28, 4 * 512 * 256, 4 * 512}));
}

TEST(Work, ADepthwiseConvolutionMultipliesEachChannelAlone) {
  const Work work = WorkOfText(
      "convolution dtype=u8:s8:s32 in=1x32x112x112 out_channels=32 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=32 bias=yes weights=const");
  EXPECT_EQ(work.direct.value, 2 * 32 * 9 * 112 * 112 + 32 * 112 * 112);
  EXPECT_EQ(work.operand_reads, BytesList({32 * 112 * 112, 32 * 9, 4 * 32}));
}

TEST(Work, AWeightThatFallsOnPaddingAloneNeedNotBeRead) {
  const Work work = WorkOfText(
      "convolution dtype=f32:f32:f32 in=1x8x1x1 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
      "bias=no weights=const");
  EXPECT_EQ(work.direct.value, 2 * 4 * 8 * 9);
  EXPECT_EQ(work.conventional.value, 2 * 4 * 8);
  EXPECT_EQ(work.operand_reads, BytesList({4 * 8, 4 * 4 * 8}));
}

TEST(Work, AMatrixProductOfBert) {
  const Work work = WorkOfText("matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=column weights=const");
  EXPECT_EQ(work.direct.value, 2 * 301'989'888 + 128 * 3072);
  EXPECT_EQ(work.conventional, work.direct);
  EXPECT_EQ(work.operand_reads, BytesList({4 * 128 * 768, 4 * 768 * 3072, 4 * 3072}));
  EXPECT_EQ(work.written.value, 4 * 128 * 3072);
}

// Half of the products, and of each four elements two with two bits each that say which.
TEST(Work, SparseWeightsAreHalfAsMany) {
  const auto work = [](const std::string& more) {
    return WorkOfText("matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=column weights=const" + more);
  };
  const Work dense = work(""), sparse = work(" sparsity=2:4");
  EXPECT_EQ(sparse.direct, dense.direct);
  EXPECT_EQ(sparse.conventional.value, 128 * 3072 * 768 + 128 * 3072);
  EXPECT_EQ(sparse.operand_reads[1].value, 768 * 3072 + 768 * 3072 / 8);
  EXPECT_EQ(sparse.operand_reads[0], dense.operand_reads[0]);
  EXPECT_EQ(sparse.operand_reads[2], dense.operand_reads[2]);
  EXPECT_EQ(sparse.written, dense.written);
}

TEST(Work, ABroadcastBatchIsReadOnce) {
  const Work work = WorkOfText("matmul dtype=f16:f16:f16 a=1x4x8 b=12x8x2 bias=no weights=variable");
  EXPECT_EQ(work.direct.value, 2 * 12 * 4 * 8 * 2);
  EXPECT_EQ(work.operand_reads, BytesList({2 * 4 * 8, 2 * 12 * 8 * 2}));
  EXPECT_EQ(work.written.value, 2 * 12 * 4 * 2);
}

TEST(Work, GroupedQueriesReadTheirKeysOnce) {
  const Work work = WorkOfText("attention dtype=f16:-:f16 n=1 heads=32 kv_heads=8 q=1 kv=512 head=128 mask=causal");
  EXPECT_EQ(work.direct.value, 32 * 512 * (4 * 128 + 5));
  EXPECT_EQ(work.conventional, work.direct);  // the only query is the last and sees everything
  EXPECT_EQ(work.operand_reads, BytesList({2 * 32 * 128, 2 * 8 * 512 * 128, 2 * 8 * 512 * 128}));
}

TEST(Work, AnLstmCountsItsGatesAndWeights) {
  const Work work = WorkOfText(
      "recurrent kind=lstm dtype=f32:f32:f32 sequence=64 batch=1 input=256 hidden=512 directions=2 bias=yes "
      "weights=const");
  EXPECT_EQ(work.direct.value, std::int64_t{2} * 64 * 4 * 512 * (2 * (256 + 512) + 7));
  EXPECT_EQ(work.operand_reads, BytesList({4 * 64 * 256, 4 * 2 * 2048 * 256, 4 * 2 * 2048 * 512, 4 * 2 * 4096}));
  EXPECT_EQ(work.written.value, 4 * 64 * 2 * 512);
}

TEST(Work, ASingleStepFromAZeroStateNeedNotReadTheRecurrentWeights) {
  const Work work = WorkOfText(
      "recurrent kind=gru dtype=f32:f32:f32 sequence=1 batch=1 input=8 hidden=8 directions=1 bias=no weights=const");
  EXPECT_EQ(work.operand_reads, BytesList({4 * 8, 4 * 24 * 8, 0}));
}

TEST(Work, NormalizationsAndSoftmaxPassOverTheirElements) {
  const Work batch = WorkOfText("normalization kind=batch dtype=f32:f32:f32 in=1x64x112x112 axis=1 scale=yes bias=yes");
  EXPECT_EQ(batch.direct.value, 2 * 64 * 112 * 112);
  EXPECT_EQ(batch.operand_reads.size(), 5U);
  EXPECT_EQ(batch.operand_reads[4].value, 4 * 64);
  const Work layer = WorkOfText("normalization kind=layer dtype=f32:f32:f32 in=128x768 axis=1 scale=yes bias=yes");
  EXPECT_EQ(layer.direct.value, 8 * 128 * 768);
  EXPECT_EQ(layer.operand_reads, BytesList({4 * 128 * 768, 4 * 768, 4 * 768}));
  const Work lrn = WorkOfText("normalization kind=lrn dtype=f32:-:f32 in=1x96x27x27 axis=1 size=5 scale=no bias=no");
  EXPECT_EQ(lrn.direct.value, 13 * 96 * 27 * 27);
  EXPECT_EQ(WorkOfText("softmax kind=softmax dtype=f32:-:f32 in=1536x128x1 axis=1").direct.value, 5 * 1536 * 128);
  EXPECT_EQ(WorkOfText("softmax kind=hardmax dtype=f32:-:f32 in=2x3x1 axis=1").direct.value, 6);
}

TEST(Work, ReductionsScansAndSorts) {
  const Work mean = WorkOfText("reduction kind=mean dtype=f32:-:f32 in=1280x49 axes=1");
  EXPECT_EQ(mean.direct.value, 1280 * 49);
  EXPECT_EQ(mean.written.value, 4 * 1280);
  EXPECT_EQ(WorkOfText("reduction kind=l2 dtype=f32:-:f32 in=4x8 axes=0,1").direct.value, 64);
  const Work scan = WorkOfText("scan kind=sum dtype=f32:-:f32 in=64x1000x1 axis=1");
  EXPECT_EQ(scan.direct.value, 64000);
  const Work topk = WorkOfText("sort kind=topk dtype=f32:-:f32 in=8x1000x1 axis=1 k=5");
  EXPECT_EQ(topk.direct.value, 8000);
  EXPECT_EQ(topk.written.value, 8 * 5 * (4 + 8));
  EXPECT_EQ(WorkOfText("sort kind=sort dtype=f32:-:f32 in=8x1000x1 axis=1 k=1000").direct.value, 8 * 1000 * 10);
}

TEST(Work, PointwiseCountsOutputsAndReadsEachOperandOnce) {
  const Work add = WorkOfText("pointwise kind=add dtype=f32:f32:f32 in=128x768,768");
  EXPECT_EQ(add.direct.value, 128 * 768);
  EXPECT_EQ(add.operand_reads, BytesList({4 * 128 * 768, 4 * 768}));
  EXPECT_EQ(WorkOfText("pointwise kind=add dtype=f32:f32:f32 in=10,10,10,10").direct.value, 30);
  EXPECT_EQ(WorkOfText("pointwise kind=mean dtype=f32:f32:f32 in=10,10,10").direct.value, 30);
  const Work where = WorkOfText("pointwise kind=where dtype=f32:bool:f32 in=12x128x128,12x128x128,1");
  EXPECT_EQ(where.operand_reads, BytesList({12 * 128 * 128, 4 * 12 * 128 * 128, 4}));
  EXPECT_EQ(WorkOfText("pointwise kind=cast dtype=f32:-:f16 in=64").written.value, 128);
}

TEST(Work, MovementsReadWhatTheyKeep) {
  const Work gather = WorkOfText("movement kind=gather dtype=f32:s64:f32 in=30522x768 out=128x768 axis=0 indices=128");
  EXPECT_EQ(gather.direct.value, 0);
  EXPECT_EQ(gather.operand_reads, BytesList({4 * 128 * 768, 8 * 128}));
  EXPECT_EQ(WorkOfText("movement kind=gather dtype=f32:s64:f32 in=2x4 out=100x4 axis=0 indices=100").operand_reads,
            BytesList({4 * 2 * 4, 800}));
  EXPECT_EQ(WorkOfText("movement kind=slice dtype=f32:-:f32 in=100x8 out=10x8").operand_reads, BytesList({4 * 80}));
  EXPECT_EQ(
      WorkOfText("movement kind=scatter dtype=f32:s64:f32 in=100x8,10x8 out=100x8 axis=0 indices=10").operand_reads,
      BytesList({4 * 90 * 8, 4 * 80, 80}));
  const Work fill = WorkOfText("movement kind=fill dtype=-:-:f32 in=- out=128");
  EXPECT_EQ(fill.operand_reads, BytesList({}));
  EXPECT_EQ(fill.written.value, 512);
  EXPECT_EQ(WorkOfText("movement kind=expand dtype=f32:-:f32 in=1x64 out=128x64").operand_reads, BytesList({256}));
}

TEST(Work, ResamplingCountsItsTaps) {
  const Work linear = WorkOfText("resample kind=linear dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20");
  EXPECT_EQ(linear.direct.value, 2 * 4 * 256 * 400);
  EXPECT_EQ(linear.operand_reads, BytesList({4 * 25600}));
  const Work nearest = WorkOfText("resample kind=nearest dtype=f32:-:f32 in=1x1x10x10 out=1x1x5x5");
  EXPECT_EQ(nearest.direct.value, 0);
  EXPECT_EQ(nearest.operand_reads, BytesList({100}));
  EXPECT_EQ(WorkOfText("resample kind=cubic dtype=f32:-:f32 in=1x1x8x8 out=1x1x16x8").direct.value, 2 * 4 * 128);
}

TEST(Work, OfAnyLayerHoldsItsOrder) {
  testing::RandomLayers random(31);
  for (int i = 0; i < 20000; ++i) {
    const LayerConfig config = random.Layer();
    SCOPED_TRACE(Format(config));
    const Work work = WorkOf(config);
    ASSERT_LE(work.conventional, work.direct);
    const std::vector<Operand> operands = OperandsOf(config);
    ASSERT_EQ(work.operand_reads.size(), operands.size());
    for (std::size_t j = 0; j < operands.size(); ++j)
      ASSERT_LE(work.operand_reads[j], SizeOf(operands[j].type, ElementCount(operands[j].shape)));
    Bytes outputs;
    for (const Operand& output : OutputsOf(config)) outputs += SizeOf(output.type, ElementCount(output.shape));
    ASSERT_EQ(work.written, outputs);
  }
}

}  // namespace
}  // namespace infimum
