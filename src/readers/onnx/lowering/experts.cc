// Mixtures of experts of com.microsoft: T tokens, each through k of E experts, whose products are batches over the
// experts that a run reads.
//
//   MoE k=2, x 1x1x4096, fc1 8x14336x4096     one token reads exactly 2 experts: measurable
//   MoE k=2, x 1x128x4096                     2 to 8, as the run decides: unknown, with 2 as the least, until
//                                             `--assume moe.experts=6` states it; its rows are spread evenly then
#include <algorithm>

#include "src/core/layer/reduction.h"
#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/convolution.h"
#include "src/readers/onnx/lowering/matmul.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

using Source = RegionBuilder::Source;

// Where a layer of experts has weights and bias of its products: gate or first, last, up (fc1, fc2, fc3).
struct ExpertInputs {
  std::size_t first[2], last[2], up[2];
};
constexpr ExpertInputs kFloat{{2, 3}, {4, 5}, {6, 7}};
constexpr ExpertInputs kQuantized{{2, 4}, {5, 7}, {8, 10}};

class Experts {
 public:
  Experts(const NodeView& node, RegionBuilder& region) : node_(node), region_(region) {}

  // `packed`: of how many elements an element of the stored weights consists; 1 of floats.
  Status Read(std::size_t first, std::int64_t packed, std::optional<DataType> weights) {
    const Result<Shape> x = InputShape(node_, 0);
    if (!x.ok()) return x.error();
    const Result<Shape> stored = InputShape(node_, first);
    if (!stored.ok()) return stored.error();
    const Result<DataType> type = OutputType(node_, 0);
    if (!type.ok()) return type.error();
    const Result<std::int64_t> each = IntegerIn(node_, "k", 1, {1, kMaxAttribute});
    if (!each.ok()) return each.error();
    if (x->rank() < 2 || x->rank() > 3 || stored->rank() != 3 || stored->dims[0] < *each)
      return Error{"an input of " + Format(*x) + " and weights of " + Format(*stored) + " are not of " +
                   std::to_string(*each) + " experts a token"};
    type_ = *type;
    weights_ = weights;
    packed_ = packed;
    hidden_ = x->dims.back();
    tokens_ = ElementCount(*x) / std::max<std::int64_t>(hidden_, 1);
    each_ = *each;
    quantity_ = QuantityOf(node_, kMoeExperts, each_, std::min(stored->dims[0], tokens_ * each_));
    experts_ = quantity_.stated.value_or(quantity_.least);
    if (experts_ < quantity_.least || experts_ > quantity_.most) experts_ = quantity_.least;  // refused by the reader
    // Spread evenly, rounded down: a floor must not count rows that there are not.
    rows_ = std::max<std::int64_t>(tokens_ * each_ / experts_, 1);
    return {};
  }

  // The tokens of each expert, one expert after the other; all tokens for each where each expert sees all of them.
  Source Tokens() {
    if (rows_ == tokens_) return region_.Input(0);
    const Source picks = region_.Add(Fill(DataType::kS64, Shape{{experts_ * rows_}}), {});
    return region_.Add(GatherRows(type_, DataType::kS64, tokens_, hidden_, experts_ * rows_),
                       {region_.Input(0), picks});
  }

  // experts x rows x k times each expert's weights, which are stored k x n or n x k: whichever k fits.
  Result<Source> Product(Source x, std::int64_t k, const std::size_t (&inputs)[2], std::int64_t* columns) {
    INFIMUM_ASSIGN_OR_RETURN(Shape stored, InputShape(node_, inputs[0]));
    INFIMUM_ASSIGN_OR_RETURN(const DataType own, InputType(node_, inputs[0]));
    if (stored.rank() != 3) return Error{"weights of " + Format(stored) + " are not experts x rows x columns"};
    stored.dims[2] = stored.dims[2] * packed_;
    if (stored.dims[2] == k) std::swap(stored.dims[1], stored.dims[2]);
    if (stored.dims[1] != k) return Error{"weights of " + Format(stored) + " do not fit rows of " + std::to_string(k)};
    const std::int64_t n = stored.dims[2];
    const bool is_shared = rows_ == tokens_ && !x.is_member;
    INFIMUM_ASSIGN_OR_RETURN(
        MatMulConfig product,
        MakeMatMul({type_, weights_.value_or(own), type_}, Shape{{is_shared ? 1 : experts_, rows_, k}},
                   Shape{{experts_, k, n}}, MatMulBias::kNone, ConstnessOf(node_, inputs[0])));
    std::vector<Source> operands{x, region_.Input(inputs[0])};
    if (weights_ && HasInput(node_, inputs[0] + 1)) {  // a scale for each block of a column, or for the column
      INFIMUM_ASSIGN_OR_RETURN(product.scales.rows, IntegerIn(node_, "block_size", k, {1, kMaxAttribute}));
      product.scales.rows = std::min(product.scales.rows, k);
      product.scales.columns = 1;
      INFIMUM_ASSIGN_OR_RETURN(product.scales.type, InputType(node_, inputs[0] + 1));
      operands.push_back(region_.Input(inputs[0] + 1));
    }
    Source value = region_.Add(product, operands);
    if (HasInput(node_, inputs[1])) {
      INFIMUM_ASSIGN_OR_RETURN(const DataType bias, InputType(node_, inputs[1]));
      INFIMUM_ASSIGN_OR_RETURN(value, region_.AddPointwise(PointwiseKind::kAdd, {type_, bias, type_},
                                                           {Shape{{experts_, rows_, n}}, Shape{{experts_, 1, n}}},
                                                           {value, region_.Input(inputs[1])}));
    }
    *columns = n;
    return value;
  }

  // The activation of `value`, times `up` where it is gated by another product or by its own second half.
  Result<Source> Activate(Source value, std::optional<Source> up, std::int64_t* columns) {
    INFIMUM_ASSIGN_OR_RETURN(const std::string name, Text(node_, "activation_type", "relu"));
    const bool is_halved = name == "swiglu" && !up;
    std::optional<PointwiseKind> activation;
    if (name != "identity") {
      INFIMUM_ASSIGN_OR_RETURN(activation, ActivationKind(name == "swiglu" ? "silu" : name));
    }
    const std::int64_t rows = experts_ * rows_;
    if (is_halved) {
      if (*columns % 2 != 0) return Error{"its first product has no two halves"};
      const Shape whole{{rows, *columns}}, half{{rows, *columns / 2}};
      up = region_.Add(Move(MovementKind::kSlice, type_, whole, half), {value});
      value = region_.Add(Move(MovementKind::kSlice, type_, whole, half), {value});
      *columns /= 2;
    }
    const Shape shape{{rows, *columns}};
    if (activation) {
      INFIMUM_ASSIGN_OR_RETURN(value,
                               region_.AddPointwise(*activation, {type_, DataType::kNone, type_}, {shape}, {value}));
    }
    if (!up) return value;
    return region_.AddPointwise(PointwiseKind::kMultiply, {type_, type_, type_}, {shape, shape}, {value, *up});
  }

  // Each token's results, weighted and added: the weights are a few values.
  Result<Lowering> Finish(Source value) {
    const std::int64_t all = experts_ * rows_;
    if (all == tokens_ * each_ && each_ > 1) {
      const bool is_outer = rows_ == tokens_;
      const Shape shape = is_outer ? Shape{{each_, tokens_, hidden_}} : Shape{{tokens_, each_, hidden_}};
      region_.Add(MakeReduction(ReductionKind::kSum, {type_, DataType::kNone, type_}, shape, {is_outer ? 0 : 1}),
                  {value});
    } else if (all > tokens_) {
      const Source picks = region_.Add(Fill(DataType::kS64, Shape{{tokens_}}), {});
      region_.Add(GatherRows(type_, DataType::kS64, all, hidden_, tokens_), {value, picks});
    }
    INFIMUM_ASSIGN_OR_RETURN(Lowering lowering, region_.Finish());
    lowering.quantities.push_back(quantity_);
    if (quantity_.most > quantity_.least && !quantity_.stated) {
      lowering.status = LayerStatus::kUnknown;
      lowering.least = std::move(lowering.workload);
      lowering.workload.reset();
      lowering.reason = "which experts' weights it reads depends on the data; --assume " + std::string(kMoeExperts) +
                        "=N states how many";
    }
    return lowering;
  }

  std::int64_t hidden() const { return hidden_; }

 private:
  const NodeView& node_;
  RegionBuilder& region_;
  DataType type_ = DataType::kF32;
  std::optional<DataType> weights_;
  std::int64_t packed_ = 1, hidden_ = 1, tokens_ = 1, each_ = 1, experts_ = 1, rows_ = 1;
  RunTimeQuantity quantity_;
};

Result<Lowering> Lower(const NodeView& node, const ExpertInputs& at, std::int64_t packed,
                       std::optional<DataType> weights) {
  RegionBuilder region(node);
  Experts experts(node, region);
  INFIMUM_RETURN_IF_ERROR(experts.Read(at.first[0], packed, weights));
  const Source tokens = experts.Tokens();
  std::int64_t columns = 0;
  INFIMUM_ASSIGN_OR_RETURN(Source value, experts.Product(tokens, experts.hidden(), at.first, &columns));
  std::optional<Source> up;
  if (HasInput(node, at.up[0])) {
    std::int64_t others = 0;
    INFIMUM_ASSIGN_OR_RETURN(up, experts.Product(tokens, experts.hidden(), at.up, &others));
    if (others != columns) return Error{"its gate and its other product differ in columns"};
  }
  INFIMUM_ASSIGN_OR_RETURN(value, experts.Activate(value, up, &columns));
  INFIMUM_ASSIGN_OR_RETURN(value, experts.Product(value, columns, at.last, &columns));
  if (columns != experts.hidden()) return Error{"its last product gives rows of " + std::to_string(columns)};
  return experts.Finish(value);
}

Result<Lowering> LowerExperts(const NodeView& node) { return Lower(node, kFloat, 1, std::nullopt); }

Result<Lowering> LowerQuantizedExperts(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t bits, IntegerIn(node, "expert_weight_bits", 4, {1, 64}));
  if (bits != 4 && bits != 8) return Unknown("experts' weights of " + std::to_string(bits) + " bits have no workload");
  return Lower(node, kQuantized, 8 / bits, bits == 4 ? DataType::kU4 : DataType::kU8);
}

}  // namespace

std::span<const OperatorEntry> ExpertOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kMicrosoft, "MoE", LowerExperts},
      {kMicrosoft, "QMoE", LowerQuantizedExperts},
  };
  return kEntries;
}

}  // namespace infimum::lowering
