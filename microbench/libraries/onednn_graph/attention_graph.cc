// Attention as oneDNN Graph knows it: a product, its scale, its mask, a softmax, a product.
#include <algorithm>
#include <cmath>
#include <limits>

#include "microbench/libraries/onednn_graph/region_graph.h"

namespace infimum::cpu {
namespace {

using dnnl::graph::op;
using Role = GraphTensor::Role;
using Dims = std::vector<std::int64_t>;

// Of a causal mask, 64 MiB.
constexpr std::int64_t kMostScores = std::int64_t{1} << 24;

class AttentionTranslation {
 public:
  AttentionTranslation(const AttentionConfig& config, const LayerValues& values)
      : config_(config), values_(values), value_head_(config.value_head == 0 ? config.head : config.value_head) {}

  Result<LibraryGraph> Translate(bool transposed) {
    if (values_.mask_scale != 1) return Error{"unsupported: oneDNN Graph scales no mask"};
    if (config_.mask == AttentionMask::kCausal && config_.kv < config_.q)
      return Error{"unsupported: queries that see no key have no softmax"};
    if (config_.mask == AttentionMask::kCausal && config_.q > kMostScores / std::max<std::int64_t>(config_.kv, 1))
      return Error{"unsupported: a causal mask that would have to be written out"};
    const bool repeats = std::ranges::any_of(
        config_.masks, [&](const Shape& mask) { return mask.dims[0] != 1 && mask.dims[0] != config_.batch; });
    if (config_.types.weights != DataType::kNone && config_.types.weights != config_.types.input)
      return Error{"unsupported: oneDNN Graph adds no mask of another type"};
    if (repeats || config_.masks.size() > 1) return Error{"unsupported: several masks, or one that is repeated"};
    AddOperands();
    const std::size_t scores = Add(Role::kInner, ScoreShape());
    const bool keys_transposed = values_.keys_transposed;
    AddOperation(op::kind::MatMul, {0, 1}, scores,
                 [keys_transposed](op& made) { made.set_attr<bool>(op::attr::transpose_b, !keys_transposed); });
    const double scale = values_.scale.value_or(1 / std::sqrt(static_cast<double>(config_.head)));
    const std::size_t scaled = Add(Role::kInner, ScoreShape());
    AddOperation(op::kind::Multiply, {scores, AddNumbers(Ones(), {static_cast<float>(scale)})}, scaled);
    const std::size_t seen = AddMask(scaled, transposed);
    const std::size_t shares = Add(Role::kInner, ScoreShape());
    const auto axis = static_cast<std::int64_t>(ScoreShape().rank()) - 1;
    AddOperation(op::kind::SoftMax, {seen}, shares,
                 [axis](op& made) { made.set_attr<std::int64_t>(op::attr::axis, axis); });
    const Shape result = WithHeads(config_.q, value_head_);
    if (!transposed) {
      AddOperation(op::kind::MatMul, {shares, 2}, Add(Role::kResult, result));
      return std::move(graph_);
    }
    const std::size_t product = Add(Role::kInner, result);
    AddOperation(op::kind::MatMul, {shares, 2}, product);
    AddTransposed(product, result);
    return std::move(graph_);
  }

 private:
  bool grouped() const { return config_.heads != config_.kv_heads; }

  // Heads that share keys are a dimension of their own, over which keys and values are broadcast.
  Shape WithHeads(std::int64_t rows, std::int64_t columns) const {
    if (!grouped()) return Shape{{config_.batch, config_.heads, rows, columns}};
    return Shape{{config_.batch, config_.kv_heads, config_.heads / config_.kv_heads, rows, columns}};
  }
  Shape Shared(std::int64_t rows, std::int64_t columns) const {
    if (!grouped()) return Shape{{config_.batch, config_.heads, rows, columns}};
    return Shape{{config_.batch, config_.kv_heads, 1, rows, columns}};
  }
  Shape ScoreShape() const { return WithHeads(config_.q, config_.kv); }
  Shape Ones() const { return Shape{Dims(ScoreShape().rank(), 1)}; }
  Shape MaskShape() const {
    const Shape mask = config_.masks.empty() ? Shape{{1, 1, config_.q, config_.kv}} : config_.masks[0];
    if (!grouped()) return mask;
    const bool by_head = mask.dims[1] != 1;
    const std::int64_t groups = by_head ? config_.kv_heads : 1;
    return Shape{{mask.dims[0], groups, by_head ? config_.heads / groups : 1, mask.dims[2], mask.dims[3]}};
  }

  std::size_t Add(Role role, const Shape& shape) {
    const DataType type = role == Role::kResult ? config_.types.output : config_.types.input;
    graph_.tensors.push_back(RowMajorTensor(role, shape, type));
    return graph_.tensors.size() - 1;
  }

  std::size_t AddNumbers(const Shape& shape, std::vector<float> numbers) {
    const std::size_t number = Add(Role::kNumbers, shape);
    graph_.tensors[number].numbers = std::move(numbers);
    return number;
  }

  void AddOperation(op::kind kind, std::vector<std::size_t> inputs, std::size_t output,
                    std::function<void(op&)> set_attributes = nullptr) {
    graph_.operations.push_back({kind, std::move(inputs), output, std::move(set_attributes)});
  }

  void AddOperands() {
    Add(Role::kOperand, WithHeads(config_.q, config_.head));
    Add(Role::kOperand, values_.keys_transposed ? Shared(config_.head, config_.kv) : Shared(config_.kv, config_.head));
    Add(Role::kOperand, Shared(config_.kv, value_head_));
    if (config_.mask != AttentionMask::kFull) return;
    const DataType type = config_.types.weights == DataType::kNone ? config_.types.input : config_.types.weights;
    graph_.tensors.push_back(RowMajorTensor(Role::kOperand, MaskShape(), type));
  }

  // The tensor that the softmax reads.
  std::size_t AddMask(std::size_t scaled, bool needed) {
    std::size_t mask = 3;
    if (config_.mask == AttentionMask::kCausal) {
      std::vector<float> numbers;
      for (std::int64_t query = 0; query < config_.q; ++query) {
        const Positions seen = SeenBy(config_, query);
        for (std::int64_t key = 0; key < config_.kv; ++key)
          numbers.push_back(key >= seen.begin && key < seen.end ? 0 : -std::numeric_limits<float>::infinity());
      }
      mask = AddNumbers(MaskShape(), std::move(numbers));
    } else if (config_.mask == AttentionMask::kNone) {
      if (!needed) return scaled;
      mask = AddNumbers(Ones(), {0});
    }
    const std::size_t seen = Add(Role::kInner, ScoreShape());
    AddOperation(op::kind::Add, {scaled, mask}, seen);
    return seen;
  }

  // To the order of tokens, of which each has its heads side by side, in memory that lies as the layer has it.
  void AddTransposed(std::size_t product, const Shape& shape) {
    const std::size_t rank = shape.rank(), rows = rank - 2;
    Dims order{0, static_cast<std::int64_t>(rows)};
    for (std::size_t i = 1; i < rank; ++i)
      if (i != rows) order.push_back(static_cast<std::int64_t>(i));
    const GraphTensor plain = RowMajorTensor(Role::kResult, shape, config_.types.output);
    GraphTensor result = plain;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto from = static_cast<std::size_t>(order[i]);
      result.shape.dims[i] = plain.shape.dims[from];
      result.strides[i] = plain.strides[from];
    }
    const std::size_t turned = Add(Role::kInner, result.shape);
    AddOperation(op::kind::StaticTranspose, {product}, turned,
                 [order](op& made) { made.set_attr<Dims>(op::attr::order, order); });
    graph_.tensors.push_back(std::move(result));
    AddOperation(op::kind::Reorder, {turned}, graph_.tensors.size() - 1);
  }

  const AttentionConfig& config_;
  const LayerValues& values_;
  std::int64_t value_head_;
  LibraryGraph graph_;
};

}  // namespace

Result<LibraryGraph> GraphOf(const AttentionConfig& config, const LayerValues& values, bool transposed) {
  return AttentionTranslation(config, values).Translate(transposed);
}

}  // namespace infimum::cpu
