// What timing one kernel, or one plan of a library, needs of a GPU: the seam behind which tests have a fake.
#pragma once

#include <cstdint>
#include <optional>

#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum::cuda {

// What one launch finds in the device's caches.
enum class LaunchCaches {
  kAsTheyAre,
  kWithoutConstants,  // what a launch ahead of it left there, which had other copies of its constants
  kEmptied,           // something else
};

class LaunchDevice {
 public:
  using Graph = std::size_t;

  virtual ~LaunchDevice() = default;

  // Records so many launches in a row as a graph, and keeps it. An error where the library does something that cannot
  // be captured (it allocates, or waits for the device).
  virtual Result<Graph> Capture(std::int64_t launches) = 0;
  // Runs it once; the time between two events around it.
  virtual Result<Latency> Replay(Graph graph) = 0;
  virtual void Drop(Graph graph) = 0;
  // Whether a launch in it may begin before the one ahead has ended.
  virtual bool Overlaps(Graph) { return false; }

  // The same without a graph: so many launches into a stream, between two events.
  virtual Result<Latency> LaunchInStream(std::int64_t launches) = 0;

  // Where the caches are to be emptied writes twice the second-level one; then one launch between two events, behind a
  // kernel that holds the stream until the host has queued everything.
  virtual Result<Latency> LaunchAlone(LaunchCaches caches) = 0;
  // Whether the stream could not be held for as long as the host took at the last one: its time may be in it.
  virtual bool HostWasLate() { return false; }

  // Lets a device that is below its usual frequency rest before a time is taken again.
  virtual void Pause() {}

  // The multiprocessors' frequency now; nullopt where the driver does not tell.
  virtual std::optional<double> FrequencyMhz() = 0;
  // Whether the driver lowers it now to keep within the power limit, and for no other reason: under full load that is
  // the device's usual state.
  virtual bool IsPowerLimited() { return false; }
};

}  // namespace infimum::cuda
