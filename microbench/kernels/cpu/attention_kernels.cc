#include <algorithm>
#include <cmath>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/float_rows.h"
#include "microbench/libraries/onednn/program/implementations.h"
#include "microbench/libraries/onednn/program/onednn_types.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "oneapi/dnnl/dnnl.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

using dnnl::memory;

// A product of `batch` pairs of matrices, runnable on any addresses; its scratch memory is its own.
class BatchedProduct {
 public:
  Status Prepare(const memory::desc& a, const memory::desc& b, const memory::desc& output) {
    return Guarded([&]() -> Status {
      const dnnl::matmul::primitive_desc description(CpuEngine(), a, b, output, DefaultAttributes());
      product_ = dnnl::matmul(description);
      stream_ = dnnl::stream(CpuEngine());
      for (const memory::desc& desc : {a, b, output}) memories_.emplace_back(desc, CpuEngine(), nullptr);
      const memory::desc scratch = description.scratchpad_desc();
      INFIMUM_ASSIGN_OR_RETURN(scratch_, AlignedBuffer::Make(scratch.get_size()));
      memories_.emplace_back(scratch, CpuEngine(), scratch_.data());
      const int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
      for (std::size_t i = 0; i < 4; ++i) arguments_.push_back({arguments[i], memories_[i].get()});
      return {};
    });
  }

  bool Run(const float* a, const float* b, float* output) const {
    dnnl_memory_set_data_handle(memories_[0].get(), const_cast<float*>(a));
    dnnl_memory_set_data_handle(memories_[1].get(), const_cast<float*>(b));
    dnnl_memory_set_data_handle(memories_[2].get(), output);
    return dnnl_primitive_execute(product_.get(), stream_.get(), 4, arguments_.data()) == dnnl_success;
  }

 private:
  dnnl::matmul product_;
  dnnl::stream stream_;
  std::vector<memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
  AlignedBuffer scratch_;
};

class AttentionProgram : public Program {
 public:
  AttentionProgram(const AttentionConfig& config, const LayerValues& values, bool batched)
      : config_(config), own_(values), batched_(batched), masks_(MaskShapes(config)) {}

  Status Prepare(const Problem& problem) {
    problem_ = problem;
    value_head_ = config_.value_head == 0 ? config_.head : config_.value_head;
    // Heads that share keys are rows of one product.
    pairs_ = config_.batch * config_.kv_heads;
    rows_ = config_.heads / config_.kv_heads * config_.q;
    const std::int64_t together = batched_ ? pairs_ : 1;
    const auto desc = [&](std::int64_t rows, std::int64_t columns) {
      return PlainDesc(Shape{{together, rows, columns}}, DataType::kF32);
    };
    const memory::dims key_strides = own_.keys_transposed ? memory::dims{config_.head * config_.kv, config_.kv, 1}
                                                          : memory::dims{config_.head * config_.kv, 1, config_.head};
    const memory::desc keys({together, config_.head, config_.kv}, memory::data_type::f32, key_strides);
    INFIMUM_RETURN_IF_ERROR(scores_.Prepare(desc(rows_, config_.head), keys, desc(rows_, config_.kv)));
    INFIMUM_RETURN_IF_ERROR(
        values_.Prepare(desc(rows_, config_.kv), desc(config_.kv, value_head_), desc(rows_, value_head_)));
    INFIMUM_ASSIGN_OR_RETURN(score_buffer_,
                             AlignedBuffer::Make(static_cast<std::size_t>(together * rows_ * config_.kv) * 4));
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

  Status Run() override {
    std::vector<const float*>& data = data_;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      data[i] = inputs_[i].Read(0, problem_.operands[i]->count(), static_cast<float*>(converted_[i].data()));
    }
    float* const result = output_->Target(0, static_cast<float*>(result_.data()));
    float* const scores = static_cast<float*>(score_buffer_.data());
    const std::int64_t rounds = batched_ ? 1 : pairs_;
    const std::int64_t rows = batched_ ? pairs_ * rows_ : rows_;
    bool ran = true;
    for (std::int64_t i = 0; i < rounds; ++i) {
      ran = ran && scores_.Run(data[0] + i * rows_ * config_.head, data[1] + i * config_.kv * config_.head, scores);
      SoftmaxRows(scores, i * rows_, rows);
      ran = ran && values_.Run(scores, data[2] + i * config_.kv * value_head_, result + i * rows_ * value_head_);
    }
    output_->Store(result, 0, problem_.outputs[0]->count());
    if (!ran) return Error{"oneDNN: a product of the attention failed"};
    return {};
  }

  Bytes footprint() const override { return FootprintOf(problem_); }

 private:
  // `first` is the first of the rows among all queries of all heads.
  void SoftmaxRows(float* scores, std::int64_t first, std::int64_t rows) const {
    const VectorKernels& kernels = Kernels();
    const double usual = 1 / std::sqrt(static_cast<double>(config_.head));
    // The mask's own factor comes last, for the sum: scale (q k) + factor mask = factor (scale / factor (q k) + mask).
    const double mask_scale = masks_.empty() ? 1 : own_.mask_scale;
    const auto scale = static_cast<float>(own_.scale.value_or(usual) / mask_scale);
    const auto factor = static_cast<float>(mask_scale);
    const std::int64_t n = config_.kv;
    ParallelEach(rows, 4096, n, [&](std::int64_t row) {
      float* x = scores + row * n;
      const std::int64_t query = row % config_.q, head = (first + row) / config_.q;
      std::int64_t seen = n;
      if (config_.mask == AttentionMask::kCausal) seen = std::clamp<std::int64_t>(n - config_.q + query + 1, 0, n);
      kernels.affine_row(x, scale, 0, x, seen);
      for (std::size_t i = 0; i < masks_.size(); ++i) {
        const std::int64_t line = MaskRow(masks_[i], head / config_.heads, head % config_.heads, query);
        kernels.accumulate_sum(x, data_[3 + i] + line * n, n);
      }
      if (factor != 1) kernels.affine_row(x, factor, 0, x, seen);
      const float sum = kernels.exponentials_row(x, kernels.maximum_row(x, seen), x, seen);
      kernels.affine_row(x, 1 / sum, 0, x, seen);
      std::fill(x + seen, x + n, 0.0F);
    });
  }

  AttentionConfig config_;
  LayerValues own_;
  bool batched_;
  std::vector<Shape> masks_;
  Problem problem_;
  std::int64_t value_head_ = 0, pairs_ = 0, rows_ = 0;
  BatchedProduct scores_, values_;
  AlignedBuffer score_buffer_, result_;
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
  const auto offer = [&](const char* name, bool batched) {
    return KernelOffer(name, [config, values, batched](const Problem& problem) -> MadeProgram {
      return Prepared<Program>(std::make_unique<AttentionProgram>(config, values, batched), problem);
    });
  };
  return {offer("attention-heads", false), offer("attention-batched", true)};
}

}  // namespace infimum::cpu
