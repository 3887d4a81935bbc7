// Every variant of every kernel of ours against the f64 references, on the host: the arithmetic and the indices are
// those of the device. The layers are those that the CPU's backend is tested with, and more of awkward sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "microbench/gpu/device/tensor_placement.h"
#include "microbench/kernels/cuda/kernel_offers.h"
#include "microbench/reference/random_fill.h"
#include "microbench/reference/reference.h"
#include "microbench/reference/region_tensors.h"
#include "tests/microbench/gpu/run_on_host.h"
#include "tests/support/cases.h"
#include "tests/support/folders.h"
#include "tests/support/random_layer.h"

namespace infimum::cuda {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t kSeed = 20240607;

std::vector<std::string> LayersOf(const std::string& file) {
  std::vector<std::string> layers;
  std::ifstream stream(testing::SourceFolder() + "/tests/" + file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line[0] != '#') layers.push_back(line);
  }
  return layers;
}

LayerConfig Layer(const std::string& text) {
  const Result<LayerConfig> config = ParseLayerConfig(text);
  EXPECT_TRUE(config.ok()) << text << ": " << (config.ok() ? "" : config.error().message);
  return *config;
}

// A tensor that starts `shift` elements after an aligned address, with nonsense around it.
class Buffer {
 public:
  Buffer(const Operand& operand, std::int64_t shift)
      : tensor_(*cpu::HostTensor::Make(Widened(operand.shape, shift), operand.type)) {
    bytes_ = cpu::BytesPerElement(tensor_.type());
    shift_ = shift;
    count_ = ElementCount(operand.shape);
    std::memset(tensor_.data(), 0xcb, tensor_.bytes());
    view_ = *cpu::HostTensor::Over(data(), operand.shape, operand.type);
  }
  void* data() const { return static_cast<char*>(tensor_.data()) + shift_ * bytes_; }
  cpu::HostTensor& view() { return view_; }
  // Whether what is around the tensor is as it was.
  bool IsUntouchedAround() const {
    const auto* bytes = static_cast<const unsigned char*>(tensor_.data());
    const auto begin = static_cast<std::size_t>(shift_ * bytes_),
               end = static_cast<std::size_t>((shift_ + count_) * bytes_);
    for (std::size_t i = 0; i < tensor_.bytes(); ++i) {
      if ((i < begin || i >= end) && bytes[i] != 0xcb) return false;
    }
    return true;
  }

 private:
  static Shape Widened(const Shape& shape, std::int64_t shift) { return Shape{{ElementCount(shape) + shift + 16}}; }
  cpu::HostTensor tensor_, view_;
  std::int64_t bytes_ = 0, shift_ = 0, count_ = 0;
};

TensorPlacement PlacementOf(const KernelOffer& offer, const Shape& shape) {
  return offer.channels_last ? TensorPlacement::WithChannels(shape, true) : TensorPlacement::RowMajor(shape);
}

// The largest error of an offer, with buffers that start `shift` elements after aligned addresses.
double ErrorOf(const LayerConfig& config, const KernelOffer& offer, std::int64_t shift,
               const cpu::LayerValues& values = {}, cpu::KnownValues* known = nullptr) {
  std::deque<Buffer> buffers;
  std::deque<cpu::TensorSource> sources;
  cpu::Sources operands;
  KernelBuffers memory;
  std::deque<std::vector<Bytes16>> packed;
  for (const Operand& operand : OperandsOf(config)) {
    // Constants of products lie where the runner allocates them.
    const bool is_constant = operand.constant && std::holds_alternative<MatMulConfig>(config);
    Buffer& buffer = buffers.emplace_back(operand, is_constant ? 0 : shift);
    cpu::FillOperand(config, memory.operands.size(), kSeed, buffer.view());
    memory.operands.push_back(buffer.data());
    if (BitsPerElement(operand.type) == 4 || offer.channels_last) {
      const std::vector<std::byte> placed = Packed(buffer.view(), PlacementOf(offer, operand.shape), operand.type);
      std::vector<Bytes16>& aligned = packed.emplace_back(placed.size() / 16 + 1);
      std::memcpy(aligned.data(), placed.data(), placed.size());
      memory.operands.back() = aligned.data();
    }
    operands.push_back(&sources.emplace_back(buffer.view()));
  }
  std::vector<cpu::HostTensor*> outputs;
  for (const Operand& output : OutputsOf(config)) {
    Buffer& buffer = buffers.emplace_back(output, shift);
    memory.outputs.push_back(buffer.data());
    outputs.push_back(&buffer.view());
  }
  std::vector<double> scratch(static_cast<std::size_t>(offer.scratch_bytes / 8 + 1));
  memory.scratch = scratch.data();
  for (const KernelCall& call : offer.make(memory)) RunOnHost(call);
  for (const Buffer& buffer : buffers) EXPECT_TRUE(buffer.IsUntouchedAround());
  for (cpu::HostTensor* output : outputs) {
    if (!offer.channels_last) continue;
    const auto* bytes = static_cast<const std::byte*>(output->data());
    const std::vector<std::byte> placed(bytes, bytes + output->bytes());
    Unpack(placed, PlacementOf(offer, output->shape()), output->type(), *output);
  }
  const std::unique_ptr<cpu::Reference> reference = cpu::MakeReference(config, values);
  if (known != nullptr) known->Begin(Format(config));
  return cpu::LargestError(*reference, MeasureOf(Workload(config)), operands, outputs, kSeed, known);
}

void ExpectAllMeetTheirContract(const std::string& text, bool may_be_none) {
  SCOPED_TRACE(text);
  const LayerConfig config = Layer(text);
  const std::vector<KernelOffer> offers = KernelsFor(config);
  if (!may_be_none) {
    EXPECT_THAT(offers, Not(IsEmpty()));
  }
  const Workload workload(config);
  cpu::KnownValues known;
  std::set<std::string> names;
  for (const KernelOffer& offer : offers) {
    SCOPED_TRACE(offer.algorithm);
    EXPECT_TRUE(names.insert(offer.algorithm).second);
    for (const std::int64_t shift : {0, 1}) {
      EXPECT_LE(ErrorOf(config, offer, shift, {}, &known), Tolerance(NativeContract(workload), workload)) << shift;
    }
  }
}

class EveryKernel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryKernel, MeetsItsContract) {
  const std::vector<std::string> layers = LayersOf(GetParam());
  ASSERT_THAT(layers, Not(IsEmpty()));
  for (const std::string& text : layers) {
    if (text.starts_with("region") || text.starts_with("reorder")) continue;
    // Large attentions are for the blocks of processors' kernels.
    if (WorkOf(Layer(text)).direct > Flops{10'000'000}) continue;
    ExpectAllMeetTheirContract(text, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, EveryKernel,
                         ::testing::Values("microbench/cpu/layers/attention.txt", "microbench/cpu/layers/movement.txt",
                                           "microbench/cpu/layers/normalization.txt",
                                           "microbench/cpu/layers/pointwise_binary.txt",
                                           "microbench/cpu/layers/pointwise_conversion.txt",
                                           "microbench/cpu/layers/pointwise_unary.txt",
                                           "microbench/cpu/layers/pooling.txt", "microbench/cpu/layers/reduction.txt",
                                           "microbench/cpu/layers/resample.txt", "microbench/gpu/layers/kernels.txt"),
                         [](const auto& file) {
                           std::string name = file.param.substr(file.param.rfind('/') + 1);
                           return file.param.substr(0, file.param.find('/')) + "_" + name.substr(0, name.find('.'));
                         });

// Of layers that nobody chose; the slow reference bounds their size.
TEST(KernelsFor, RandomLayersMeetTheirContracts) {
  testing::RandomLayers random(11, 12);
  std::size_t kernels = 0;
  const std::size_t cases = testing::Cases(100000);
  for (std::size_t i = 0; i < cases; ++i) {
    const LayerConfig config = random.Layer();
    std::int64_t elements = 0;
    for (const Operand& operand : OperandsOf(config)) elements += ElementCount(operand.shape);
    for (const Operand& output : OutputsOf(config)) elements += ElementCount(output.shape);
    // Of one type, as operators have it; statistics of integers may round to either neighbour; random bytes are
    // infinities of 8-bit floats, whose difference is no number.
    const OperandTypes types = TypesOf(config);
    const bool is_float8 = IsFloatingPoint(types.input) && BitsPerElement(types.input) <= 8;
    const bool has_others = types.weights != DataType::kNone && types.weights != types.input &&
                            !std::holds_alternative<MovementConfig>(config);
    const auto* pointwise = std::get_if<PointwiseConfig>(&config);
    const bool scales = pointwise != nullptr && Format(config).find("quantize") != std::string::npos;
    const bool may_round = IsInteger(types.input) && (std::holds_alternative<ReductionConfig>(config) || scales);
    if (may_round || elements > 1 << 14 || types.input != types.output || has_others || is_float8) continue;
    kernels += KernelsFor(config).size();
    ExpectAllMeetTheirContract(Format(config), true);
    if (HasFailure()) break;
  }
  EXPECT_GT(kernels, cases / 10);
}

std::vector<std::string> NamesFor(const std::string& text) {
  std::vector<std::string> names;
  for (const KernelOffer& offer : KernelsFor(Layer(text))) names.push_back(offer.algorithm);
  return names;
}

TEST(KernelsFor, OffersEachVariantThatMayWin) {
  EXPECT_THAT(NamesFor("movement kind=copy dtype=f32:-:f32 in=4096 out=4096"),
              ::testing::ElementsAre("copy:vector", "copy:wide", "copy:vector8", "copy:stream", "copy:simple"));
  EXPECT_THAT(
      NamesFor("movement kind=transpose dtype=f16:-:f16 in=64x128 out=128x64 perm=1,0"),
      ::testing::IsSupersetOf({"transpose:tile128", "transpose:tile64", "transpose:tile32", "transpose:simple"}));
  EXPECT_THAT(NamesFor("pointwise kind=add dtype=f32:f32:f32 in=4096,4096"),
              ::testing::ElementsAre("pointwise:vector8", "pointwise:vector4"));
  EXPECT_THAT(NamesFor("pointwise kind=add dtype=f32:f32:f32 in=13x77,77"), ::testing::ElementsAre("pointwise:scalar"));
  EXPECT_THAT(NamesFor("softmax kind=softmax dtype=f32:-:f32 in=64x1000x1 axis=1"),
              ::testing::IsSupersetOf({"softmax:warp", "softmax:warp-cached", "softmax:block256-cached"}));
  EXPECT_THAT(NamesFor("reduction kind=sum dtype=f32:-:f32 in=1000000 axes=0"), Contains("reduce:split"));
}

TEST(KernelsFor, TakesWideUnitsWhereNeighboursStayTogether) {
  const auto offers = KernelsFor(Layer("movement kind=slice dtype=f32:-:f32 in=9x64 out=9x32"));
  alignas(16) float from[9 * 64] = {}, to[9 * 32] = {};
  const std::vector<KernelCall> calls = offers[0].make({{from}, {to}, nullptr});
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(std::get<CopyCall>(calls[0]).unit_bytes, 16);
  EXPECT_EQ(std::get<CopyCall>(calls[0]).count, 9U * 32 / 4);
  const std::vector<KernelCall> odd = offers[0].make({{from + 1}, {to}, nullptr});
  EXPECT_EQ(std::get<CopyCall>(odd[0]).unit_bytes, 4);
}

TEST(KernelsFor, APartOf4GiBEndsWhereItDoes) {
  const LayerConfig config =
      Layer("movement kind=concat dtype=f32:-:f32 in=1200000000,200000000 out=1400000000 axis=0");
  bool is_there = false;
  for (const KernelOffer& offer : KernelsFor(config)) {
    if (offer.algorithm != "concat:joined") continue;
    const std::vector<KernelCall> calls = offer.make({{nullptr, nullptr}, {nullptr}, nullptr});
    const auto& call = std::get<JoinCall>(calls.at(0));
    is_there = true;
    EXPECT_EQ(std::int64_t{call.end[0]} * call.unit_bytes, std::int64_t{4800000000});
    EXPECT_EQ(std::int64_t{call.end[1]} * call.unit_bytes, std::int64_t{5600000000});
  }
  EXPECT_TRUE(is_there);
}

TEST(KernelsFor, ASliceStartsAndStepsWhereItsValuesSay) {
  const LayerConfig config = Layer("movement kind=slice dtype=f32:-:f32 in=9x11x13 out=4x3x5");
  cpu::LayerValues values;
  values.starts = {1, 2, 3};
  values.steps = {2, 3, 2};
  for (const KernelOffer& offer : KernelsFor(config, values)) {
    EXPECT_EQ(ErrorOf(config, offer, 0, values), 0) << offer.algorithm;
  }
}

TEST(KernelsFor, IndicesBelow0CountFromTheEnd) {
  const LayerConfig gather = Layer("movement kind=gather dtype=f32:s64:f32 in=5x4 out=3x4 axis=0 indices=3");
  float from[5][4], to[3][4];
  for (int i = 0; i < 20; ++i) from[i / 4][i % 4] = static_cast<float>(i);
  const std::int64_t indices[] = {-1, 0, -5};
  for (const KernelOffer& offer : KernelsFor(gather)) {
    for (const KernelCall& call : offer.make({{from, indices}, {to}, nullptr})) RunOnHost(call);
    for (int c = 0; c < 4; ++c) {
      EXPECT_EQ(to[0][c], from[4][c]) << offer.algorithm;
      EXPECT_EQ(to[1][c], from[0][c]) << offer.algorithm;
      EXPECT_EQ(to[2][c], from[0][c]) << offer.algorithm;
    }
  }
}

TEST(KernelsFor, APadHasAsMuchBeforeAsItsValuesSay) {
  const LayerConfig config = Layer("movement kind=pad dtype=f32:-:f32 in=3x8x8 out=4x9x6");
  for (const std::vector<std::int64_t>& starts : {std::vector<std::int64_t>{0, -1, 2}, {-1, 0, 0}, {1, -3, -2}}) {
    cpu::LayerValues values;
    values.starts = starts;
    for (const KernelOffer& offer : KernelsFor(config, values)) {
      EXPECT_EQ(ErrorOf(config, offer, 0, values), 0) << offer.algorithm;
      EXPECT_GT(ErrorOf(config, KernelsFor(config).front(), 0, values), 0) << "the usual half is another result";
    }
  }
}

// With the usual epsilon it would hide in the contract's tolerance.
TEST(KernelsFor, ANormalizationAddsItsEpsilonToTheVariance) {
  cpu::LayerValues values;
  values.epsilon = 0.5;
  for (const std::string text : {"kind=layer dtype=f32:f32:f32 in=5x64 axis=1 scale=yes bias=yes",
                                 "kind=rms dtype=f32:f32:f32 in=5x64 axis=1 scale=yes bias=no",
                                 "kind=group dtype=f32:f32:f32 in=2x8x4x4 axis=1 groups=2 scale=yes bias=yes",
                                 "kind=batch dtype=f32:f32:f32 in=2x8x4x4 axis=1 scale=yes bias=yes"}) {
    const LayerConfig config = Layer("normalization " + text);
    for (const KernelOffer& offer : KernelsFor(config, values)) {
      EXPECT_LE(ErrorOf(config, offer, 0, values), 2e-5) << text << " " << offer.algorithm;
    }
  }
}

TEST(KernelsFor, AttentionTakesItsScaleItsMasksFactorAndTransposedKeys) {
  cpu::LayerValues values;
  values.scale = 0.7;
  values.mask_scale = -3;
  values.keys_transposed = true;
  for (const std::string text : {"dtype=f32:-:f32 n=2 heads=4 kv_heads=2 q=9 kv=37 head=22 mask=full",
                                 "dtype=f32:-:f32 n=1 heads=8 kv_heads=2 q=1 kv=600 head=64 mask=full"}) {
    const LayerConfig config = Layer("attention " + text);
    const std::vector<KernelOffer> offers = KernelsFor(config, values);
    EXPECT_THAT(offers, Not(IsEmpty()));
    for (const KernelOffer& offer : offers)
      EXPECT_LE(ErrorOf(config, offer, 0, values), 2e-5) << text << " " << offer.algorithm;
  }
}

TEST(KernelsFor, AttentionHasFormsForManyQueriesAndForOne) {
  const std::string types = "attention dtype=f32:-:f32 ";
  EXPECT_THAT(NamesFor(types + "n=8 heads=12 kv_heads=12 q=512 kv=512 head=64 mask=no"),
              ::testing::ElementsAre("attention:64x32", "attention:64x16", "attention:32x32", "attention:32x16",
                                     "attention:16x32"));
  EXPECT_THAT(NamesFor(types + "n=1 heads=32 kv_heads=8 q=1 kv=4096 head=128 mask=no"),
              ::testing::ElementsAre("attention:4x32", "attention:4x32-split"));
  EXPECT_THAT(NamesFor("attention dtype=f64:-:f64 n=1 heads=2 kv_heads=2 q=9 kv=9 head=64 mask=no"), IsEmpty());
  EXPECT_THAT(NamesFor(types + "n=1 heads=2 kv_heads=2 q=9 kv=9 head=512 mask=no"), IsEmpty());
}

// Masks of types that f32 is not computed from, and tensors without channels.
TEST(KernelsFor, WhatAKernelCannotReadItIsNotOfferedFor) {
  for (const char* mask : {"s64", "u64", "u32", "f64"})
    EXPECT_THAT(
        NamesFor("attention dtype=f32:" + std::string(mask) + ":f32 n=1 heads=2 kv_heads=2 q=9 kv=9 head=8 mask=full"),
        IsEmpty());
  EXPECT_THAT(NamesFor("resample kind=nearest dtype=f32:-:f32 in=8 out=16"), ::testing::ElementsAre("resample:simple"));
  EXPECT_THAT(NamesFor("resample kind=nearest dtype=f32:-:f32 in=2x8 out=2x16"),
              ::testing::ElementsAre("resample:simple"));
  EXPECT_THAT(NamesFor("matmul dtype=f16:s4:f16 a=1x1x512 b=1x512x256 bias=no weights=variable scales=32x1:f16"),
              IsEmpty());
}

TEST(KernelsFor, StoredProductsAreForFewRows) {
  EXPECT_THAT(NamesFor("matmul dtype=f16:u4:f16 a=1x1x4096 b=1x4096x11008 bias=no weights=const scales=32x1:f16:u4"),
              ::testing::ElementsAre("stored:rows1", "stored:rows1-split", "stored:rows1-split4"));
  EXPECT_THAT(NamesFor("matmul dtype=f16:u4:f16 a=1x1x2048 b=1x2048x2048 bias=no weights=const scales=32x1:f16:u4"),
              ::testing::ElementsAre("stored:rows1", "stored:rows1-split"))
      << "no more parts are there";
  EXPECT_THAT(NamesFor("matmul dtype=f16:s4:f16 a=1x4x512 b=1x512x256 bias=no weights=const scales=128x1:f16"),
              ::testing::IsSupersetOf({"stored:rows2", "stored:rows4"}));
  for (const std::string text : {"dtype=f16:s4:f16 a=1x128x512 b=1x512x256 bias=no weights=const scales=128x1:f16",
                                 "dtype=f16:s4:f16 a=1x1x512 b=1x512x250 bias=no weights=const scales=128x1:f16",
                                 "dtype=f16:s4:f16 a=1x1x512 b=1x512x256 bias=no weights=const scales=1x256:f16",
                                 "dtype=f16:s4:f16 a=3x1x512 b=3x512x256 bias=no weights=const scales=32x1:f16"})
    EXPECT_THAT(NamesFor("matmul " + text), IsEmpty()) << text;
}

TEST(KernelsFor, WhatHasNoKernelHasNoOffers) {
  EXPECT_THAT(NamesFor("sort kind=topk dtype=u64:-:u64 in=8x1000x1 axis=1 k=5"), IsEmpty());
  EXPECT_THAT(NamesFor("matmul dtype=f32:f32:f32 a=1x37x64 b=1x64x96 bias=no weights=const"), IsEmpty());
  EXPECT_THAT(NamesFor("reorder dtype=f32:-:f32 in=1x20x7x9 from=nchw to=nChw8c"), IsEmpty());
}

// Positions are 32 bits wide; plain copies and whole element-wise layers need none.
TEST(KernelsFor, LayersOfMoreThan2To31ElementsHaveKernelsWithoutPositionsOnly) {
  EXPECT_THAT(NamesFor("movement kind=copy dtype=f32:-:f32 in=5000000000 out=5000000000"), Contains("copy:vector"));
  EXPECT_THAT(NamesFor("pointwise kind=relu dtype=f32:-:f32 in=5000000000"), Contains("pointwise:vector8"));
  EXPECT_THAT(NamesFor("pointwise kind=add dtype=f32:f32:f32 in=50000x100000,100000"), IsEmpty());
  EXPECT_THAT(NamesFor("movement kind=transpose dtype=u8:-:u8 in=50000x100000 out=100000x50000 perm=1,0"), IsEmpty());
}

// A reorder's elements are where the names of its layouts say.
TEST(KernelsFor, AReorderPutsChannelsLast) {
  const LayerConfig config = Layer("reorder dtype=f32:-:f32 in=2x20x7x9 from=nchw to=nhwc");
  const std::vector<KernelOffer> offers = KernelsFor(config);
  EXPECT_THAT(offers, Not(IsEmpty()));
  std::vector<float> from(2 * 20 * 63), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  for (const KernelOffer& offer : offers) {
    SCOPED_TRACE(offer.algorithm);
    std::fill(to.begin(), to.end(), -1.0F);
    for (const KernelCall& call : offer.make({{from.data()}, {to.data()}, nullptr})) RunOnHost(call);
    for (std::size_t n = 0; n < 2; ++n) {
      for (std::size_t c = 0; c < 20; ++c) {
        for (std::size_t p = 0; p < 63; ++p) ASSERT_EQ(to[(n * 63 + p) * 20 + c], from[(n * 20 + c) * 63 + p]);
      }
    }
  }
}

// Tensors of a region as KernelsFor wants them, and the error against the members' references.
std::optional<double> RegionErrorOf(const Region& region, const KernelOffer& offer) {
  std::deque<cpu::HostTensor> tensors;
  cpu::RegionProblem problem;
  problem.region = region;
  for (const RegionMember& member : region.members) {
    const std::vector<Operand> operands = OperandsOf(member.config);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const RegionOperand& operand = member.operands[i];
      if (operand.source == RegionOperand::Source::kMember) continue;
      auto& list = operand.source == RegionOperand::Source::kInput ? problem.inputs : problem.weights;
      if (static_cast<std::size_t>(operand.index) < list.size()) continue;
      tensors.push_back(*cpu::HostTensor::Make(operands[i].shape, operands[i].type));
      cpu::FillOperand(member.config, i, cpu::HashOf(kSeed, tensors.size()), tensors.back());
      list.push_back(&tensors.back());
    }
    const Operand output = OutputsOf(member.config)[0];
    tensors.push_back(*cpu::HostTensor::Make(output.shape, output.type));
    problem.members.push_back({&tensors.back()});
  }
  KernelBuffers buffers;
  for (const auto& list : {problem.inputs, problem.weights}) {
    for (const cpu::HostTensor* tensor : list) buffers.operands.push_back(tensor->data());
  }
  for (const std::int64_t output : region.outputs) {
    buffers.outputs.push_back(problem.members[static_cast<std::size_t>(output)][0]->data());
  }
  for (const KernelCall& call : offer.make(buffers)) RunOnHost(call);
  for (const std::int64_t output : region.outputs) {
    cpu::HostTensor& tensor = *problem.members[static_cast<std::size_t>(output)][0];
    if (BitsPerElement(tensor.type()) != 4) continue;
    const auto placement = TensorPlacement::RowMajor(tensor.shape());
    const auto* packed = static_cast<const std::byte*>(tensor.data());
    Unpack({packed, packed + placement.bytes(tensor.type()).value}, placement, tensor.type(), tensor);
  }
  return *cpu::RegionError(problem, kSeed);
}

bool IsElementWise(const RegionMember& member) { return std::holds_alternative<PointwiseConfig>(member.config); }
bool IsOfRows(const LayerConfig& config) {
  const auto* normalization = std::get_if<NormalizationConfig>(&config);
  return std::holds_alternative<SoftmaxConfig>(config) ||
         (normalization != nullptr && normalization->kind != NormalizationKind::kBatch);
}

TEST(KernelsFor, AChainOfElementWiseMembersIsOneProgramAlsoBeforeRows) {
  std::vector<std::string> texts = LayersOf("microbench/cpu/layers/region.txt");
  for (const std::string& text : LayersOf("microbench/gpu/layers/kernels.txt")) texts.push_back(text);
  int chains = 0, rows = 0, blocks = 0;
  for (const std::string& text : texts) {
    if (!text.starts_with("region")) continue;
    SCOPED_TRACE(text);
    const Result<Region> region = ParseRegion(text);
    ASSERT_TRUE(region.ok()) << region.error().message;
    const bool elementwise = std::all_of(region->members.begin(), region->members.end() - 1, IsElementWise);
    // Of rows the last member, or the one that a last one quantizes.
    const auto* last = std::get_if<PointwiseConfig>(&region->members.back().config);
    const bool is_quantized = last != nullptr && last->kind == PointwiseKind::kQuantize;
    const auto of_rows_at = [&](std::size_t member) {
      return std::all_of(region->members.begin(), region->members.begin() + static_cast<std::ptrdiff_t>(member),
                         IsElementWise) &&
             IsOfRows(region->members[member].config);
    };
    const std::size_t size = region->members.size();
    const bool of_rows = of_rows_at(size - 1) || (is_quantized && of_rows_at(size - 2));
    const std::vector<KernelOffer> offers = KernelsFor(*region);
    const bool in_blocks = text.find("kind=max_abs") != std::string::npos;
    EXPECT_EQ(offers.empty(), !of_rows && !in_blocks && !(elementwise && IsElementWise(region->members.back())));
    rows += of_rows;
    blocks += in_blocks;
    for (const KernelOffer& offer : offers) {
      SCOPED_TRACE(offer.algorithm);
      ++chains;
      const Workload workload(*region);
      EXPECT_LE(RegionErrorOf(*region, offer).value_or(1e9), Tolerance(NativeContract(workload), workload));
    }
  }
  EXPECT_GE(chains, 8);
  EXPECT_GE(rows, 7);
  EXPECT_EQ(blocks, 4);
}

}  // namespace
}  // namespace infimum::cuda
