// Regions of element-wise members as one program, also before the rows of a softmax or normalization. Members see the
// same elements in shapes of their own (16x200 and 3200): all are cut where any of them is.
//
//   [multiply in=16x200,16x1](in0,in1) ; [sigmoid in=3200](%0) ; [multiply in=3200,3200](%0,%1)
//     dims 16x200   steps of in0 200,1   of in1 1,0
//     multiply in0 in1, saved in 0;  sigmoid;  multiply slot 0 with the accumulator
#include <map>
#include <span>

#include "microbench/kernels/cuda/pointwise_steps.h"
#include "microbench/kernels/cuda/row_offers.h"

namespace infimum::cuda {
namespace {

// Products of the innermost dimensions of every member, ascending: where dimensions begin and end.
std::optional<std::vector<std::int64_t>> CutsOf(std::span<const RegionMember> members) {
  std::vector<std::int64_t> cuts{1};
  for (const RegionMember& member : members) {
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
std::optional<Arithmetic> CommonArithmetic(std::span<const RegionMember> members) {
  bool f64 = false, floats = false, integers = false, wide = false;
  for (const RegionMember& member : members) {
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

// Element-wise members as a program over the region's buffers.
struct Chain {
  PointwiseProgram program;
  std::vector<std::size_t> operands;  // the program's, as numbers of the region's

  std::vector<const void*> OperandsOf(const KernelBuffers& buffers) const {
    std::vector<const void*> own;
    for (const std::size_t number : operands) own.push_back(buffers.operands[number]);
    return own;
  }
};

std::size_t InputsOf(const Region& region) {
  std::size_t inputs = 0;
  for (const RegionMember& member : region.members)
    for (const RegionOperand& operand : member.operands)
      if (operand.source == RegionOperand::Source::kInput)
        inputs = std::max(inputs, static_cast<std::size_t>(operand.index) + 1);
  return inputs;
}

// As buffers number them: inputs, then weights.
std::size_t NumberOf(const RegionOperand& operand, std::size_t inputs) {
  return static_cast<std::size_t>(operand.index) + (operand.source == RegionOperand::Source::kWeight ? inputs : 0);
}

// Of the first `count` members; where others follow, the last one's result is rounded to its type, as they see it.
std::optional<Chain> ChainOf(const Region& region, std::size_t members, const std::vector<cpu::LayerValues>& values) {
  const std::span chained = std::span(region.members).first(members);
  std::int64_t count = -1;
  for (const RegionMember& member : chained) {
    const auto* config = std::get_if<PointwiseConfig>(&member.config);
    if (config == nullptr) return std::nullopt;
    const std::int64_t own = ElementCount(OutputShape(*config));
    if (count >= 0 && own != count) return std::nullopt;
    count = own;
  }
  const std::optional<std::vector<std::int64_t>> cuts = CutsOf(chained);
  const std::optional<Arithmetic> arithmetic = CommonArithmetic(chained);
  if (count == 0 || !cuts || !arithmetic) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (std::size_t i = cuts->size() - 1; i-- > 0;) dims.push_back((*cuts)[i + 1] / (*cuts)[i]);

  // A result is saved where a member that does not follow at once reads it, or reads it beside something else.
  std::vector<bool> saved(members, false);
  for (std::size_t m = 0; m < members; ++m) {
    const std::vector<RegionOperand>& operands = chained[m].operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].source != RegionOperand::Source::kMember) continue;
      const auto from = static_cast<std::size_t>(operands[i].index);
      if (from + 1 != m || i > 1) saved[from] = true;
    }
  }
  const std::size_t inputs = InputsOf(region);
  Chain chain{PointwiseProgram(dims, *arithmetic), {}};
  PointwiseProgram& program = chain.program;
  std::map<Reader, PointwiseProgram::Place> readers;
  std::vector<PointwiseProgram::Place> results(members, PointwiseCall::kAccumulator);
  for (std::size_t m = 0; m < members; ++m) {
    const RegionMember& member = chained[m];
    const auto& config = std::get<PointwiseConfig>(member.config);
    const cpu::LayerValues own = m < values.size() ? values[m] : cpu::LayerValues();
    if (!Agrees(config, own, *arithmetic)) return std::nullopt;
    const std::vector<Operand> operands = infimum::OperandsOf(member.config);
    std::vector<PointwiseProgram::Place> places;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const RegionOperand& operand = member.operands[i];
      if (operand.source == RegionOperand::Source::kMember) {
        // Element for element: a result that is repeated would have to be complete first.
        if (ElementCount(operands[i].shape) != count) return std::nullopt;
        const auto index = static_cast<std::size_t>(operand.index);
        places.push_back(index + 1 == m ? PointwiseCall::kAccumulator : results[index]);
        continue;
      }
      const std::size_t number = NumberOf(operand, inputs);
      Reader reader{number, StepsOver(*cuts, operands[i].shape, OutputShape(config)), ElementOf(operands[i].type)};
      auto found = readers.find(reader);
      if (found == readers.end()) {
        found = readers.emplace(reader, program.AddOperand(reader.element, reader.steps)).first;
        chain.operands.push_back(number);
      }
      places.push_back(found->second);
    }
    // Only the first step of a member finds the result before it in the accumulator.
    const bool several = places.size() > 2 && config.kind != PointwiseKind::kWhere;
    if (several && std::count(places.begin() + 2, places.end(), PointwiseCall::kAccumulator) > 0) return std::nullopt;
    if (!AddLayer(config, own, places, program)) return std::nullopt;
    const DataType stored = config.types.output;
    const bool is_seen_stored = m + 1 == members && members < region.members.size();
    if (stored != config.types.input || !IsFloatingPoint(stored) || is_seen_stored)
      program.RoundResult(ElementOf(stored));
    if (saved[m]) results[m] = program.SaveResult();
    if (std::ranges::find(region.outputs, static_cast<std::int64_t>(m)) != region.outputs.end())
      program.AddOutput(ElementOf(stored));
  }
  return chain;
}

// A softmax or normalization with what is fused to it.
struct RowRegion {
  std::size_t rows = 0;             // the member that it is
  bool has_quantize = false;        // the one behind it quantizes its result
  std::size_t scale = 0, bias = 0;  // operands of the region
};

bool ReadsMember(const RegionOperand& operand, std::size_t member) {
  return operand.source == RegionOperand::Source::kMember && operand.index == static_cast<std::int64_t>(member);
}

// nullopt where no kernel is of this form.
std::optional<RowRegion> RowRegionOf(const Region& region, const std::vector<cpu::LayerValues>& values,
                                     RowLayer& layer) {
  RowRegion form;
  form.rows = region.members.size() - 1;
  if (const auto* last = std::get_if<PointwiseConfig>(&region.members.back().config)) {
    form.has_quantize = last->kind == PointwiseKind::kQuantize && form.rows > 0 && last->inputs.size() == 1 &&
                        ReadsMember(region.members.back().operands[0], form.rows - 1);
    if (!form.has_quantize) return std::nullopt;
    --form.rows;
  }
  const RegionMember& member = region.members[form.rows];
  const auto of_member = [&](std::size_t m) { return m < values.size() ? values[m] : cpu::LayerValues(); };
  std::optional<RowLayer> found = RowLayerOf(member.config, of_member(form.rows));
  if (!found || found->call.arithmetic != Arithmetic::kF32) return std::nullopt;
  layer = *std::move(found);
  const auto is_member = [](const RegionOperand& one) { return one.source == RegionOperand::Source::kMember; };
  if (std::any_of(member.operands.begin() + 1, member.operands.end(), is_member)) return std::nullopt;
  if (form.rows > 0 && !ReadsMember(member.operands[0], form.rows - 1)) return std::nullopt;
  const std::size_t inputs = InputsOf(region);
  if (layer.scale > 0) form.scale = NumberOf(member.operands[layer.scale], inputs);
  if (layer.bias > 0) form.bias = NumberOf(member.operands[layer.bias], inputs);
  if (!form.has_quantize) return form;
  const auto& quantize = std::get<PointwiseConfig>(region.members.back().config);
  const cpu::Quantization stored = cpu::OutputQuantization(quantize.kind, quantize.types, of_member(form.rows + 1));
  if (stored.scales.size() != 1 || stored.zeros.size() != 1) return std::nullopt;
  layer.call.quantized_element = ElementOf(quantize.types.output);
  layer.call.quantize_scale = stored.scale();
  layer.call.quantize_zero = stored.zero();
  if (layer.call.quantized_element == Element::kNone) return std::nullopt;
  return form;
}

// A softmax or normalization: of rows in memory, or of what the members before it make; its result may be quantized.
std::vector<KernelOffer> RowRegionOffers(const Region& region, const std::vector<cpu::LayerValues>& values) {
  RowLayer layer;
  const std::optional<RowRegion> form = RowRegionOf(region, values, layer);
  if (!form) return {};
  std::optional<Chain> chain;
  if (form->rows > 0) {
    chain = ChainOf(region, form->rows, values);
    const Shape made = OutputsOf(region.members[form->rows - 1].config)[0].shape;
    if (!chain || chain->program.arithmetic() != Arithmetic::kF32 ||
        ElementCount(made) != ElementCount(OperandsOf(region.members[form->rows].config)[0].shape) ||
        !chain->program.Finish())
      return {};
  }
  const std::size_t source = form->rows == 0 ? NumberOf(region.members[0].operands[0], InputsOf(region)) : 0;
  const auto make = [=, form = *form, chain = std::move(chain), outputs = region.outputs, has_scale = layer.scale > 0,
                     has_bias = layer.bias > 0](const RowCall& variant, const KernelBuffers& buffers) {
    RowCall row = variant;
    std::vector<void*> results;  // of the members before the rows
    row.to = row.quantized = nullptr;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto member = static_cast<std::size_t>(outputs[i]);
      if (member < form.rows) results.push_back(buffers.outputs[i]);
      if (member == form.rows) row.to = buffers.outputs[i];
      if (member > form.rows) row.quantized = buffers.outputs[i];
    }
    if (has_scale) row.scale = buffers.operands[form.scale];
    if (has_bias) row.bias = buffers.operands[form.bias];
    if (!chain) {
      row.from = buffers.operands[source];
      if (row.threads > 1) row.width = WidthOf(row);
      return std::vector<KernelCall>{row};
    }
    // A program without results has a place for one all the same.
    if (results.empty()) results.push_back(nullptr);
    const int width = row.threads > 1 ? WidthOf(row) : 1;
    ChainedRowCall call{row, {}};
    call.chain = std::get<PointwiseCall>(chain->program.MakeCalls(width, chain->OperandsOf(buffers), results).front());
    call.row.width = call.chain.width;
    return std::vector<KernelCall>{call};
  };
  layer.name += form->rows > 0 ? "-chain" : "";
  layer.name += form->has_quantize ? "-quantized" : "";
  return RowOffers(layer, make);
}

}  // namespace

std::vector<KernelOffer> KernelsFor(const Region& region, const std::vector<cpu::LayerValues>& values) {
  if (region.members.size() < 2) return {};
  if (std::vector<KernelOffer> rows = RowRegionOffers(region, values); !rows.empty()) return rows;
  const std::optional<Chain> chain = ChainOf(region, region.members.size(), values);
  if (!chain) return BlockQuantizeOffers(region, values);
  std::vector<KernelOffer> offers = ProgramOffers("pointwise-chain", chain->program);
  for (KernelOffer& offer : offers) {
    offer.make = [make = offer.make, chain = *chain](const KernelBuffers& buffers) {
      KernelBuffers own{chain.OperandsOf(buffers), buffers.outputs, buffers.scratch};
      return make(own);
    };
  }
  return offers;
}

}  // namespace infimum::cuda
