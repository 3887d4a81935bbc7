// Sums and running sums as oneDNN's matrix products with a constant, by what the library chooses for the product. The
// layer has no constants: the ones stay in the caches as a kernel's code does.
#include <utility>

#include "microbench/libraries/onednn/layer_offers.h"
#include "microbench/reference/statistic_product.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

// The product on the layer's own tensors, seen in its shapes.
class StatisticProgram : public Program {
 public:
  Status Prepare(const StatisticProduct& statistic, const Offer& product, const Problem& problem) {
    const MatMulConfig& config = statistic.product;
    const bool is_first = statistic.variable() == 0;
    INFIMUM_ASSIGN_OR_RETURN(constant_, statistic.Constant());
    INFIMUM_ASSIGN_OR_RETURN(
        input_, HostTensor::Over(problem.operands[0]->data(), is_first ? config.a : config.b, config.types.input));
    INFIMUM_ASSIGN_OR_RETURN(output_,
                             HostTensor::Over(problem.outputs[0]->data(), OutputShape(config), config.types.output));
    Problem inner{config, {&input_, &constant_}, {&output_}};
    if (!is_first) std::swap(inner.operands[0], inner.operands[1]);
    INFIMUM_ASSIGN_OR_RETURN(product_, product.make(inner));
    if (!product_->in_place()) return Error{"unsupported: the product's layout is its own"};
    return {};
  }

  Status Run() override { return product_->Run(); }
  Bytes footprint() const override { return product_->footprint(); }

 private:
  HostTensor input_, constant_, output_;
  std::unique_ptr<Program> product_;
};

}  // namespace

std::vector<Offer> StatisticProductOffers(const LayerConfig& config) {
  const std::optional<StatisticProduct> statistic = StatisticProductOf(config);
  if (!statistic) return {};
  std::vector<Offer> offers;
  for (const Offer& product : MatMulOffers(statistic->product)) {
    const std::optional<Candidate> candidate = StatisticCandidate(product.candidate);
    if (!candidate || !product.candidate.library_choice) continue;
    const auto make = [statistic = *statistic, product](const Problem& problem) -> MadeProgram {
      return Prepared<Program>(std::make_unique<StatisticProgram>(), statistic, product, problem);
    };
    offers.push_back({.candidate = *candidate, .make = make, .reference = product.reference});
  }
  return offers;
}

}  // namespace infimum::cpu
