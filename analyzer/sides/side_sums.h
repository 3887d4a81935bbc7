// Times of layers on a side, added up with their intervals. Errors of different layers are independent, that of a layer
// used u times counts u times.
//
//   conv 100 (98 .. 102), twice, and relu 10 (9 .. 11)  ->  210, 205.88 .. 214.12
#pragma once

#include "analyzer/sides/side_comparison.h"

namespace infimum {

class SideSum {
 public:
  void Add(const SideTime& time, double uses);
  // Nothing known where nothing was added. Without an interval where a part of some weight has none, estimated where
  // a part of some weight is.
  SideTime Total() const;

 private:
  double latency_ = 0, floor_ = 0;
  double inner_ = 0, below_ = 0, above_ = 0;  // squares of what it may be less, and more
  double without_spread_ = 0, estimated_ = 0;
  bool is_empty_ = true;
};

}  // namespace infimum
