// Single element-wise layers, and batch normalization at inference, which is one.
#include "microbench/kernels/cuda/pointwise_steps.h"
#include "src/core/layer/family.h"

namespace infimum::cuda {

std::vector<KernelOffer> ProgramOffers(const std::string& name, PointwiseProgram program) {
  if (!program.Finish()) return {};
  std::vector<KernelOffer> offers;
  for (const int width : program.Widths()) {
    const auto make = [program, width](const KernelBuffers& buffers) {
      return program.MakeCalls(width, buffers.operands, buffers.outputs);
    };
    offers.push_back({name + (width == 1 ? ":scalar" : ":vector" + std::to_string(width)), 0, make});
  }
  return offers;
}

namespace {

// Smallest and largest element first, each a reduction of its own; their results stay in scratch memory.
std::vector<KernelOffer> DynamicQuantizeOffers(const PointwiseConfig& config) {
  if (config.types.input != DataType::kF32 || config.types.output != DataType::kU8) return {};
  const Shape flat{{ElementCount(config.inputs[0])}};
  const OperandTypes types{DataType::kF32, DataType::kNone, DataType::kF32};
  const std::vector<KernelOffer> least = OffersFor(ReductionConfig{ReductionKind::kMin, types, flat, {0}});
  const std::vector<KernelOffer> most = OffersFor(ReductionConfig{ReductionKind::kMax, types, flat, {0}});
  PointwiseProgram program(flat.dims, Arithmetic::kF32);
  const auto x = program.AddOperand(Element::kF32, {1});
  const auto low = program.AddOperand(Element::kF32, {0}), high = program.AddOperand(Element::kF32, {0});
  program.AddStep(StepKind::kDynamicQuantize, x, low, high);
  program.AddOutput(Element::kU8);
  if (!program.Finish() || least.size() != most.size()) return {};
  std::vector<KernelOffer> offers;
  for (std::size_t i = 0; i < least.size(); ++i) {
    KernelOffer offer;
    offer.algorithm = "dynamic_quantize:" + least[i].algorithm.substr(least[i].algorithm.find(':') + 1);
    constexpr std::int64_t kResults = 256;  // keeps what follows aligned
    offer.scratch_bytes = kResults + std::max(least[i].scratch_bytes, most[i].scratch_bytes);
    offer.make = [program, smallest = least[i].make, largest = most[i].make](const KernelBuffers& buffers) {
      auto* results = static_cast<float*>(buffers.scratch);
      void* rest = static_cast<char*>(buffers.scratch) + kResults;
      std::vector<KernelCall> calls = smallest({buffers.operands, {results}, rest});
      for (const KernelCall& call : largest({buffers.operands, {results + 1}, rest})) calls.push_back(call);
      for (const KernelCall& call :
           program.MakeCalls(4, {buffers.operands[0], results, results + 1}, {buffers.outputs[0]})) {
        calls.push_back(call);
      }
      return calls;
    };
    offers.push_back(std::move(offer));
  }
  return offers;
}

}  // namespace

std::vector<KernelOffer> OffersFor(const PointwiseConfig& config, const cpu::LayerValues& values) {
  if (config.kind == PointwiseKind::kDynamicQuantize) return DynamicQuantizeOffers(config);
  const std::optional<Arithmetic> arithmetic = ArithmeticOf(config, values);
  if (!arithmetic) return {};
  const std::vector<Operand> operands = OperandsOf(LayerConfig(config));
  PointwiseProgram program(OutputShape(config).dims, *arithmetic);
  std::vector<PointwiseProgram::Place> places;
  for (const Operand& operand : operands) {
    places.push_back(program.AddOperand(ElementOf(operand.type), BroadcastSteps(operand.shape, program.dims())));
  }
  if (!AddLayer(config, values, places, program)) return {};
  program.AddOutput(ElementOf(config.types.output));
  return ProgramOffers("pointwise", std::move(program));
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias, all but x by channel.
std::vector<KernelOffer> BatchNormalizationOffers(const NormalizationConfig& config, const cpu::LayerValues& values) {
  const std::optional<Arithmetic> arithmetic = RealArithmetic(config.types.input);
  if (!arithmetic || config.input.rank() < 2) return {};
  const std::vector<Operand> operands = OperandsOf(LayerConfig(config));
  const std::int64_t pixels = ElementsBetween(config.input, 2, config.input.rank());
  PointwiseProgram program({config.input.dims[0], config.input.dims[1], pixels}, *arithmetic);
  std::vector<PointwiseProgram::Place> places;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    std::vector<std::int64_t> steps = i == 0 ? PackedSteps(program.dims()) : std::vector<std::int64_t>{0, 1, 0};
    places.push_back(program.AddOperand(ElementOf(operands[i].type), std::move(steps)));
  }
  std::size_t next = 1;
  const std::size_t scale = config.scale ? next++ : 0, bias = config.bias ? next++ : 0;
  if (places.size() != next + 2) return {};
  constexpr auto kSoFar = PointwiseCall::kAccumulator;
  program.AddStep(StepKind::kInverseRoot, places[next + 1], 0, 0, {values.epsilon});
  const auto factor = program.SaveResult();
  program.AddStep(StepKind::kSubtract, places[0], places[next]);
  program.AddStep(StepKind::kMultiply, kSoFar, factor);
  if (config.scale) program.AddStep(StepKind::kMultiply, kSoFar, places[scale]);
  if (config.bias) program.AddStep(StepKind::kAdd, kSoFar, places[bias]);
  program.AddOutput(ElementOf(config.types.output));
  return ProgramOffers("normalization", std::move(program));
}

}  // namespace infimum::cuda
