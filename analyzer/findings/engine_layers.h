// The rules about an engine's layers. Each returns nothing where its cause is not there, or where it is less than a
// hundredth of the layers' time; it leaves out the layers that another one has claimed, and claims those of its gain.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/findings/layer_claims.h"

namespace infimum::findings {

// Layers that the engine added to change a layout or a type, or to copy: `own`, indices into RunProfile::layers.
std::optional<Finding> LayoutChanges(const RunProfile& run, const std::vector<std::size_t>& own, LayerClaims& claims);
// A quantized model of which convolutions or products run on dequantized values.
std::optional<Finding> QuantizedInFloat(const RunProfile& run, LayerClaims& claims);
// A model of half precision that the engine computes in single precision.
std::optional<Finding> HalfInSingle(const RunProfile& run, LayerClaims& claims);

// Whether ONNX Runtime moved it from half to single precision, since the provider has no kernel: as its name, or those
// of its values, say.
bool WasMovedToSingle(const ProfiledLayer& layer);

// Median of a layer's samples; 0 without any.
Latency TimeOf(const ProfiledLayer& layer);
Latency TimeOf(const RunProfile& run);
// The engine's kernel where it tells it, else its layer.
std::string KernelOrName(const ProfiledLayer& layer);
// Whether it was added to change a layout: a reorder, reformat or transpose that is no node of the model.
bool ChangesLayout(const ProfiledLayer& layer);

// Times summed by a text, the largest first; at most `count` of the texts.
class TimeBy {
 public:
  void Add(const std::string& what, Latency time);
  Latency total() const { return total_; }
  std::int64_t count() const { return count_; }
  std::vector<std::string> Largest(std::size_t count) const;
  // "Mul (9 times), Resize (once)", the most frequent first.
  std::string Frequencies(std::size_t count) const;

 private:
  struct Entry {
    std::string what;
    Latency time{0};
    std::int64_t times = 0;
  };
  std::vector<Entry> entries_;
  Latency total_{0};
  std::int64_t count_ = 0;
};

}  // namespace infimum::findings
