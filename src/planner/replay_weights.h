// Weights that a step does not read as the model stores them. What changes them are steps that run once, before the
// first inference.
//
//   Gemm with transB, weights 2x4        transpose of the weights, 2x4 -> 4x2
//   Gemm with alpha and beta             pointwise kind=multiply of the weights and of the bias
//   Conv with a folded normalization     normalization kind=batch of the weights, seen as 1 x channels x rest and with
//                                        a mean of zero, and of the bias, seen as 1 x channels
//   GatherND, places of (row, column)    row x columns + column, of constants for one element each, and zeros up to
//                                        their number
//   Conv with a folded Mul, Add          pointwise kind=multiply of the weights and of the bias; kind=add of the bias
//
// Changed weights are made once for all who want them so.
#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "infimum/graph/model_graph.h"
#include "infimum/graph/replay_schedule.h"

namespace infimum {

class WeightChanger {
 public:
  using TensorOf = std::function<Result<std::size_t>(ValueId)>;

  // Appends tensors and steps to `schedule`, which outlives it; `tensor_of` finds a model's value there.
  WeightChanger(const ModelGraph& graph, ReplaySchedule& schedule, TensorOf tensor_of)
      : graph_(graph), schedule_(schedule), tensor_of_(std::move(tensor_of)) {}

  // For those of the layer's inputs that a step reads changed, the tensor that it reads in their place.
  Result<std::map<ValueId, std::size_t>> Change(const Layer& layer);

 private:
  using Changed = std::map<ValueId, std::size_t>;

  // The tensor of a value after its last change.
  Result<std::size_t> Current(ValueId value, const Changed& changed);
  Status Multiply(const Layer& layer, const char* attribute, std::size_t input, Changed& changed);
  Status FoldConstants(const Layer& layer, Changed& changed);
  Status Transpose(const Layer& layer, Changed& changed);
  Status JoinPlaces(const Layer& layer, Changed& changed);
  // A step that makes `shape` of a tensor, seen as another, from `starts` on (replay_values.h).
  std::size_t Move(MovementKind kind, std::size_t tensor, const Shape& seen_as, const Shape& shape,
                   std::vector<double> starts, const std::string& name);
  // Of `tensor`, seen in this shape, whose second dimension are the channels, what the constants make; itself where
  // they make nothing of it.
  Result<std::size_t> Fold(std::size_t tensor, const Shape& seen_as, const FoldedConstants& folded, bool is_bias,
                           const std::string& name);
  // A step that normalizes it.
  Result<std::size_t> Normalize(std::size_t tensor, const Shape& seen_as, const FoldedConstants& folded, bool is_bias,
                                const std::string& name);
  // A step that multiplies it by, or adds, another: one element for each channel, or a single one.
  std::size_t Combine(PointwiseKind kind, std::size_t tensor, const Shape& seen_as, std::size_t by,
                      const std::string& name);
  std::size_t Filled(DataType type, std::int64_t count, double element);
  std::size_t Add(ReplayTensor tensor);

  const ModelGraph& graph_;
  ReplaySchedule& schedule_;
  TensorOf tensor_of_;
  std::map<std::size_t, std::size_t> transposed_;  // what was made of a tensor
  std::map<std::tuple<DataType, std::int64_t, double>, std::size_t> filled_;
};

}  // namespace infimum
