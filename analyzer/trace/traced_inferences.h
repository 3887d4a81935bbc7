// A trace divided into inferences: by what a person or the profiler's schedule marked, else by what repeats.
//
//   ProfilerStep#5 | ProfilerStep#6 | ProfilerStep#7      three inferences
//   "inference 0" ... "inference 1" ...                   ranges of one name, but for a number at its end, that hold at
//                                                         least 90 % of the layers' time
//   conv relu linear conv relu linear                     the same operators on the same shapes over and over: two
//   anything else                                         one
#pragma once

#include <string>
#include <vector>

#include "analyzer/trace/traced_layers.h"

namespace infimum {

struct TracedInferences {
  std::vector<std::vector<std::size_t>> layers;  // of each inference: indices into the layers, ascending
  std::string how;                               // "by ProfilerStep", for remarks
  std::size_t outside = 0;                       // layers in none
};

// `keys` says what each layer is: equal for layers that may be the same one of different inferences. `times`: of each.
TracedInferences DivideIntoInferences(const Timeline& timeline, const TracedNames& names,
                                      const std::vector<TracedLayer>& layers, const std::vector<std::size_t>& keys,
                                      const std::vector<std::int64_t>& times);

}  // namespace infimum
