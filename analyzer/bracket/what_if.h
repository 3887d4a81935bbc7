// Assumptions about layers in words, for ComputeBracket to solve again under.
//
//   free:Softmax_12          this layer alone takes nothing
//   free:op=Softmax          every Softmax takes nothing
//   floor:family=convolution convolutions run at their roofline
//   0.5x:family=matmul       matmuls twice as fast
//   12us:Conv_0              this layer takes 12 microseconds
//   gapless:all              each kernel begins as the one ahead ends: a time is less by what starting a kernel takes
//                            (an error where that is not known: of processors)
//   floor:all                every layer at its roofline
//
// And about the device, of which only floors and the roofline are made again: measured times are of the device as it
// is.
//
//   peak:memory=1.5x           memory, caches too, one and a half times as fast
//   peak:f16=2.33x,memory=1.5x both at once; launch=2x: half the time of a launch
//
// A region that was measured keeps its time, whatever is assumed of its layers, but where all of them are without gaps;
// so what a fused bound wins is a lower estimate where the layers are fused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/bounds/variants.h"
#include "analyzer/types/layer_time.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

// An assumption about some layers, under which everything is solved again.
struct LayerChange {
  enum class Kind {
    kFree,     // takes nothing
    kFloor,    // takes its floor, where that is less than its time
    kScaled,   // takes `value` times its time
    kFixed,    // takes `value` microseconds
    kGapless,  // takes what starting a kernel takes less, where that is known (GPUs), and not less than its floor
  };
  LayerId layer;
  Kind kind = Kind::kFree;
  double value = 0;
};
// A rate of the device (DeviceModel::Multiply) that is multiplied.
struct PeakChange {
  std::string rate;
  double factor = 1;
};
struct WhatIf {
  std::string name;
  std::vector<LayerChange> changes;
  std::vector<PeakChange> peaks = {};
};

// A bound under an assumption, and what it wins over the bound without: negative where it costs.
struct WhatIfBound {
  BoundVariant variant = BoundVariant::kSequential;
  Latency latency{0};
  // Over `inferences` times the bound without; absent where there is none, or where more of this one is missing.
  std::optional<Latency> gain = std::nullopt;
  std::optional<Interval> interval = std::nullopt;  // where other rows are behind it
};
// Of another device, or of a model as it could be of which no row is there: a floor, or the roofline.
struct WhatIfFloor {
  std::string name;  // "floor-textbook", "roofline"
  Latency latency{0};
  Latency gain{0};
};
struct WhatIfOutcome {
  std::string name;
  std::size_t layers = 0;  // that it changes; of another device whose rooflines it changes
  std::vector<WhatIfBound> bounds;
  std::optional<Coverage> coverage = std::nullopt;  // where other rows are behind it: of a model as it could be
  double inferences = 1;                            // of the model as it is, that one of the changed model stands for
  std::vector<WhatIfFloor> floors = {};             // instead of bounds
};

// An error says what is wrong and what is valid instead; layers that take no time by themselves (views, folded ones)
// are never meant.
Result<WhatIf> ParseWhatIf(std::string_view text, const ModelGraph& graph);

}  // namespace infimum
