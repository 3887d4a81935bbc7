// Whose gain an engine layer's time is counted in: findings about an engine's own layers are made one after the other,
// the one that knows the deeper cause first, so that no microsecond is promised twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace infimum::findings {

class LayerClaims {
 public:
  explicit LayerClaims(std::size_t layers) : claimed_(layers, false) {}

  bool Has(std::size_t layer) const { return claimed_[layer]; }
  bool HasAny(const std::vector<std::size_t>& layers) const {
    return std::ranges::any_of(layers, [this](std::size_t layer) { return Has(layer); });
  }
  void Take(const std::vector<std::size_t>& layers) {
    for (const std::size_t layer : layers) claimed_[layer] = true;
  }
  // What these have beyond those of `others`, of the same run.
  LayerClaims Without(const LayerClaims& others) const {
    LayerClaims rest(claimed_.size());
    for (std::size_t i = 0; i < claimed_.size(); ++i) rest.claimed_[i] = claimed_[i] && !others.claimed_[i];
    return rest;
  }

 private:
  std::vector<bool> claimed_;
};

}  // namespace infimum::findings
