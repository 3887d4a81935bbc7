// Which cores a worker is pinned to, and what its environment says to OpenMP about it.
//
//   8 cores, of which 0/4, 1/5, 2/6 and 3/7 share a physical one; 2 threads  ->  {6, 7}
//
// The last cores first, since interrupts and the rest of the system favour core 0; never two of one
// physical core while there is another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

namespace infimum {

struct Core {
  int number = 0;
  int physical = 0;  // the lowest number among the cores that share its physical one
};

// The cores this process may use, ascending, with their topology from /sys.
std::vector<Core> VisibleCores();

// `threads` of them, ascending; an error where there are fewer.
Result<std::vector<int>> ChooseCores(const std::vector<Core>& visible, std::int64_t threads);

// "0,2-5" as a list; each must be visible and named once.
Result<std::vector<int>> ParseCoreList(std::string_view text, const std::vector<Core>& visible);
std::string FormatCoreList(const std::vector<int>& cores);

// "OMP_NUM_THREADS=2", "OMP_PLACES={6},{7}" ... No cores: not bound.
std::vector<std::string> OpenMpEnvironment(std::int64_t threads, const std::vector<int>& cores);

// Allows this process only these cores (no effect where the list is empty).
Status PinTo(const std::vector<int>& cores);

}  // namespace infimum
