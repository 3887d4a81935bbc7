#include <algorithm>
#include <cmath>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/float_rows.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/libraries/onednn/program/implementations.h"
#include "microbench/libraries/onednn/program/memory_copy.h"
#include "microbench/libraries/onednn/program/onednn_types.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/thread_scratch.h"
#include "oneapi/dnnl/dnnl.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

using dnnl::memory;

// Scores of some rows and all keys, and what of a core's second-level cache they may take: each is read three times.
constexpr std::int64_t kBlockBytes = 512 << 10;

// A product of `batch` pairs of matrices, runnable on any addresses; its scratch memory is its own. Where several
// share their second matrix it is packed once for all of them.
class BatchedProduct {
 public:
  Status Prepare(const memory::desc& a, const memory::desc& b, const memory::desc& output, bool packs) {
    return Guarded([&]() -> Status {
      const memory::desc any(b.get_dims(), b.get_data_type(), memory::format_tag::any);
      const dnnl::matmul::primitive_desc description(CpuEngine(), a, packs ? any : b, output, DefaultAttributes());
      product_ = dnnl::matmul(description);
      stream_ = dnnl::stream(CpuEngine());
      const memory::desc read = description.weights_desc();
      for (const memory::desc& desc : {a, read, output}) memories_.emplace_back(desc, CpuEngine(), nullptr);
      if (read != b) {
        INFIMUM_ASSIGN_OR_RETURN(packed_, AlignedBuffer::Make(read.get_size()));
        given_ = memory(b, CpuEngine(), nullptr);
        memories_[1].set_data_handle(packed_.data());
        packing_ = dnnl::reorder(given_, memories_[1]);
      }
      const memory::desc scratch = description.scratchpad_desc();
      INFIMUM_ASSIGN_OR_RETURN(scratch_, AlignedBuffer::Make(scratch.get_size()));
      memories_.emplace_back(scratch, CpuEngine(), scratch_.data());
      const int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
      for (std::size_t i = 0; i < 4; ++i) arguments_.push_back({arguments[i], memories_[i].get()});
      return {};
    });
  }

  // The second matrix of the next runs.
  bool Take(const float* b) const {
    if (!packing_) return dnnl_memory_set_data_handle(memories_[1].get(), const_cast<float*>(b)) == dnnl_success;
    dnnl_memory_set_data_handle(given_.get(), const_cast<float*>(b));
    const dnnl_exec_arg_t moved[] = {{DNNL_ARG_FROM, given_.get()}, {DNNL_ARG_TO, memories_[1].get()}};
    return dnnl_primitive_execute(packing_.get(), stream_.get(), 2, moved) == dnnl_success;
  }
  bool Run(const float* a, float* output) const {
    dnnl_memory_set_data_handle(memories_[0].get(), const_cast<float*>(a));
    dnnl_memory_set_data_handle(memories_[2].get(), output);
    return dnnl_primitive_execute(product_.get(), stream_.get(), 4, arguments_.data()) == dnnl_success;
  }

 private:
  dnnl::matmul product_;
  dnnl::reorder packing_;
  memory given_;
  AlignedBuffer packed_;
  dnnl::stream stream_;
  std::vector<memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
  AlignedBuffer scratch_;
};

// How many queries go through the scores at once: those of all heads, of one, or as many as the cache has room for;
// kPanels as kBlock, by products of ours.
enum class Together { kBatch, kHead, kBlock, kPanels };

// Of one pair of queries and keys (heads that share keys are rows of one product).
std::int64_t RowsOf(const AttentionConfig& config) { return config.heads / config.kv_heads * config.q; }

// Blocks of nearly equal size; at least as many rows as keep a product busy.
std::int64_t BlockOf(const AttentionConfig& config) {
  const std::int64_t rows = RowsOf(config), most = std::max<std::int64_t>(kBlockBytes / (config.kv * 4), 16);
  const std::int64_t blocks = (rows + most - 1) / most;
  return (rows + blocks - 1) / blocks;
}

// A matrix with constant steps as panels of `width` columns, one behind the other; the last one is filled up with
// zeros.
class Panels {
 public:
  Panels() = default;
  Panels(std::int64_t depth, std::int64_t columns, std::int64_t row_step, std::int64_t column_step, std::int64_t width)
      : depth_(depth), columns_(columns), row_step_(row_step), column_step_(column_step), width_(width) {
    const std::int64_t whole = columns / width;
    copy_ =
        MakeMemoryCopy({{whole, width, depth}, {width * column_step, column_step, row_step}, {width * depth, 1, width}},
                       sizeof(float));
  }

  std::int64_t width() const { return width_; }
  std::int64_t count() const { return (columns_ + width_ - 1) / width_; }
  std::int64_t floats() const { return count() * width_ * depth_; }

  void Pack(const float* from, float* to) const {
    const std::int64_t whole = columns_ / width_ * width_;
    if (whole > 0) copy_(from, to);
    if (whole == columns_) return;
    float* const last = to + whole * depth_;
    for (std::int64_t row = 0; row < depth_; ++row)
      for (std::int64_t column = 0; column < width_; ++column)
        last[row * width_ + column] =
            whole + column < columns_ ? from[row * row_step_ + (whole + column) * column_step_] : 0;
  }

  // These columns of `rows` rows of a times these rows and columns of the packed matrix, up to whole panels; columns
  // begin with one.
  void Multiply(const float* a, std::int64_t a_step, std::int64_t rows, const Positions& depth,
                const Positions& columns, const float* packed, float* y, std::int64_t y_step) const {
    // Of a panel as many rows as half of a first cache of 32 KiB holds.
    const std::int64_t together = std::max<std::int64_t>(16384 / (width_ * 4), 1);
    for (std::int64_t k = depth.begin; k < depth.end; k += together) {
      const std::int64_t part = std::min(together, depth.end - k);
      for (std::int64_t column = columns.begin; column < columns.end; column += width_) {
        const float* const panel = packed + column * depth_ + k * width_;
        Kernels().panel_tile(panel, width_, part, a + k, a_step, rows, y + column, y_step, k == depth.begin, panel);
      }
    }
  }

 private:
  std::int64_t depth_ = 0, columns_ = 0, row_step_ = 0, column_step_ = 0, width_ = 16;
  MemoryCopy copy_;
};

class AttentionProgram : public Program {
 public:
  AttentionProgram(const AttentionConfig& config, const LayerValues& values, Together together)
      : config_(config),
        own_(values),
        batched_(together == Together::kBatch),
        panels_(together == Together::kPanels),
        rows_(RowsOf(config)),
        block_(together == Together::kBlock || panels_ ? BlockOf(config) : rows_),
        masks_(MaskShapes(config)) {}

  Status Prepare(const Problem& problem) {
    problem_ = problem;
    value_head_ = config_.value_head == 0 ? config_.head : config_.value_head;
    pairs_ = config_.batch * config_.kv_heads;
    INFIMUM_RETURN_IF_ERROR(PrepareFloats(problem));
    return panels_ ? PreparePanels() : PrepareProducts();
  }

  Status Run() override {
    std::vector<const float*>& data = data_;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      data[i] = inputs_[i].Read(0, problem_.operands[i]->count(), static_cast<float*>(converted_[i].data()));
    }
    float* const result = output_->Target(0, static_cast<float*>(result_.data()));
    if (panels_) {
      ParallelEach(pairs_, 1, 1, [&](std::int64_t pair) { RunPanels(pair, result); });
    } else {
      INFIMUM_RETURN_IF_ERROR(RunProducts(result));
    }
    output_->Store(result, 0, problem_.outputs[0]->count());
    return {};
  }

  Bytes footprint() const override { return FootprintOf(problem_); }

 private:
  Status PrepareProducts() {
    const std::int64_t together = batched_ ? pairs_ : 1;
    const auto desc = [&](std::int64_t rows, std::int64_t columns) {
      return PlainDesc(Shape{{together, rows, columns}}, DataType::kF32);
    };
    const memory::dims key_strides = own_.keys_transposed ? memory::dims{config_.head * config_.kv, config_.kv, 1}
                                                          : memory::dims{config_.head * config_.kv, 1, config_.head};
    const memory::desc keys({together, config_.head, config_.kv}, memory::data_type::f32, key_strides);
    const bool packs = block_ < rows_;
    INFIMUM_RETURN_IF_ERROR(scores_.Prepare(desc(block_, config_.head), keys, desc(block_, config_.kv), packs));
    INFIMUM_RETURN_IF_ERROR(
        values_.Prepare(desc(block_, config_.kv), desc(config_.kv, value_head_), desc(block_, value_head_), packs));
    const auto floats = [&](std::int64_t columns) { return static_cast<std::size_t>(together * block_ * columns) * 4; };
    INFIMUM_ASSIGN_OR_RETURN(score_buffer_, AlignedBuffer::Make(floats(config_.kv)));
    INFIMUM_ASSIGN_OR_RETURN(query_buffer_, AlignedBuffer::Make(floats(config_.head)));
    sums_.resize(static_cast<std::size_t>(together * block_));
    return {};
  }

  // Keys, values, and a block's scaled queries, scores and sums, for each thread.
  Status PreparePanels() {
    const std::int64_t width = Features().avx512 ? kPackedColumns : 16;
    const bool turned = own_.keys_transposed;
    keys_ = Panels(config_.head, config_.kv, turned ? config_.kv : 1, turned ? 1 : config_.head, width);
    packed_values_ = Panels(config_.kv, value_head_, value_head_, 1, value_head_ % width == 0 ? width : 16);
    step_ = keys_.count() * width;
    const std::int64_t floats = keys_.floats() + packed_values_.floats() + block_ * (config_.head + step_ + 1);
    INFIMUM_ASSIGN_OR_RETURN(scratch_, ThreadScratch::Make(floats, 1));
    return {};
  }

  Status PrepareFloats(const Problem& problem) {
    data_.resize(problem.operands.size());
    for (const HostTensor* operand : problem.operands) {
      inputs_.emplace_back(*operand);
      converted_.emplace_back();
      if (inputs_.back().direct()) continue;
      INFIMUM_ASSIGN_OR_RETURN(converted_.back(), AlignedBuffer::Make(static_cast<std::size_t>(operand->count()) * 4));
    }
    output_ = std::make_unique<FloatRows>(*problem.outputs[0]);
    if (!output_->direct()) {
      INFIMUM_ASSIGN_OR_RETURN(result_, AlignedBuffer::Make(static_cast<std::size_t>(problem.outputs[0]->count()) * 4));
    }
    return {};
  }

  Status RunProducts(float* result) {
    const std::int64_t rounds = batched_ ? 1 : pairs_, rows = batched_ ? pairs_ * rows_ : block_;
    bool ran = true;
    for (std::int64_t i = 0; i < rounds; ++i) {
      ran = ran && scores_.Take(data_[1] + i * config_.kv * config_.head);
      ran = ran && values_.Take(data_[2] + i * config_.kv * value_head_);
      // The last block ends with the last row, and computes some of those before it again.
      for (std::int64_t first = 0; first < rows_ && ran; first += block_) {
        const std::int64_t at = i * rows_ + std::min(first, rows_ - block_);
        ran = RunRows(data_[0] + at * config_.head, at, rows, result + at * value_head_);
      }
    }
    return ran ? Status() : Error{"oneDNN: a product of the attention failed"};
  }

  void RunPanels(std::int64_t pair, float* result) {
    const VectorKernels& kernels = Kernels();
    float *const keys = scratch_->Row(0), *const values = keys + keys_.floats();
    float *const scaled = values + packed_values_.floats(), *const scores = scaled + block_ * config_.head;
    float* const sums = scores + block_ * step_;
    keys_.Pack(data_[1] + pair * config_.kv * config_.head, keys);
    packed_values_.Pack(data_[2] + pair * config_.kv * value_head_, values);
    for (std::int64_t first = 0; first < rows_; first += block_) {
      const std::int64_t rows = std::min(block_, rows_ - first), at = pair * rows_ + first;
      kernels.affine_row(data_[0] + at * config_.head, QueryScale(), 0, scaled, rows * config_.head);
      // Keys that no row sees; of rows of several heads some row may see any.
      const bool one_head = at / config_.q == (at + rows - 1) / config_.q;
      Positions seen{0, config_.kv};
      if (one_head) seen = {SeenByRow(at).begin / keys_.width() * keys_.width(), SeenByRow(at + rows - 1).end};
      float* const y = result + at * value_head_;
      keys_.Multiply(scaled, config_.head, rows, {0, config_.head}, seen, keys, scores, step_);
      for (std::int64_t row = 0; row < rows; ++row) sums[row] = Exponentials(at + row, seen, scores + row * step_);
      if (seen.end == 0) std::fill(y, y + rows * value_head_, 0.0F);
      packed_values_.Multiply(scores, step_, rows, seen, {0, value_head_}, values, y, value_head_);
      for (std::int64_t row = 0; row < rows; ++row)
        kernels.affine_row(y + row * value_head_, 1 / sums[row], 0, y + row * value_head_, value_head_);
    }
  }

  // The mask's own factor comes last, for the sum: scale (q k) + factor mask = factor (scale / factor (q k) + mask).
  double mask_scale() const { return masks_.empty() ? 1 : own_.mask_scale; }
  float QueryScale() const {
    const double usual = 1 / std::sqrt(static_cast<double>(config_.head));
    return static_cast<float>(own_.scale.value_or(usual) / mask_scale());
  }

  // Of all queries of all heads.
  Positions SeenByRow(std::int64_t row) const { return SeenBy(config_, row % config_.q); }

  // A row's scores of these keys become their exponentials; returns their sum. What it does not see is zero.
  float Exponentials(std::int64_t row, const Positions& keys, float* x) const {
    const VectorKernels& kernels = Kernels();
    const std::int64_t query = row % config_.q, head = row / config_.q;
    const Positions seen = SeenByRow(row);
    const std::int64_t count = seen.end - seen.begin;
    float* const first = x + seen.begin;
    for (std::size_t i = 0; i < masks_.size(); ++i) {
      const std::int64_t line = MaskRow(masks_[i], head / config_.heads, head % config_.heads, query);
      kernels.accumulate_sum(first, data_[3 + i] + line * config_.kv + seen.begin, count);
    }
    if (const auto factor = static_cast<float>(mask_scale()); factor != 1)
      kernels.affine_row(first, factor, 0, first, count);
    std::fill(x + keys.begin, first, 0.0F);
    std::fill(x + seen.end, x + keys.end, 0.0F);
    return count == 0 ? 1 : kernels.exponentials_row(first, kernels.maximum_row(first, count), first, count);
  }

  // `first` is the first of the rows among all queries of all heads. The scale goes into the queries and the sum of a
  // row's exponentials into its result: both are shorter than its scores.
  bool RunRows(const float* queries, std::int64_t first, std::int64_t rows, float* result) {
    const VectorKernels& kernels = Kernels();
    float* const scaled = static_cast<float*>(query_buffer_.data());
    ParallelEach(rows, 4096, config_.head, [&](std::int64_t row) {
      kernels.affine_row(queries + row * config_.head, QueryScale(), 0, scaled + row * config_.head, config_.head);
    });
    float* const scores = static_cast<float*>(score_buffer_.data());
    if (!scores_.Run(scaled, scores)) return false;
    ParallelEach(rows, 4096, config_.kv, [&](std::int64_t row) {
      sums_[static_cast<std::size_t>(row)] = Exponentials(first + row, {0, config_.kv}, scores + row * config_.kv);
    });
    if (!values_.Run(scores, result)) return false;
    ParallelEach(rows, 4096, value_head_, [&](std::int64_t row) {
      float* const y = result + row * value_head_;
      kernels.affine_row(y, 1 / sums_[static_cast<std::size_t>(row)], 0, y, value_head_);
    });
    return true;
  }

  AttentionConfig config_;
  LayerValues own_;
  bool batched_, panels_;
  std::int64_t rows_, block_;
  std::vector<Shape> masks_;
  Problem problem_;
  std::int64_t value_head_ = 0, pairs_ = 0;
  BatchedProduct scores_, values_;
  Panels keys_, packed_values_;
  std::int64_t step_ = 0;  // between two rows of scores
  std::shared_ptr<ThreadScratch> scratch_;
  AlignedBuffer score_buffer_, query_buffer_, result_;
  std::vector<float> sums_;  // of each row's exponentials
  std::vector<FloatRows> inputs_;
  std::vector<AlignedBuffer> converted_;
  std::vector<const float*> data_;
  std::unique_ptr<FloatRows> output_;
};

}  // namespace

std::vector<Offer> AttentionOffers(const AttentionConfig& config, const LayerValues& values) {
  const auto floating = [](DataType type) {
    return type == DataType::kF32 || type == DataType::kF16 || type == DataType::kBF16;
  };
  if (!floating(config.types.input) || !floating(config.types.output) || values.mask_scale == 0) return {};
  const auto offer = [&](const char* name, Together together) {
    return KernelOffer(name, [config, values, together](const Problem& problem) -> MadeProgram {
      return Prepared<Program>(std::make_unique<AttentionProgram>(config, values, together), problem);
    });
  };
  std::vector<Offer> offers{offer("attention-heads", Together::kHead), offer("attention-batched", Together::kBatch)};
  if (BlockOf(config) < RowsOf(config)) offers.push_back(offer("attention-blocks", Together::kBlock));
  // Of rows so many that packing keys and values pays, and of heads one for each thread.
  constexpr std::int64_t kLeastRows = 16;
  if (RowsOf(config) >= kLeastRows && config.batch * config.kv_heads >= omp_get_max_threads() &&
      (config.value_head == 0 ? config.head : config.value_head) % 16 == 0)
    offers.push_back(offer("attention-panels", Together::kPanels));
  return offers;
}

}  // namespace infimum::cpu
