#include <deque>
#include <utility>

#include "microbench/cpu/offers.h"
#include "microbench/cpu/row_major.h"
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/reference/dequantized_form.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kLeastDequantizedWork = 16384;

class DequantizedProgram : public Program {
 public:
  DequantizedProgram(const Problem& problem, const LayerValues& values) : output_(problem.outputs[0]) {
    footprint_ = FootprintOf(problem);
    if (values.output) {
      to_output_ = KernelValues(output_->type(), *values.output);
      quantize_ = Kernels().find_quantize(output_->type());
    }
  }

  Status Prepare(const Problem& problem, const LayerConfig& form, const LayerValues& values, const Offer& inner) {
    Problem plain{form, {}, {}};
    for (std::size_t i = 0; i < problem.operands.size(); ++i) {
      const HostTensor* const operand = problem.operands[i];
      if (i >= values.operands.size() || !IsNarrow(operand->type())) {
        plain.operands.push_back(operand);
        continue;
      }
      const DequantizeRow dequantize = Kernels().find_dequantize(operand->type());
      if (dequantize == nullptr) return Error{"unsupported: no kernel makes numbers of this type"};
      INFIMUM_ASSIGN_OR_RETURN(HostTensor made, HostTensor::Make(operand->shape(), DataType::kF32));
      plain.operands.push_back(&tensors_.emplace_back(std::move(made)));
      inputs_.push_back({operand, &tensors_.back(), dequantize, KernelValues(operand->type(), values.operands[i])});
    }
    result_ = output_;
    if (IsNarrow(output_->type())) {
      if (quantize_ == nullptr) return Error{"unsupported: no kernel quantizes to this type"};
      INFIMUM_ASSIGN_OR_RETURN(HostTensor made, HostTensor::Make(output_->shape(), DataType::kF32));
      result_ = &tensors_.emplace_back(std::move(made));
    }
    plain.outputs = {result_};
    INFIMUM_ASSIGN_OR_RETURN(inner_, inner.make(plain));
    return {};
  }

  Status Run() override {
    for (const Input& input : inputs_) {
      const int bytes = BytesPerElement(input.from->type());
      ParallelRanges(input.from->count(), kLeastDequantizedWork, [&](std::int64_t begin, std::int64_t end) {
        input.dequantize(static_cast<const char*>(input.from->data()) + begin * bytes, input.to->As<float>() + begin,
                         end - begin, input.values);
      });
    }
    INFIMUM_RETURN_IF_ERROR(RunRowMajor(*inner_));
    if (result_ == output_) return {};
    const int bytes = BytesPerElement(output_->type());
    ParallelRanges(output_->count(), kLeastDequantizedWork, [&](std::int64_t begin, std::int64_t end) {
      quantize_(result_->As<float>() + begin, static_cast<char*>(output_->data()) + begin * bytes, end - begin,
                to_output_);
    });
    return {};
  }

  Bytes footprint() const override { return footprint_; }

 private:
  struct Input {
    const HostTensor* from;
    const HostTensor* to;
    DequantizeRow dequantize;
    QuantizeValues values;
  };

  HostTensor* output_;
  HostTensor* result_ = nullptr;
  std::deque<HostTensor> tensors_;  // stable addresses: the inner program keeps them
  std::vector<Input> inputs_;
  QuantizeRow quantize_ = nullptr;
  QuantizeValues to_output_{};
  std::unique_ptr<Program> inner_;
  Bytes footprint_;
};

}  // namespace

std::vector<Offer> DequantizedOffers(const LayerConfig& config, CandidateTier tier, const LayerValues& values) {
  const std::optional<LayerConfig> form = DequantizedForm(config, values);
  if (!form) return {};
  std::vector<Offer> offers = OffersFor(*form, tier, WithoutQuantization(values));
  for (Offer& offer : offers) {
    offer.candidate.algorithm = std::string(kDequantized) + offer.candidate.algorithm;
    offer.candidate.library_choice = false;
    offer.place = nullptr;
    offer.input_orders.clear();
    offer.output_order = nullptr;
    offer.candidate.input_layout = offer.candidate.output_layout = "plain";
    offer.make = [form = *form, values, inner = offer](const Problem& problem) -> MadeProgram {
      return Prepared<Program>(std::make_unique<DequantizedProgram>(problem, values), problem, form, values, inner);
    };
  }
  return offers;
}

namespace {

// An offer of the f32 form on weights that were dequantized before.
class OnceDequantized : public Program {
 public:
  explicit OnceDequantized(HostTensor weights) : weights_(std::move(weights)) {}

  Status Prepare(Problem problem, const LayerConfig& form, const decltype(Offer::make)& make) {
    problem.config = form;
    problem.operands.resize(OperandsOf(form).size());
    problem.operands[1] = &weights_;
    INFIMUM_ASSIGN_OR_RETURN(inner_, make(problem));
    return {};
  }

  Status Run() override { return inner_->Run(); }
  Status Pack() override { return inner_->Pack(); }
  Status Unpack() override { return inner_->Unpack(); }
  bool in_place() const override { return inner_->in_place(); }
  Bytes footprint() const override { return inner_->footprint(); }
  std::vector<ConstantBlock> Constants() override { return inner_->Constants(); }

 private:
  HostTensor weights_;
  std::unique_ptr<Program> inner_;
};

}  // namespace

std::vector<Offer> OnceDequantizedOffers(const MatMulConfig& config) {
  if (!config.scales.any() || config.a_scales.any() || config.weights != Constness::kConstant ||
      BytesPerElement(config.scales.type) < 2 || !IsInteger(config.types.weights))
    return {};
  MatMulConfig form = config;
  form.scales = {};
  form.types.weights = config.types.input;
  std::vector<Offer> offers = OffersFor(form, CandidateTier::kEngine);
  // What other primitives make of the product is none for its few rows.
  std::erase_if(offers,
                [](const Offer& offer) { return offer.candidate.algorithm.find("matmul-") != std::string::npos; });
  for (Offer& offer : offers) {
    if (!offer.candidate.algorithm.starts_with(kOnceDequantized))
      offer.candidate.algorithm = std::string(kOnceDequantized) + offer.candidate.algorithm;
    offer.candidate.library_choice = false;
    offer.place = nullptr;
    offer.make = [config, form, inner = offer.make](const Problem& problem) -> MadeProgram {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor weights, HostTensor::Make(form.b, form.types.weights));
      const std::size_t scales = config.bias == MatMulBias::kNone ? 2 : 3;
      const bool has_zeros = config.scales.zero_points != DataType::kNone;
      const std::int64_t depth = form.b.dims[form.b.rank() - 2], columns = form.b.dims.back();
      const Shape blocks = ScaleShape(config.b, config.scales);
      std::int64_t first = 0;  // block of the row
      for (std::int64_t i = 0; i < weights.count();) {
        const std::int64_t row = i / columns % depth;
        if (i > 0 && row % config.scales.rows == 0) first += blocks.dims.back();
        for (std::int64_t column = 0; column < columns; ++column, ++i) {
          const std::int64_t block = first + column / config.scales.columns;
          const double zero = has_zeros ? problem.operands[scales + 1]->Get(block) : 0;
          weights.Set(i, (problem.operands[1]->Get(i) - zero) * problem.operands[scales]->Get(block));
        }
      }
      return Prepared<Program>(std::make_unique<OnceDequantized>(std::move(weights)), problem, form, inner);
    };
  }
  return offers;
}

}  // namespace infimum::cpu
