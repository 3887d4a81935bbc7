// What the rules about an engine's layers ask.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/findings/finding.h"

namespace infimum::findings {

// Whether ONNX Runtime moved a layer from half to single precision, since the provider has no kernel: by its name, or
// those of its values.
bool WasMovedToSingle(const ProfiledLayer& layer);

// Median of a layer's samples; 0 without any.
Latency TimeOf(const ProfiledLayer& layer);
Latency TimeOf(const RunProfile& run);
// The engine's kernel where it is reported, else its layer.
std::string KernelOrName(const ProfiledLayer& layer);
// Whether the engine added a layer to change a layout: a reorder, reformat or transpose that is no node of the model.
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
