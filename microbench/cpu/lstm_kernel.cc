// An LSTM over one sequence (batch 1) as we would write it: all inputs projected by one matrix product, then for each
// step the recurrent weights times the state, read in the order in which they lie. Those weights are read once a step,
// so the layer is as fast as the cache that holds them.

#include <algorithm>

#include "microbench/cpu/offers.h"
#include "microbench/cpu/row_major.h"
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

// Gates in ONNX's order: input, output, forget, cell; the first three go through a sigmoid.
constexpr std::int64_t kGates = 4;

struct Direction {
  HostTensor weights, bias, projected;    // input x gates, gates, sequence x gates
  AlignedBuffer recurrent;                // packed for MatrixVector
  const float* recurrent_rows = nullptr;  // where Run() reads them
  AlignedBuffer gates, state, cell;
  std::unique_ptr<Program> projection;
};

class LstmProgram : public Program {
 public:
  Status Prepare(const RecurrentConfig& config, const Problem& problem) {
    config_ = config;
    output_ = problem.outputs[0]->As<float>();
    columns_ = kGates * config.hidden;
    directions_ = std::vector<Direction>(static_cast<std::size_t>(config.directions));
    footprint_ = FootprintOf(problem);
    for (std::int64_t d = 0; d < config.directions; ++d) INFIMUM_RETURN_IF_ERROR(PrepareDirection(d, problem));
    return {};
  }

  Status Run() override {
    for (Direction& direction : directions_) INFIMUM_RETURN_IF_ERROR(RunRowMajor(*direction.projection));
    ParallelRanges(config_.directions, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t d = first; d < last; ++d) RunDirection(d);
    });
    return {};
  }
  Bytes footprint() const override { return footprint_; }
  std::vector<ConstantBlock> Constants() override {
    std::vector<ConstantBlock> blocks;
    for (Direction& direction : directions_) {
      const std::vector<ConstantBlock> projection = direction.projection->Constants();
      if (projection.empty()) return {};
      blocks.insert(blocks.end(), projection.begin(), projection.end());
      blocks.push_back({direction.recurrent.data(), direction.recurrent.size(),
                        [&direction](void* there) { direction.recurrent_rows = static_cast<const float*>(there); }});
    }
    return blocks;
  }

 private:
  Status PrepareDirection(std::int64_t d, const Problem& problem) {
    const std::int64_t hidden = config_.hidden, input = config_.input;
    Direction& direction = directions_[static_cast<std::size_t>(d)];
    INFIMUM_ASSIGN_OR_RETURN(direction.weights, HostTensor::Make(Shape{{1, input, columns_}}, DataType::kF32));
    INFIMUM_ASSIGN_OR_RETURN(direction.bias, HostTensor::Make(Shape{{columns_}}, DataType::kF32));
    INFIMUM_ASSIGN_OR_RETURN(direction.projected,
                             HostTensor::Make(Shape{{1, config_.sequence, columns_}}, DataType::kF32));
    const float* w = problem.operands[1]->As<float>() + d * columns_ * input;
    const float* r = problem.operands[2]->As<float>() + d * columns_ * hidden;
    for (std::int64_t column = 0; column < columns_; ++column) {
      for (std::int64_t i = 0; i < input; ++i) {
        direction.weights.As<float>()[i * columns_ + column] = w[column * input + i];
      }
    }
    for (std::int64_t column = 0; config_.bias && column < columns_; ++column) {
      const float* bias = problem.operands[3]->As<float>() + d * 2 * columns_;
      direction.bias.As<float>()[column] = bias[column] + bias[columns_ + column];
    }
    const std::int64_t blocks = (columns_ + kPackedColumns - 1) / kPackedColumns;
    INFIMUM_ASSIGN_OR_RETURN(direction.recurrent,
                             AlignedBuffer::Make(static_cast<std::size_t>(blocks * kPackedColumns * hidden) * 4));
    direction.recurrent_rows = static_cast<const float*>(direction.recurrent.data());
    for (std::int64_t column = 0; column < columns_; ++column) {
      float* const to = static_cast<float*>(direction.recurrent.data()) +
                        column / kPackedColumns * kPackedColumns * hidden + column % kPackedColumns;
      for (std::int64_t k = 0; k < hidden; ++k) to[k * kPackedColumns] = r[column * hidden + k];
    }
    INFIMUM_ASSIGN_OR_RETURN(direction.gates, AlignedBuffer::Make(static_cast<std::size_t>(2 * columns_) * 4));
    INFIMUM_ASSIGN_OR_RETURN(direction.state, AlignedBuffer::Make(static_cast<std::size_t>(hidden) * 4));
    INFIMUM_ASSIGN_OR_RETURN(direction.cell, AlignedBuffer::Make(static_cast<std::size_t>(hidden) * 4));
    return PrepareProjection(direction, problem);
  }

  Status PrepareProjection(Direction& direction, const Problem& problem) {
    MatMulConfig product;
    product.types = {DataType::kF32, DataType::kF32, DataType::kF32};
    product.a = Shape{{1, config_.sequence, config_.input}};
    product.b = direction.weights.shape();
    product.bias = MatMulBias::kColumn;
    product.weights = Constness::kConstant;
    const Problem projection{
        product, {problem.operands[0], &direction.weights, &direction.bias}, {&direction.projected}};
    INFIMUM_ASSIGN_OR_RETURN(direction.projection, FastestRowMajor(projection));
    return {};
  }

  void RunDirection(std::int64_t d) {
    Direction& direction = directions_[static_cast<std::size_t>(d)];
    const VectorKernels& kernels = Kernels();
    const UnaryRow sigmoid = kernels.find_unary(PointwiseKind::kSigmoid, ComputeType::kF32);
    const UnaryRow tanh = kernels.find_unary(PointwiseKind::kTanh, ComputeType::kF32);
    const std::int64_t hidden = config_.hidden;
    float* const sums = static_cast<float*>(direction.gates.data());
    float* const gates = sums + columns_;
    float* const state = static_cast<float*>(direction.state.data());
    float* const cell = static_cast<float*>(direction.cell.data());
    // The first state is zero here, but a model may give one: its product is never left out.
    std::fill_n(state, hidden, 0.0F);
    std::fill_n(cell, hidden, 0.0F);
    for (std::int64_t i = 0; i < config_.sequence; ++i) {
      const std::int64_t step = d == 0 ? i : config_.sequence - 1 - i;
      const float* projected = direction.projected.As<float>() + step * columns_;
      kernels.matrix_vector(direction.recurrent_rows, state, projected, hidden, columns_, sums);
      sigmoid(sums, gates, 3 * hidden);
      tanh(sums + 3 * hidden, gates + 3 * hidden, hidden);
      for (std::int64_t h = 0; h < hidden; ++h) {
        cell[h] = gates[2 * hidden + h] * cell[h] + gates[h] * gates[3 * hidden + h];
      }
      tanh(cell, state, hidden);
      for (std::int64_t h = 0; h < hidden; ++h) state[h] *= gates[hidden + h];
      std::copy_n(state, hidden, output_ + (step * config_.directions + d) * hidden);
    }
  }

  RecurrentConfig config_;
  std::int64_t columns_ = 0;
  float* output_ = nullptr;
  std::vector<Direction> directions_;
  Bytes footprint_;
};

}  // namespace

std::vector<Offer> LstmKernelOffers(const RecurrentConfig& config) {
  const bool floats = config.types.input == DataType::kF32 && config.types.weights == DataType::kF32 &&
                      config.types.output == DataType::kF32;
  if (config.kind != RecurrentKind::kLstm || !floats || config.batch != 1 || config.weights != Constness::kConstant)
    return {};
  return {KernelOffer("lstm-rows", [config](const Problem& problem) -> MadeProgram {
    return Prepared<Program>(std::make_unique<LstmProgram>(), config, problem);
  })};
}

}  // namespace infimum::cpu
