#include "src/readers/profiles/onnxruntime/onnxruntime_correlation.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace infimum::ingest {
namespace {

// Executions by layer and start; of several at one time the first.
class Starts {
 public:
  explicit Starts(std::span<const OnnxRuntimeExecution> executions)
      : executions_(executions), order_(executions.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::tuple(executions_[a].layer, executions_[a].start, a) <
             std::tuple(executions_[b].layer, executions_[b].start, b);
    });
    for (const OnnxRuntimeExecution& execution : executions) {
      if (layers_.size() < std::size_t{execution.layer} + 2) layers_.resize(std::size_t{execution.layer} + 2);
      ++layers_[execution.layer + 1];
    }
    std::partial_sum(layers_.begin(), layers_.end(), layers_.begin());
  }

  // Of a layer, by start.
  std::span<const std::uint32_t> Of(std::uint32_t layer) const {
    return std::span(order_).subspan(layers_[layer], layers_[layer + 1] - layers_[layer]);
  }

  std::optional<std::uint32_t> Find(std::uint32_t layer, std::int64_t start) const {
    const auto of_layer = Of(layer);
    const auto found = std::lower_bound(of_layer.begin(), of_layer.end(), start,
                                        [this](std::uint32_t e, std::int64_t t) { return executions_[e].start < t; });
    if (found == of_layer.end() || executions_[*found].start != start) return std::nullopt;
    return *found;
  }

 private:
  std::span<const OnnxRuntimeExecution> executions_;
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> layers_;  // where each begins in the order, and the end
};

}  // namespace

std::vector<OnnxRuntimeKernel> JoinByCorrelation(std::span<const OnnxRuntimeExecution> executions,
                                                 std::span<const CorrelatedKernel> correlated,
                                                 std::vector<OnnxRuntimeKernel>& kernels) {
  if (correlated.empty()) return {};
  const Starts starts(executions);
  // Few origins are worth a try: of the layer that ran least often, from the earliest execution on.
  const auto rarest = std::min_element(correlated.begin(), correlated.end(), [&](const auto& a, const auto& b) {
    return std::pair(starts.Of(a.layer).size(), a.correlation) < std::pair(starts.Of(b.layer).size(), b.correlation);
  });
  std::size_t steps = 0;
  const auto fits = [&](std::int64_t origin) {
    return std::all_of(correlated.begin(), correlated.end(), [&](const CorrelatedKernel& kernel) {
      ++steps;
      return starts.Find(kernel.layer, kernel.correlation - origin).has_value();
    });
  };
  // A real file's first or second candidate fits, or a wrong one soon fails.
  const std::size_t most_steps = 100 * correlated.size() + 1'000'000;
  std::optional<std::int64_t> origin;
  for (const std::uint32_t execution : starts.Of(rarest->layer)) {
    if (origin || steps > most_steps) break;
    const std::int64_t candidate = rarest->correlation - executions[execution].start;
    if (fits(candidate)) origin = candidate;
  }
  std::vector<OnnxRuntimeKernel> strays;
  for (const CorrelatedKernel& one : correlated) {
    OnnxRuntimeKernel kernel = one.kernel;
    if (!origin) {
      strays.push_back(kernel);
      continue;
    }
    kernel.execution = *starts.Find(one.layer, one.correlation - *origin);
    kernels.push_back(kernel);
  }
  return strays;
}

}  // namespace infimum::ingest
