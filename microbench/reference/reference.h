// The f64 reference: what each layer's result must be, by loops that are slow and obviously right. One
// output element at a time, so that a large layer is checked at a sample of its elements.
//
//   TensorSource x(input), w(weights);
//   std::unique_ptr<Reference> reference = MakeReference(config);
//   Expected y = reference->At(0, 17, {&x, &w});    // element 17 of output 0
//
// Values that a configuration leaves open are given beside it (values.h).
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "infimum/layer/layer_config.h"
#include "infimum/measurement/contract.h"
#include "microbench/reference/host_tensor.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

// A value, and the magnitude that its error is judged by: for a product the sum of |a||b|.
struct Expected {
  double value = 0;
  double magnitude = 0;
};

// Elements of an operand: of a tensor, or the result of another layer.
class Source {
 public:
  virtual ~Source() = default;
  virtual Expected At(std::int64_t element) const = 0;

  double operator[](std::int64_t element) const { return At(element).value; }
};

class TensorSource : public Source {
 public:
  explicit TensorSource(const HostTensor& tensor) : tensor_(tensor) {}
  Expected At(std::int64_t element) const override {
    const double value = tensor_.Get(element);
    return {value, std::fabs(value)};
  }

 private:
  const HostTensor& tensor_;
};

using Sources = std::vector<const Source*>;

class Reference {
 public:
  virtual ~Reference() = default;

  // One element of one output, before it is stored: not rounded to a floating point type, but rounded
  // and saturated to an integer one.
  virtual Expected At(std::size_t output, std::int64_t element, const Sources& operands) const = 0;

  // Operand elements read for one output element, to choose how many to check.
  virtual double cost() const = 0;
};

// nullptr where there is no reference for the layer.
std::unique_ptr<Reference> MakeReference(const LayerConfig& config, const LayerValues& values = {});

// Of each family, with values where it has any; MakeReference() chooses.
std::unique_ptr<Reference> MakeFamilyReference(const ConvolutionConfig& config, const LayerValues& values);
std::unique_ptr<Reference> MakeFamilyReference(const MatMulConfig& config, const LayerValues& values);
std::unique_ptr<Reference> MakeFamilyReference(const AttentionConfig& config, const LayerValues& values);
std::unique_ptr<Reference> MakeFamilyReference(const RecurrentConfig& config);
std::unique_ptr<Reference> MakeFamilyReference(const PointwiseConfig& config, const LayerValues& values);
std::unique_ptr<Reference> MakeFamilyReference(const PoolingConfig& config);
std::unique_ptr<Reference> MakeFamilyReference(const NormalizationConfig& config, const LayerValues& values);
std::unique_ptr<Reference> MakeFamilyReference(const SoftmaxConfig& config);
std::unique_ptr<Reference> MakeFamilyReference(const ReductionConfig& config);
std::unique_ptr<Reference> MakeFamilyReference(const ScanConfig& config);
std::unique_ptr<Reference> MakeFamilyReference(const SortConfig& config);
std::unique_ptr<Reference> MakeFamilyReference(const MovementConfig& config, const LayerValues& values);
std::unique_ptr<Reference> MakeFamilyReference(const ResampleConfig& config, const LayerValues& values);
std::unique_ptr<Reference> MakeFamilyReference(const ReorderConfig& config);

// A reference from two things: for the many that are one function.
template <class Function>
std::unique_ptr<Reference> MakeReferenceOf(double cost, Function function) {
  class Made : public Reference {
   public:
    Made(double made_cost, Function made) : cost_(made_cost), function_(std::move(made)) {}
    Expected At(std::size_t output, std::int64_t element, const Sources& operands) const override {
      return function_(output, element, operands);
    }
    double cost() const override { return cost_; }

   private:
    double cost_;
    Function function_;
  };
  return std::make_unique<Made>(cost, std::move(function));
}

// Rounded to nearest even and saturated where the type is an integer's; unchanged otherwise.
double StoreAs(DataType type, double value);

// Row-major positions. Unravel(17, {2, 3, 4}) == {1, 1, 1}.
std::vector<std::int64_t> Unravel(std::int64_t element, const Shape& shape);
std::int64_t Ravel(const std::vector<std::int64_t>& position, const Shape& shape);

// Position in an operand that broadcasts to the output.
std::int64_t BroadcastElement(std::int64_t element, const Shape& output, const Shape& operand);

// What a check expects, kept for the next candidate of the same workload: its operands and the elements that are looked
// at are the same, and the reference takes a fifth of a second.
//
//   known.Begin(Format(workload));                           // forgets another workload's
//   known.Next([&] { return reference.At(0, 17, sources); })   // computed once, in the order of the check
class KnownValues {
 public:
  void Begin(std::string workload) {
    if (workload != workload_) values_.clear();
    workload_ = std::move(workload);
    next_ = 0;
  }
  template <class Compute>
  Expected Next(const Compute& compute) {
    if (next_ == values_.size()) values_.push_back(compute());
    return values_[next_++];
  }

 private:
  std::string workload_;
  std::vector<Expected> values_;
  std::size_t next_ = 0;
};

// The largest error of the outputs against the reference at a sample of elements chosen by `seed`, in the
// measure of the contract. `sources` are the operands; results are read from `outputs`. `known`: has begun.
double LargestError(const Reference& reference, ErrorMeasure measure, const Sources& sources,
                    const std::vector<HostTensor*>& outputs, std::uint64_t seed, KnownValues* known = nullptr);

}  // namespace infimum::cpu
