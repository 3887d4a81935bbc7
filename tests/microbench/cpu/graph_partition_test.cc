// What oneDNN Graph takes as one partition is what is offered, and means what the region means. Which regions those are
// differs between versions of the library, so that only a few are named here; what it splits is run piece by piece.
#include "microbench/libraries/onednn_graph/graph_partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>

#include "infimum/graph/fusable_regions.h"
#include "microbench/cpu/constant_copies.h"
#include "microbench/cpu/offers.h"
#include "microbench/cpu/step_offer.h"
#include "microbench/cpu/workload_run.h"
#include "microbench/libraries/onednn_graph/graph_engine.h"
#include "microbench/libraries/onednn_graph/region_graph.h"
#include "microbench/reference/random_fill.h"
#include "tests/microbench/cpu/layer_texts.h"

namespace infimum::cpu::graph_partition_test {
namespace {

using dnnl::graph::logical_tensor;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Role = GraphTensor::Role;

constexpr char kPartition[] = "onednn/graph/partition";
constexpr char kChannelsLast[] = "onednn/graph/partition/nhwc";
constexpr char kTransposed[] = "onednn/graph/partition/transposed";

std::string Convolution(const char* more = "bias=yes weights=const](in0,w0,w1)", const char* dtype = "f32:f32:f32") {
  return std::string("[convolution dtype=") + dtype +
         " in=2x16x9x9 out_channels=24 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 " + more;
}
std::string MatMul(const char* more = "bias=column weights=const](in0,w0,w1)") {
  return std::string("[matmul dtype=f32:f32:f32 a=1x37x64 b=1x64x96 ") + more;
}

struct Row {
  const char* rule;  // of FusionRules()
  const char* name;
  std::string text;
  bool always = false;  // one partition in every version
};

std::vector<Row> Rows() {
  const std::string plain_convolution = Convolution("bias=no weights=const](in0,w0)");
  return {
      {"product-epilogue", "convolution + bias + relu",
       "region " + Convolution() + " ; [pointwise kind=relu dtype=f32:-:f32 in=3888](%0)", true},
      {"product-epilogue", "convolution + add + relu",
       "region " + plain_convolution +
           " ; [pointwise kind=add dtype=f32:f32:f32 in=3888,3888](%0,in1) ; [pointwise kind=relu dtype=f32:-:f32 "
           "in=3888](%1)",
       true},
      {"product-epilogue", "convolution + bias + swish",
       "region " + Convolution() + " ; [pointwise kind=swish dtype=f32:-:f32 in=3888](%0)"},
      {"product-epilogue", "matmul + bias + relu",
       "region " + MatMul() + " ; [pointwise kind=relu dtype=f32:-:f32 in=3552](%0)", true},
      {"product-epilogue", "matmul + bias + gelu",
       "region " + MatMul() + " ; [pointwise kind=gelu_erf dtype=f32:-:f32 in=3552](%0)", true},
      {"product-epilogue", "matmul + bias + add",
       "region " + MatMul() + " ; [pointwise kind=add dtype=f32:f32:f32 in=3552,3552](%0,in1)", true},
      {"product-epilogue", "matmul + divide + add",
       "region [matmul dtype=f32:f32:f32 a=12x33x64 b=12x64x33 bias=no weights=variable](in0,in1) ; [pointwise "
       "kind=divide dtype=f32:f32:f32 in=13068,1](%0,w0) ; [pointwise kind=add dtype=f32:f32:f32 in=12x1089,1089]"
       "(%1,in2)",
       true},
      {"elementwise-chain", "multiply + sigmoid + multiply",
       "region [pointwise kind=multiply dtype=f32:f32:f32 in=16x200,16x1](in0,in1) ; [pointwise kind=sigmoid "
       "dtype=f32:-:f32 in=3200](%0) ; [pointwise kind=multiply dtype=f32:f32:f32 in=3200,3200](%0,%1)"},
      {"elementwise-chain", "subtract + tanh",
       "region [pointwise kind=subtract dtype=f32:f32:f32 in=3200,3200](in0,in1) ; [pointwise kind=tanh "
       "dtype=f32:-:f32 in=3200](%0)"},
      {"normalization-prologue", "add + layer normalization",
       "region [pointwise kind=add dtype=f32:f32:f32 in=13x77,77](in0,w0) ; [normalization kind=layer "
       "dtype=f32:f32:f32 in=13x77 axis=1 scale=yes bias=yes](%0,w1,w2)"},
      {"attention", "attention", "attention dtype=f32:-:f32 n=2 heads=4 kv_heads=4 q=9 kv=13 head=16 mask=no"},
      {"attention", "attention with a mask",
       "attention dtype=f32:-:f32 n=2 heads=4 kv_heads=4 q=9 kv=13 head=16 mask=full"},
      {"attention", "attention in bf16",
       "attention dtype=bf16:-:bf16 n=2 heads=4 kv_heads=4 q=9 kv=13 head=16 mask=causal"},
      {"attention", "attention in a window",
       "attention dtype=f32:-:f32 n=2 heads=4 kv_heads=4 q=9 kv=13 head=16 mask=causal window=4"},
  };
}

std::vector<std::string> CandidatesOf(const Workload& workload) {
  std::vector<std::string> names;
  if (const auto* layer = std::get_if<LayerConfig>(&workload)) {
    for (const Offer& offer : OffersFor(*layer, CandidateTier::kEngine)) names.push_back(offer.candidate.name());
  } else {
    for (const RegionOffer& offer : RegionOffersFor(std::get<Region>(workload), CandidateTier::kEngine))
      names.push_back(offer.candidate.name());
  }
  return names;
}

// Candidate's name and graph of each form that a workload has.
std::map<std::string, Result<LibraryGraph>> GraphsOf(const Workload& workload) {
  std::map<std::string, Result<LibraryGraph>> graphs;
  if (const auto* region = std::get_if<Region>(&workload)) {
    const auto graph = [&](GraphLayout layout) -> Result<LibraryGraph> {
      INFIMUM_ASSIGN_OR_RETURN(RegionGraph made, GraphOf(*region, {}, layout));
      return std::move(made.graph);
    };
    graphs.emplace(kPartition, graph(GraphLayout::kRowMajor));
    graphs.emplace(kChannelsLast, graph(GraphLayout::kChannelsLast));
    return graphs;
  }
  const auto* attention = std::get_if<AttentionConfig>(&std::get<LayerConfig>(workload));
  if (attention == nullptr) return graphs;
  graphs.emplace(kPartition, GraphOf(*attention, {}, false));
  graphs.emplace(kTransposed, GraphOf(*attention, {}, true));
  return graphs;
}

// Asked of the library anew.
bool IsOnePartition(const LibraryGraph& graph) {
  Result<dnnl::graph::graph> made = MakeGraph(graph);
  if (!made.ok()) return false;
  const auto partitions = made->get_partitions(dnnl::graph::partition::policy::fusion);
  return partitions.size() == 1 && partitions[0].is_supported() &&
         partitions[0].get_ops().size() == graph.operations.size();
}

// A step's tensors: seeded as benchmarks fill them.
struct Tensors {
  std::deque<HostTensor> held;
  Operands operands;
  Outputs outputs;

  explicit Tensors(const Workload& workload) {
    for (const Operand& operand : OperandsOf(workload))
      operands.push_back(&held.emplace_back(*HostTensor::Make(operand.shape, operand.type)));
    Fill(workload);
    for (const Operand& output : OutputsOf(workload)) {
      outputs.push_back(&held.emplace_back(*HostTensor::Make(output.shape, output.type)));
      std::memset(outputs.back()->data(), 0xcb, outputs.back()->bytes());
    }
  }

 private:
  void Fill(const Workload& workload) {
    if (const auto* layer = std::get_if<LayerConfig>(&workload)) {
      for (std::size_t i = 0; i < operands.size(); ++i) FillOperand(*layer, i, i + 1, held[i]);
      return;
    }
    const Region& region = std::get<Region>(workload);
    std::size_t inputs = 0;
    for (const RegionMember& member : region.members)
      for (const RegionOperand& operand : member.operands)
        if (operand.source == RegionOperand::Source::kInput)
          inputs = std::max(inputs, static_cast<std::size_t>(operand.index) + 1);
    for (const RegionMember& member : region.members) {
      for (std::size_t i = 0; i < member.operands.size(); ++i) {
        const RegionOperand& operand = member.operands[i];
        if (operand.source == RegionOperand::Source::kMember) continue;
        const bool weight = operand.source == RegionOperand::Source::kWeight;
        const std::size_t place = static_cast<std::size_t>(operand.index) + (weight ? inputs : 0);
        FillOperand(member.config, i, place + 1, held[place]);
      }
    }
  }
};

ReplayStep StepOf(const std::string& text, std::vector<ReplayValues> values = {}, const std::string& candidate = "") {
  Result<Workload> parsed = ParseWorkload(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message);
  ReplayStep step{"step", {"step"}, *parsed, candidate, {}, {}, std::move(values)};
  const auto* region = std::get_if<Region>(&step.workload);
  step.values.resize(region == nullptr ? 1 : region->members.size());
  return step;
}

void ExpectRight(const ReplayStep& step, const Tensors& tensors) {
  const auto error = StepError(step, tensors.operands, tensors.outputs, 1);
  ASSERT_TRUE(error.ok() && error->has_value());
  EXPECT_LE(**error, Tolerance(NativeContract(step.workload), step.workload));
}

// Runs a graph in as many partitions as the library makes of it, each when what it reads is there.
void RunPieces(LibraryGraph graph, const Operands& operands, HostTensor& result) {
  Result<dnnl::graph::graph> made = MakeGraph(graph);
  ASSERT_TRUE(made.ok()) << made.error().message;
  std::vector<AlignedBuffer> buffers;
  std::vector<void*> data;
  std::vector<bool> is_there;
  std::size_t next = 0;
  for (GraphTensor& tensor : graph.tensors) {
    const std::int64_t count = ElementCount(tensor.shape);
    buffers.push_back(*AlignedBuffer::Make(static_cast<std::size_t>(count * BytesPerElement(tensor.type))));
    data.push_back(buffers.back().data());
    is_there.push_back(tensor.role != Role::kInner && tensor.role != Role::kResult);
    if (tensor.role == Role::kOperand || tensor.role == Role::kConstant) data.back() = operands[next++]->data();
    if (tensor.role == Role::kResult) data.back() = result.data();
    for (std::int64_t i = 0; tensor.role == Role::kNumbers && i < count; ++i)
      HostTensor::SetElement(data.back(), tensor.type, i, tensor.numbers[static_cast<std::size_t>(i)]);
    if (tensor.role == Role::kInner) tensor.role = Role::kOperand;  // between partitions it lies as stated
  }
  auto partitions = made->get_partitions(dnnl::graph::partition::policy::fusion);
  dnnl::stream stream(GraphEngine());
  while (!partitions.empty()) {
    const std::size_t before = partitions.size();
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      ASSERT_TRUE(partitions[i].is_supported());
      std::vector<logical_tensor> inputs, outputs;
      std::vector<dnnl::graph::tensor> in, out;
      bool ready = true;
      for (const logical_tensor& port : partitions[i].get_input_ports()) {
        ready = ready && is_there[port.get_id()];
        inputs.push_back(*LogicalTensor(graph, port.get_id()));
        in.emplace_back(inputs.back(), GraphEngine(), data[port.get_id()]);
      }
      if (!ready) continue;
      for (const logical_tensor& port : partitions[i].get_output_ports()) {
        outputs.push_back(*LogicalTensor(graph, port.get_id()));
        out.emplace_back(outputs.back(), GraphEngine(), data[port.get_id()]);
        is_there[port.get_id()] = true;
      }
      Compiled(partitions[i], inputs, outputs).execute(stream, in, out);
      stream.wait();
      partitions.erase(partitions.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    ASSERT_LT(partitions.size(), before) << "no partition can run";
  }
}

TEST(GraphPartition, IsOfferedExactlyWhereTheLibraryTakesAWorkloadAsOne) {
  std::vector<std::string> texts = testing::LayerTexts("region"), attention = testing::LayerTexts("attention");
  texts.insert(texts.end(), attention.begin(), attention.end());
  for (const Row& row : Rows()) texts.push_back(row.text);
  int offered = 0, refused = 0;
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const Workload workload = StepOf(text).workload;
    const std::vector<std::string> names = CandidatesOf(workload);
    for (const auto& [name, graph] : GraphsOf(workload)) {
      SCOPED_TRACE(name);
      const bool expected = graph.ok() && IsOnePartition(*graph) && CheckCompiles(*graph).ok();
      EXPECT_EQ(std::count(names.begin(), names.end(), name), expected ? 1 : 0);
      (expected ? offered : refused) += 1;
    }
  }
  EXPECT_GT(offered, 10);
  EXPECT_GT(refused, 10);
}

// Prints what this version takes, rule by rule; what every version takes is held.
TEST(GraphPartition, TakesTheseRegionsAsOne) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.text);
    const auto is_rule = [&](const FusionRule& rule) { return rule.name == row.rule; };
    EXPECT_TRUE(std::any_of(FusionRules().begin(), FusionRules().end(), is_rule)) << row.rule;
    const Workload workload = StepOf(row.text).workload;
    std::string taken;
    for (const std::string& name : CandidatesOf(workload))
      if (name.starts_with(kPartition)) taken += (taken.empty() ? "" : ", ") + name;
    std::cout << row.rule << ": " << row.name << ": " << (taken.empty() ? "split" : taken) << "\n";
    if (!row.always) continue;
    EXPECT_THAT(taken, HasSubstr(kPartition));
    EXPECT_EQ(taken.find(kChannelsLast) != std::string::npos, row.text.find("[convolution") != std::string::npos);
  }
}

TEST(GraphPartition, MeansWhatTheWorkloadMeansAlsoWhereTheLibrarySplitsIt) {
  std::vector<std::string> texts = testing::LayerTexts("region"), attention = testing::LayerTexts("attention");
  texts.insert(texts.end(), attention.begin(), attention.end());
  int ran = 0;
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const ReplayStep step = StepOf(text);
    // Its operations on bytes are others, which nothing here makes.
    if (NativeContract(step.workload) == NumericContract::kInt8) continue;
    for (const auto& [name, graph] : GraphsOf(step.workload)) {
      // Operands that lie in another order are the program's work.
      if (!graph.ok() || name == kChannelsLast) continue;
      SCOPED_TRACE(name);
      Tensors tensors(step.workload);
      try {
        RunPieces(*graph, tensors.operands, *tensors.outputs[0]);
      } catch (const dnnl::error& error) {
        // A type that the library has no piece for on this processor (f16 without AVX-512).
        if (error.status == dnnl_unimplemented) continue;
        throw;
      }
      ExpectRight(step, tensors);
      ++ran;
    }
  }
  EXPECT_GT(ran, 20);  // those of f32 alone are more
}

struct Valued {
  std::string text;
  std::vector<ReplayValues> values;
};

TEST(GraphPartition, HasTheModelsOwnValues) {
  const std::string product = "region " + MatMul() + " ; ";
  const Valued all[] = {
      {product + "[pointwise kind=clip dtype=f32:-:f32 in=3552](%0)",
       {{}, {{"clip_low", {-0.25}}, {"clip_high", {0.5}}}}},
      {product + "[pointwise kind=leaky_relu dtype=f32:-:f32 in=3552](%0)", {{}, {{"leaky_slope", {0.3}}}}},
      {product + "[pointwise kind=elu dtype=f32:-:f32 in=3552](%0)", {{}, {{"elu_alpha", {0.4}}}}},
      {product + "[pointwise kind=hard_sigmoid dtype=f32:-:f32 in=3552](%0)",
       {{}, {{"hard_sigmoid_alpha", {0.1}}, {"hard_sigmoid_beta", {0.7}}}}},
      {"region [normalization kind=layer dtype=f32:f32:f32 in=37x96 axis=1 scale=yes bias=yes](in0,w0,w1) ; [pointwise "
       "kind=absolute dtype=f32:-:f32 in=3552](%0)",
       {{{"epsilon", {4.0}}}, {}}},
  };
  for (const Valued& valued : all) {
    SCOPED_TRACE(valued.text);
    const ReplayStep step = StepOf(valued.text, valued.values);
    const Result<std::vector<LayerValues>> values = ValuesOf(step);
    ASSERT_TRUE(values.ok()) << values.error().message;
    const Result<RegionGraph> graph = GraphOf(std::get<Region>(step.workload), *values, GraphLayout::kRowMajor);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    Tensors tensors(step.workload);
    RunPieces(graph->graph, tensors.operands, *tensors.outputs[0]);
    ExpectRight(step, tensors);
    // Values that matter: with the usual ones it would be wrong.
    const auto error = StepError(StepOf(valued.text), tensors.operands, tensors.outputs, 1);
    EXPECT_GT(**error, 100 * Tolerance(NativeContract(step.workload), step.workload));
  }
}

TEST(GraphPartition, OfAttentionHasTheModelsScaleAndOrderOfKeys) {
  for (const char* form :
       {"heads=4 kv_heads=4 mask=full", "heads=4 kv_heads=2 mask=full", "heads=4 kv_heads=4 mask=full masks=2x1x9x13",
        "heads=4 kv_heads=2 mask=full masks=1x4x9x13", "heads=4 kv_heads=2 mask=full masks=2x1x1x13"}) {
    const ReplayStep step = StepOf(std::string("attention dtype=f32:-:f32 n=2 q=9 kv=13 head=16 ") + form,
                                   {{{"scale", {0.7}}, {"keys_transposed", {1}}}});
    const LayerValues values = (*ValuesOf(step))[0];
    for (const bool transposed : {false, true}) {
      const auto graph = GraphOf(std::get<AttentionConfig>(std::get<LayerConfig>(step.workload)), values, transposed);
      ASSERT_TRUE(graph.ok()) << graph.error().message;
      Tensors tensors(step.workload);
      RunPieces(*graph, tensors.operands, *tensors.outputs[0]);
      ExpectRight(step, tensors);
    }
  }
  const AttentionConfig config = std::get<AttentionConfig>(
      *ParseLayerConfig("attention dtype=f32:-:f32 n=2 heads=4 kv_heads=4 q=9 kv=13 head=16 mask=full"));
  LayerValues scaled_mask;
  scaled_mask.mask_scale = 2;
  const auto refused = GraphOf(config, scaled_mask, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "unsupported: oneDNN Graph scales no mask");
  for (const char* masks : {"masks=1x4x9x13,2x1x9x13", "masks=1x1x9x13,1x4x1x13"}) {
    const AttentionConfig two = std::get<AttentionConfig>(*ParseLayerConfig(
        std::string("attention dtype=f32:-:f32 n=4 heads=4 kv_heads=4 q=9 kv=13 head=16 mask=full ") + masks));
    EXPECT_FALSE(GraphOf(two, LayerValues(), false).ok()) << masks;
  }
  // 4 TB of minus infinity and zero.
  const auto long_context =
      GraphOf(std::get<AttentionConfig>(*ParseLayerConfig(
                  "attention dtype=f32:-:f32 n=1 heads=1 kv_heads=1 q=1048576 kv=1048576 head=16 mask=causal")),
              LayerValues(), false);
  ASSERT_FALSE(long_context.ok());
  EXPECT_THAT(long_context.error().message, HasSubstr("causal mask"));
}

struct Refusal {
  std::string text;
  const char* reason;
};

TEST(GraphPartition, WhatHasNoGraphIsRefusedWithAReason) {
  const Refusal refusals[] = {
      {"region [pointwise kind=relu dtype=f32:-:f32 in=64](in0) ; [pointwise kind=sine dtype=f32:-:f32 in=64](%0)",
       "operation for pointwise kind=sine"},
      {"region [pointwise kind=add dtype=f32:f32:f32 in=64,64](in0,in1) ; [pointwise kind=relu dtype=f32:-:f32 "
       "in=64](%0) out=%0,%1",
       "result beside the last one"},
      {"region " + Convolution("bias=no weights=const](in0,w0)", "u8:s8:u8") +
           " ; [pooling kind=max dtype=u8:-:u8 in=2x24x9x9 out=2x24x4x4 kernel=2x2 stride=2x2 dilation=1x1 "
           "pad=0,0,0,0](%0)",
       "operation for pooling"},
      {"region " + Convolution("bias=no weights=const](in0,w0)", "u8:s8:u8") +
           " ; [pointwise kind=relu dtype=u8:-:u8 in=3888](%0)",
       "not a type"},
      {"region [pointwise kind=add dtype=f32:f32:f32 in=6x10,6x10](in0,in1) ; [softmax kind=softmax dtype=f32:-:f32 "
       "in=15x4x1 axis=1](%0)",
       "common shape"},
      {"region " + MatMul() + " ; [matmul dtype=f32:f32:f32 a=1x37x96 b=1x96x8 bias=no weights=const](%0,w2)",
       "matrix product behind"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.text);
    const Workload workload = StepOf(refusal.text).workload;
    const auto graph = GraphOf(std::get<Region>(workload), {}, GraphLayout::kRowMajor);
    const std::string reason = graph.ok() ? OnlyPartition(graph->graph).error().message : graph.error().message;
    EXPECT_THAT(reason, StartsWith("unsupported: "));
    EXPECT_THAT(reason, HasSubstr(refusal.reason));
    EXPECT_THAT(CandidatesOf(workload), Not(Contains(StartsWith(kPartition))));
  }
  const Workload product =
      StepOf("region " + MatMul() + " ; [pointwise kind=relu dtype=f32:-:f32 in=3552](%0)").workload;
  const auto graph = GraphOf(std::get<Region>(product), {}, GraphLayout::kChannelsLast);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message, "unsupported: oneDNN Graph has no channels here");
}

TEST(GraphPartition, SaysHowManyPartitionsASplitRegionHas) {
  // A softmax is fused with nothing that follows it but element-wise operations.
  LibraryGraph graph;
  for (const Role role : {Role::kOperand, Role::kInner, Role::kResult})
    graph.tensors.push_back(RowMajorTensor(role, Shape{{4, 8}}, DataType::kF32));
  graph.operations = {{dnnl::graph::op::kind::SoftMax, {0}, 1}, {dnnl::graph::op::kind::SoftMax, {1}, 2}};
  const auto partition = OnlyPartition(graph);
  ASSERT_FALSE(partition.ok());
  EXPECT_EQ(partition.error().message, "unsupported: oneDNN Graph makes 2 partitions of it");
}

class ConvolutionPartition : public ::testing::TestWithParam<const char*> {
 protected:
  ConvolutionPartition() {
    const Result<StepOffer> offer = FindStepOffer(step_);
    EXPECT_TRUE(offer.ok());
    EXPECT_EQ(offer->candidate, GetParam());
    Result<std::unique_ptr<Program>> program = offer->make(tensors_.operands, tensors_.outputs);
    EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message);
    program_ = *std::move(program);
  }

  std::vector<double> Numbers() {
    EXPECT_TRUE(program_->Run().ok());
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < tensors_.outputs[0]->count(); ++i) numbers.push_back(tensors_.outputs[0]->Get(i));
    return numbers;
  }

  ReplayStep step_ =
      StepOf("region " + Convolution() + " ; [pointwise kind=relu dtype=f32:-:f32 in=3888](%0)", {}, GetParam());
  Tensors tensors_{step_.workload};
  std::unique_ptr<Program> program_;
};

TEST_P(ConvolutionPartition, PacksItsWeightsWhenItIsMadeAndNotInEachRun) {
  const std::vector<double> expected = Numbers();
  ExpectRight(step_, tensors_);
  HostTensor& weights = tensors_.held[1];
  std::memset(weights.data(), 0, weights.bytes());
  EXPECT_EQ(Numbers(), expected);
}

TEST_P(ConvolutionPartition, ReadsConstantsWhereItIsToldTo) {
  const std::vector<double> expected = Numbers();
  const std::vector<ConstantBlock> blocks = program_->Constants();
  ASSERT_EQ(blocks.size(), 2U);
  std::vector<AlignedBuffer> other;
  for (const ConstantBlock& block : blocks) {
    other.push_back(*AlignedBuffer::Make(block.bytes));
    std::memcpy(other.back().data(), block.data, block.bytes);
  }
  const auto use = [&](bool others) {
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].use(others ? other[i].data() : blocks[i].data);
  };
  use(true);
  EXPECT_EQ(Numbers(), expected);
  // Other numbers at another address are packed by themselves, and the first ones stay what they were.
  for (const AlignedBuffer& buffer : other) {
    for (std::size_t i = 0; i < buffer.size() / 4; ++i) static_cast<float*>(buffer.data())[i] = 0.5F;
  }
  use(false);
  for (const ConstantBlock& block : blocks)
    if (block.forget) block.forget(other.back().data());
  use(true);
  const std::vector<double> half = Numbers();
  EXPECT_NE(half, expected);
  for (const double number : half) EXPECT_GE(number, 0);
  use(false);
  EXPECT_EQ(Numbers(), expected);
}

TEST_P(ConvolutionPartition, RefusesMoreCopiesThanItCouldPackInTime) {
  ConstantCopies copies(*program_);
  const Status refused = copies.Make(513);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "unsupported: of its constants it prepares 512 copies at most, not 513");
  ASSERT_TRUE(copies.Make(3).ok());
  const std::vector<double> expected = Numbers();
  for (int run = 0; run < 6; ++run) {
    copies.Next();
    EXPECT_EQ(Numbers(), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, ConvolutionPartition, ::testing::Values(kPartition, kChannelsLast),
                         [](const auto& layout) { return layout.param == kPartition ? "RowMajor" : "ChannelsLast"; });

TEST(GraphPartition, WorksOnMemoryThatLiesAsItWasPlaced) {
  const ReplayStep step = StepOf("region " + Convolution("bias=no weights=const](in0,w0)") +
                                     " ; [pointwise kind=add dtype=f32:f32:f32 in=3888,3888](%0,in1)",
                                 {}, kChannelsLast);
  const Result<StepOffer> offer = FindStepOffer(step);
  ASSERT_TRUE(offer.ok());
  Tensors tensors(step.workload);
  const Result<std::vector<Placement>> placements = offer->place(tensors.operands, tensors.outputs);
  ASSERT_TRUE(placements.ok());
  ASSERT_EQ(placements->size(), 3U);  // both inputs and the result, not the weights
  std::deque<HostTensor> placed;
  Operands operands = tensors.operands;
  Outputs outputs = tensors.outputs;
  std::vector<AlignedBuffer> buffers;
  for (const Placement& placement : *placements) {
    buffers.push_back(*AlignedBuffer::Make(placement.tensor->bytes()));
    HostTensor& there = placed.emplace_back(
        *HostTensor::Over(buffers.back().data(), placement.tensor->shape(), placement.tensor->type(), placement.order));
    std::replace(operands.begin(), operands.end(), placement.tensor, static_cast<const HostTensor*>(&there));
    if (outputs[0] == placement.tensor) {
      outputs[0] = &there;
    } else {
      ASSERT_TRUE((*MakeReorder(*placement.tensor, there))->Run().ok());
    }
  }
  const Result<std::unique_ptr<Program>> program = offer->make(operands, outputs);
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_TRUE((*program)->in_place());
  ASSERT_TRUE((*program)->Run().ok());
  ASSERT_TRUE((*MakeReorder(*outputs[0], *tensors.outputs[0]))->Run().ok());
  ExpectRight(step, tensors);
}

}  // namespace
}  // namespace infimum::cpu::graph_partition_test
