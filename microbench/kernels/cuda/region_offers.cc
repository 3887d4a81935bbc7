// Regions of element-wise members as one program. Members see the same elements in shapes of their own (16x200 and
// 3200): all are cut where any of them is.
//
//   [multiply in=16x200,16x1](in0,in1) ; [sigmoid in=3200](%0) ; [multiply in=3200,3200](%0,%1)
//     dims 16x200   steps of in0 200,1   of in1 1,0
//     multiply in0 in1, saved in 0;  sigmoid;  multiply slot 0 with the accumulator
#include <map>

#include "microbench/kernels/cuda/pointwise_steps.h"

namespace infimum::cuda {
namespace {

// Products of the innermost dimensions of every member, ascending: where dimensions begin and end.
std::optional<std::vector<std::int64_t>> CutsOf(const Region& region) {
  std::vector<std::int64_t> cuts{1};
  for (const RegionMember& member : region.members) {
    const Shape shape = OutputShape(std::get<PointwiseConfig>(member.config));
    std::int64_t below = 1;
    for (std::size_t d = shape.rank(); d-- > 0;) cuts.push_back(below *= shape.dims[d]);
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i - 1] == 0 || cuts[i] % cuts[i - 1] != 0) return std::nullopt;
  }
  return cuts;
}

// Steps of an operand of a member over the common dimensions, outermost first.
std::vector<std::int64_t> StepsOver(const std::vector<std::int64_t>& cuts, const Shape& operand, const Shape& output) {
  const std::vector<std::int64_t> own = BroadcastSteps(operand, output.dims);
  std::vector<std::int64_t> steps;
  for (std::size_t i = cuts.size() - 1; i-- > 0;) {
    // The member's dimension from `below` to below * size in which the common one from cuts[i] on lies.
    std::int64_t below = 1, step = 0;
    for (std::size_t d = output.rank(); d-- > 0; below *= output.dims[d]) {
      if (cuts[i] >= below && cuts[i] < below * output.dims[d]) step = own[d] * (cuts[i] / below);
    }
    steps.push_back(step);
  }
  return steps;
}

bool IsWideInteger(DataType type) { return IsInteger(type) && BitsPerElement(type) > 16; }

// One arithmetic in which every member is exact enough: f32 where integers, if there are any, have 16 bits at most.
std::optional<Arithmetic> CommonArithmetic(const Region& region) {
  bool f64 = false, floats = false, integers = false, wide = false;
  for (const RegionMember& member : region.members) {
    for (const DataType type : {TypesOf(member.config).input, TypesOf(member.config).output}) {
      f64 = f64 || type == DataType::kF64;
      floats = floats || IsFloatingPoint(type);
      integers = integers || IsInteger(type);
      wide = wide || IsWideInteger(type);
    }
  }
  if (!integers) return f64 ? Arithmetic::kF64 : Arithmetic::kF32;
  if (!floats) return Arithmetic::kS64;
  return f64 || wide ? Arithmetic::kF64 : Arithmetic::kF32;
}

// Whether a member of its own types may be computed in the region's arithmetic.
bool Agrees(const PointwiseConfig& config, const cpu::LayerValues& values, Arithmetic arithmetic) {
  if (config.kind == PointwiseKind::kDynamicQuantize) return false;
  const std::optional<Arithmetic> own = ArithmeticOf(config, values);
  if (!own) return false;
  if (*own == arithmetic || config.kind == PointwiseKind::kCast) return true;
  if (*own == Arithmetic::kF32) return arithmetic == Arithmetic::kF64;
  return false;
}

struct Reader {
  std::size_t operand;  // of KernelBuffers
  std::vector<std::int64_t> steps;
  Element element;
  friend auto operator<=>(const Reader&, const Reader&) = default;
};

}  // namespace

std::vector<KernelOffer> KernelsFor(const Region& region, const std::vector<cpu::LayerValues>& values) {
  if (region.members.size() < 2) return {};
  std::size_t inputs = 0;
  std::int64_t count = -1;
  for (const RegionMember& member : region.members) {
    const auto* config = std::get_if<PointwiseConfig>(&member.config);
    if (config == nullptr) return {};
    const std::int64_t own = ElementCount(OutputShape(*config));
    if (count >= 0 && own != count) return {};
    count = own;
    for (const RegionOperand& operand : member.operands) {
      if (operand.source == RegionOperand::Source::kInput) {
        inputs = std::max(inputs, static_cast<std::size_t>(operand.index) + 1);
      }
    }
  }
  const std::optional<std::vector<std::int64_t>> cuts = CutsOf(region);
  const std::optional<Arithmetic> arithmetic = CommonArithmetic(region);
  if (count == 0 || !cuts || !arithmetic) return {};
  std::vector<std::int64_t> dims;
  for (std::size_t i = cuts->size() - 1; i-- > 0;) dims.push_back((*cuts)[i + 1] / (*cuts)[i]);

  // A result is saved where a member that does not follow at once reads it, or reads it beside something else.
  const std::size_t members = region.members.size();
  std::vector<bool> saved(members, false);
  for (std::size_t m = 0; m < members; ++m) {
    const std::vector<RegionOperand>& operands = region.members[m].operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].source != RegionOperand::Source::kMember) continue;
      const auto from = static_cast<std::size_t>(operands[i].index);
      if (from + 1 != m || i > 1) saved[from] = true;
    }
  }
  PointwiseProgram program(dims, *arithmetic);
  std::map<Reader, PointwiseProgram::Place> readers;
  std::vector<PointwiseProgram::Place> results(members, PointwiseCall::kAccumulator);
  std::vector<std::size_t> operand_order;
  for (std::size_t m = 0; m < members; ++m) {
    const RegionMember& member = region.members[m];
    const auto& config = std::get<PointwiseConfig>(member.config);
    const cpu::LayerValues own = m < values.size() ? values[m] : cpu::LayerValues();
    if (!Agrees(config, own, *arithmetic)) return {};
    const std::vector<Operand> operands = OperandsOf(member.config);
    std::vector<PointwiseProgram::Place> places;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const RegionOperand& operand = member.operands[i];
      const auto index = static_cast<std::size_t>(operand.index);
      if (operand.source == RegionOperand::Source::kMember) {
        // Element for element: a result that is repeated would have to be complete first.
        if (ElementCount(operands[i].shape) != count) return {};
        places.push_back(index + 1 == m ? PointwiseCall::kAccumulator : results[index]);
        continue;
      }
      const std::size_t number = operand.source == RegionOperand::Source::kInput ? index : inputs + index;
      Reader reader{number, StepsOver(*cuts, operands[i].shape, OutputShape(config)), ElementOf(operands[i].type)};
      auto found = readers.find(reader);
      if (found == readers.end()) {
        found = readers.emplace(reader, program.AddOperand(reader.element, reader.steps)).first;
        operand_order.push_back(number);
      }
      places.push_back(found->second);
    }
    // Only the first step of a member finds the result before it in the accumulator.
    const bool several = places.size() > 2 && config.kind != PointwiseKind::kWhere;
    if (several && std::count(places.begin() + 2, places.end(), PointwiseCall::kAccumulator) > 0) {
      return {};
    }
    if (!AddLayer(config, own, places, program)) return {};
    const DataType stored = config.types.output;
    if (stored != config.types.input || !IsFloatingPoint(stored)) program.RoundResult(ElementOf(stored));
    if (saved[m]) results[m] = program.SaveResult();
    if (std::ranges::find(region.outputs, static_cast<std::int64_t>(m)) != region.outputs.end()) {
      program.AddOutput(ElementOf(stored));
    }
  }
  std::vector<KernelOffer> offers = ProgramOffers("pointwise-chain", std::move(program));
  for (KernelOffer& offer : offers) {
    offer.make = [make = offer.make, operand_order](const KernelBuffers& buffers) {
      KernelBuffers own{{}, buffers.outputs, buffers.scratch};
      for (const std::size_t number : operand_order) own.operands.push_back(buffers.operands[number]);
      return make(own);
    };
  }
  return offers;
}

}  // namespace infimum::cuda
