// What a device can do at best, as far as is known: how fast each level of its memory moves bytes and how
// fast its arithmetic runs. The floor (floor.h) divides by these rates, so each of them must be at least
// as high as anything the device can really reach: the larger of the data sheet and the best rate that was
// ever seen, in the peak measurements and in every measured row (Observe).
//
// A level is named by what is nearer to the core: data beyond 544 KiB of L1 and L2 comes from L3 or
// further, and moves at best at the rate of working sets well beyond 544 KiB.
//
//   key ".../l1=32K/l2=512K/l3=32M/...", copy curve 16 KiB: 200 GB/s, 256 MiB: 18 GB/s, read 256 MiB: 24 GB/s
//   MemoryFloor(read 256 MiB, written 0)        ->  (256 MiB - 32.5 MiB) / 24 GB/s = 9.8 ms, "memory"
//   MemoryFloor(read 128 MiB, written 128 MiB)  ->  between copy's and read's rate: 13.1 ms at most
//
// Reads and writes share a level but not at one rate, so a mixture's rate is interpolated, in time per
// byte, between pure reads, an even mixture (copy) and pure writes. With a data sheet there is one rate,
// the larger of it and all that was seen, for every mixture.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/units.h"
#include "infimum/layer/workload.h"
#include "infimum/measurement/contract.h"
#include "infimum/measurement/device.h"

namespace infimum {

// Seconds for each byte that a memory level moves at best, by the mixture.
struct MoveCost {
  double read = 0;
  double copy = 0;  // half of the bytes read, half written
  double write = 0;

  // `written_share` in [0, 1].
  double At(double written_share) const;
};

struct MemoryLevel {
  std::string name;   // "l1", "l2", "l3", "memory": the nearest place where the bytes can be
  double nearer = 0;  // bytes that all nearer levels together can hold
  MoveCost cost;
};

struct MemoryFloor {
  Latency latency{0};
  std::string level;
};

class DeviceModel {
 public:
  // An error where `peaks` holds no memory rate at all. `threads` is how many cores a bound may use. Under the contract
  // tf32 f32 operands are computed as fast as either peak says, f32's or TF32's; without the latter it is not known how
  // fast.
  static Result<DeviceModel> Make(const DeviceKey& device, const DevicePeaks& peaks, std::int64_t threads,
                                  NumericContract contract = NumericContract::kStrictF32);

  // Raises the rates that this measured time shows to be possible.
  void Observe(const Workload& workload, const Work& work, std::string_view algorithm, Latency latency);

  // Least time to read and write so many bytes when everything before has filled the nearer levels
  // with whatever of them pays most.
  MemoryFloor Memory(double read, double written) const;

  // The best rate of arithmetic in a type. Where the type has none, the best of those that are no wider: units are at
  // least as fast in them, and a higher peak only lowers a floor. nullopt where none is known.
  std::optional<FlopsPerSecond> Arithmetic(DataType type) const;
  bool HasArithmetic(DataType type) const;

  // What an empty kernel costs among others; 0 where it is not known.
  Latency launch() const { return launch_; }

  // Time to read and write so many bytes by the measured copy curve, working set = bytes, interpolated
  // in logarithms; nullopt without a measured memory rate.
  std::optional<Latency> CopyTime(double bytes) const;

  bool memory_data_sheet() const { return memory_data_sheet_; }
  bool arithmetic_data_sheet() const { return arithmetic_data_sheet_; }
  const std::vector<MemoryLevel>& levels() const { return levels_; }

 private:
  struct CurvePoint {
    double working_set;
    double rate;
  };

  std::vector<MemoryLevel> levels_;      // nearest first, the first with nearer = 0
  std::vector<CurvePoint> copy_curve_;   // ascending working sets, one point each
  std::array<double, 32> arithmetic_{};  // by DataType; 0 where unknown
  Latency launch_{0};
  bool memory_data_sheet_ = false;
  bool arithmetic_data_sheet_ = false;
};

// Whether an algorithm does a matmul or convolution by the textbook's sum: Winograd and FFT do with fewer
// multiplications.
bool IsDirect(std::string_view algorithm);

struct CacheSize {
  std::string name;  // "l1"
  double bytes = 0;
};

// The caches that a device's key names ("/l2=512K/"), nearest first; empty where it names none.
std::vector<CacheSize> CachesOf(const DeviceKey& device);

}  // namespace infimum
