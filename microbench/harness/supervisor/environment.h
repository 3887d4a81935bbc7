// What a harness knows about the environment of a measurement that a library does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/measurement/device.h"

namespace infimum {

// Sets threads and, of the evidence, affinity and how many cores this process might use; fills in clock policy, system,
// host and version where the backend did not give them.
void CompleteEnvironment(Environment& environment, std::int64_t threads, const std::string& affinity,
                         std::size_t usable_cores);

// Which machine this is, as 12 hexadecimal digits: of the SHA-256 of the machine's id (/etc/machine-id, which is not to
// be shown) and its name, so that installations copied with their id are distinguished and neither is disclosed. Where
// there is no id, as in most containers, of the kernel's boot id, which lasts until the machine is started again.
// Empty where there is neither.
std::string HostHash(const std::string& machine_id, const std::string& name, const std::string& boot_id);

// "2026-11-21T10:47:44Z"
std::string UtcTimestamp();

// Which cores a worker is pinned to, and the environment variables that OpenMP reads for it.
//
//   8 cores, of which 0/4, 1/5, 2/6 and 3/7 share a physical one; 2 threads  ->  {6, 7}
//
// The last cores first, since interrupts and the rest of the system favour core 0; never two of one
// physical core while there is another.

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
