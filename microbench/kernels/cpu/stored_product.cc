// Matrix products whose weights are read as they are stored: 4 or 8 bits with a scale for each block of a column.
#include <algorithm>
#include <cstring>
#include <vector>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/thread_scratch.h"
#include "src/core/base/prepared.h"
#include "src/core/layer/family.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kLargestBlock = 256;
constexpr std::int64_t kPanelRows = 256;

// How a product is run: row by row; as panels of f32 that many rows share; on activations in 8 bits.
enum class StoredKernel { kRows, kPanels, kDots };

// Blocks as they are packed: a large one in pieces that repeat its scale.
struct Packing {
  std::int64_t depth, columns, groups;
  std::int64_t rows;  // of a packed block
  StoredMatrix matrix;
};

std::optional<Packing> PackingOf(const MatMulConfig& config) {
  const OperandTypes& types = config.types;
  const int bits = BitsPerElement(types.weights);
  const DataType zeros = config.scales.zero_points;
  if (config.weights != Constness::kConstant || config.a.rank() != 3 || config.b.dims[0] != 1) return std::nullopt;
  if (types.input != DataType::kF32 || types.output != DataType::kF32) return std::nullopt;
  if (!IsInteger(types.weights) || (bits != 4 && bits != 8) || config.scales.columns != 1) return std::nullopt;
  if (BytesPerElement(config.scales.type) < 2 || (zeros != DataType::kNone && zeros != types.weights))
    return std::nullopt;
  Packing packing{config.b.dims[1],
                  config.b.dims[2],
                  CeilDivide(config.b.dims[2], kPackedColumns),
                  std::min(config.scales.rows, kLargestBlock),
                  {}};
  const bool is_one = config.scales.rows >= packing.depth;
  if (!is_one && (packing.rows % 8 != 0 || config.scales.rows % packing.rows != 0)) return std::nullopt;
  StoredMatrix& matrix = packing.matrix;
  matrix.blocks = CeilDivide(packing.depth, packing.rows);
  matrix.block = CeilDivide(packing.rows, 8) * 8;
  if (matrix.block != packing.rows && matrix.blocks > 1) return std::nullopt;
  matrix.bits = bits;
  matrix.zero_points = zeros != DataType::kNone;
  const bool is_signed = types.weights == DataType::kS4 || types.weights == DataType::kS8;
  matrix.zero = !is_signed || matrix.zero_points ? 0 : 1 << (bits - 1);
  return packing;
}

class StoredProgram : public Program {
 public:
  StoredProgram(const MatMulConfig& config, const Packing& packing, StoredKernel kernel, const VectorKernels& kernels,
                bool has_vnni)
      : config_(config),
        packing_(packing),
        kernel_(kernel),
        kernels_(kernels),
        has_vnni_(has_vnni),
        rows_(config.a.dims[0] * config.a.dims[1]) {}

  Status Prepare(const Problem& problem) {
    problem_ = problem;
    padded_ = packing_.matrix.blocks * packing_.matrix.block;
    const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    INFIMUM_ASSIGN_OR_RETURN(packed_, AlignedBuffer::Make(bytes(packing_.groups * packing_.matrix.group_bytes())));
    PackWeights(problem, static_cast<char*>(packed_.data()));
    packing_.matrix.packed = static_cast<const char*>(packed_.data());
    if (config_.bias != MatMulBias::kNone) {
      INFIMUM_ASSIGN_OR_RETURN(bias_buffer_, AlignedBuffer::Make(problem.operands[2]->bytes()));
      std::memcpy(bias_buffer_.data(), problem.operands[2]->data(), problem.operands[2]->bytes());
      bias_ = static_cast<const float*>(bias_buffer_.data());
    }
    const std::int64_t blocks = rows_ * packing_.matrix.blocks;
    if (padded_ != packing_.depth) {
      INFIMUM_ASSIGN_OR_RETURN(padded_rows_, AlignedBuffer::Make(bytes(rows_ * padded_ * 4)));
    }
    sums_.resize(bytes(blocks));
    if (kernel_ == StoredKernel::kDots) {
      INFIMUM_ASSIGN_OR_RETURN(quantized_, AlignedBuffer::Make(bytes(rows_ * padded_)));
      scales_.resize(bytes(blocks));
      integer_sums_.resize(bytes(blocks));
    }
    const std::int64_t panel = std::max(kPanelRows, packing_.matrix.block) * kPackedColumns;
    INFIMUM_ASSIGN_OR_RETURN(scratch_, ThreadScratch::Make(std::max(panel, rows_ * kPackedColumns)));
    return {};
  }

  Status Run() override {
    const float* const a = PaddedRows();
    const StoredMatrix& matrix = packing_.matrix;
    if (kernel_ == StoredKernel::kDots) {
      ParallelRanges(rows_, 4, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t at = begin * matrix.blocks;
        kernels_.quantize_blocks(a + begin * padded_, (end - begin) * matrix.blocks, matrix.block,
                                 static_cast<std::int8_t*>(quantized_.data()) + begin * padded_, scales_.data() + at,
                                 integer_sums_.data() + at);
      });
    } else if (kernel_ == StoredKernel::kRows && matrix.zero_points) {
      for (std::size_t i = 0; i < sums_.size(); ++i)
        sums_[i] = kernels_.sum_row(a + static_cast<std::int64_t>(i) * matrix.block, matrix.block);
    }
    ParallelEach(packing_.groups, 1, 1, [&](std::int64_t group) { RunGroup(group, a); });
    return {};
  }

  Bytes footprint() const override {
    return Bytes{static_cast<std::int64_t>(packed_.size() + bias_buffer_.size() + problem_.operands[0]->bytes() +
                                           problem_.outputs[0]->bytes())};
  }

  std::vector<ConstantBlock> Constants() override {
    std::vector<ConstantBlock> blocks = {{packed_.data(), packed_.size(), [this](void* there) {
                                            packing_.matrix.packed = static_cast<const char*>(there);
                                          }}};
    if (bias_ != nullptr)
      blocks.push_back({bias_buffer_.data(), bias_buffer_.size(),
                        [this](void* there) { bias_ = static_cast<const float*>(there); }});
    return blocks;
  }

 private:
  void PackWeights(const Problem& problem, char* to) const {
    const StoredMatrix& matrix = packing_.matrix;
    const std::size_t scales_at = config_.bias == MatMulBias::kNone ? 2 : 3;
    const HostTensor& weights = *problem.operands[1];
    const bool is_signed = weights.type() == DataType::kS8;
    const int offset = is_signed ? 1 << (matrix.bits - 1) : 0;
    const std::int64_t columns = packing_.columns, zeros = matrix.zero_points ? kPackedColumns : 0;
    const auto head = [&](std::int64_t block, std::int64_t column) {
      return to + column / kPackedColumns * matrix.group_bytes() + block * matrix.block_bytes();
    };
    for (std::int64_t block = 0; block < matrix.blocks; ++block) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const std::int64_t at = block * packing_.rows / config_.scales.rows * columns + column;
        const std::int64_t lane = column % kPackedColumns;
        const auto scale = static_cast<float>(problem.operands[scales_at]->Get(at));
        std::memcpy(head(block, column) + lane * 4, &scale, 4);
        if (matrix.zero_points)
          head(block, column)[kPackedColumns * 4 + lane] =
              static_cast<char>(static_cast<int>(problem.operands[scales_at + 1]->Get(at)) + offset);
      }
    }
    const auto* from = weights.As<std::uint8_t>();
    for (std::int64_t row = 0; row < packing_.depth; ++row) {
      const std::int64_t in_block = row % packing_.rows, within = in_block % (32 / matrix.bits);
      const std::int64_t step = kPackedColumns * (4 + in_block * matrix.bits / 32 * 4) + zeros + within % 4;
      for (std::int64_t column = 0; column < columns; ++column, ++from) {
        const int element = (is_signed ? static_cast<std::int8_t>(*from) : *from) + offset;
        char& byte = head(row / packing_.rows, column)[step + column % kPackedColumns * 4];
        byte = static_cast<char>(byte | element << (within / 4 * 4));
      }
    }
  }

  // a with zeros behind each row where the last block is not full.
  const float* PaddedRows() {
    const float* const a = problem_.operands[0]->As<float>();
    if (padded_ == packing_.depth) return a;
    auto* const to = static_cast<float*>(padded_rows_.data());
    for (std::int64_t row = 0; row < rows_; ++row)
      std::copy_n(a + row * packing_.depth, packing_.depth, to + row * padded_);
    return to;
  }

  void RunGroup(std::int64_t group, const float* a) {
    const std::int64_t begin = group * kPackedColumns, count = std::min(kPackedColumns, packing_.columns - begin);
    float* const output = problem_.outputs[0]->As<float>() + begin;
    const bool is_whole = count == kPackedColumns;
    float* const y = is_whole ? output : scratch_->Row(1);
    const std::int64_t step = is_whole ? packing_.columns : kPackedColumns;
    Multiply(group, a, y, step);
    for (std::int64_t row = 0; row < rows_; ++row) {
      if (!is_whole) std::copy_n(y + row * step, count, output + row * packing_.columns);
      const std::int64_t at = config_.bias == MatMulBias::kFull ? row * packing_.columns + begin : begin;
      if (bias_ != nullptr) kernels_.accumulate_sum(output + row * packing_.columns, bias_ + at, count);
    }
  }

  void Multiply(std::int64_t group, const float* a, float* y, std::int64_t step) {
    const StoredMatrix& matrix = packing_.matrix;
    if (kernel_ == StoredKernel::kRows) {
      for (std::int64_t row = 0; row < rows_; ++row)
        kernels_.stored_row(matrix, group, a + row * padded_, sums_.data() + row * matrix.blocks, y + row * step);
    } else if (kernel_ == StoredKernel::kPanels) {
      float* const panel = scratch_->Row(0);
      const std::int64_t together = std::max<std::int64_t>(1, kPanelRows / matrix.block);
      for (std::int64_t block = 0; block < matrix.blocks; block += together) {
        const std::int64_t end = std::min(block + together, matrix.blocks);
        kernels_.stored_panel(matrix, group, block, end, panel);
        kernels_.panel_tile(panel, kPackedColumns, (end - block) * matrix.block, a + block * matrix.block, padded_,
                            rows_, y, step, block == 0, panel);
      }
    } else {
      const char* const packed = matrix.packed + group * matrix.group_bytes();
      for (std::int64_t row = 0; row < rows_;) {
        const std::int64_t together = rows_ - row >= kDotRows ? kDotRows : 1, at = row * matrix.blocks;
        const QuantizedRows x{static_cast<const std::int8_t*>(quantized_.data()) + row * padded_, padded_,
                              scales_.data() + at, integer_sums_.data() + at, matrix.blocks};
        kernels_.find_stored_dots(matrix.bits, together, has_vnni_)(matrix, packed, x, y + row * step, step);
        row += together;
      }
    }
  }

  MatMulConfig config_;
  Packing packing_;
  StoredKernel kernel_;
  const VectorKernels& kernels_;
  bool has_vnni_;
  std::int64_t rows_, padded_ = 0;
  Problem problem_;
  AlignedBuffer packed_, bias_buffer_, padded_rows_, quantized_;
  const float* bias_ = nullptr;
  std::vector<float> sums_, scales_;  // of each block of a
  std::vector<std::int32_t> integer_sums_;
  std::shared_ptr<ThreadScratch> scratch_;
};

}  // namespace

std::vector<Offer> StoredProductOffers(const MatMulConfig& config, const VectorKernels& kernels, bool has_vnni) {
  const std::optional<Packing> packing = config.scales.any() ? PackingOf(config) : std::nullopt;
  if (!packing) return {};
  const auto offer = [&](const std::string& name, StoredKernel kernel) {
    const auto make = [=, &kernels, packing = *packing](const Problem& problem) -> MadeProgram {
      return Prepared<Program>(std::make_unique<StoredProgram>(config, packing, kernel, kernels, has_vnni), problem);
    };
    return KernelOffer(name, make);
  };
  std::vector<Offer> offers = {offer("stored-rows", StoredKernel::kRows)};
  if (ElementCount(config.a) > config.a.dims.back()) offers.push_back(offer("stored-panels", StoredKernel::kPanels));
  if (config.activations == DataType::kS8 && config.scales.rows <= kLargestBlock &&
      kernels.find_stored_dots(packing->matrix.bits, 1, has_vnni) != nullptr)
    offers.push_back(offer(has_vnni ? "stored-dots-vnni" : "stored-dots", StoredKernel::kDots));
  return offers;
}

}  // namespace infimum::cpu
