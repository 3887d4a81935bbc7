// What a device can do at best, as far as is known: how long it takes to touch so many bytes and how fast its
// arithmetic runs. The floor (floor.h) divides by these rates, so each of them must be at least as high as
// anything the device can really reach: the best that was ever seen, in the peak measurements and in every measured
// row (Observe), and of what only a data sheet knows the larger of the two.
//
// A processor whose memory was measured has curves (touch_curve.h) of reading, writing and copying:
//
//   read 32 MiB: 1.1 ms, 256 MiB: 14 ms; copy 32 MiB: 1.5 ms, 64 MiB: 4 ms
//   Memory(read 256 MiB, written 0)        ->  14 ms
//   Memory(read 32 MiB, written 32 MiB)    ->  4 ms, as a copy of that size
//
// Other devices have levels, each of which holds so many bytes; what the nearer ones cannot hold comes from this one
// or from farther:
//
//   data sheet: 126 MiB of caches and registers, 7.7 TB/s
//   Memory(read 1 GiB, written 0)          ->  (1 GiB - 126 MiB) / 7.7 TB/s = 122 us
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/types/touch_curve.h"
#include "infimum/base/units.h"
#include "infimum/layer/workload.h"
#include "infimum/measurement/contract.h"
#include "infimum/measurement/device.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

// Of a device without curves.
struct MemoryLevel {
  std::string name;             // "l2", "memory": the nearest place where the bytes can be
  double nearer = 0;            // bytes that all nearer levels together can hold
  double seconds_per_byte = 0;  // at best, of reads and writes alike
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
  // Of the selection's device, threads and contract.
  static Result<DeviceModel> Make(MeasurementSource& source, const Selection& selection);

  // Raises the rates that this measured time shows to be possible.
  void Observe(const Workload& workload, const Work& work, std::string_view algorithm, Latency latency);

  // A device with this rate multiplied: "memory" (of caches too), "launch" or a type of arithmetic. An error where no
  // such rate is known.
  Status Multiply(std::string_view rate, double factor);

  // Least time to read and write so many distinct bytes, inference after inference.
  MemoryFloor Memory(double read, double written) const;

  // Least time to read bytes that no cache holds.
  Latency FarTime(double bytes) const;

  // Of `part` bytes that are read once while `all` bytes, themselves among them, are gone through again and again in
  // one order: the share that counts as near, as near as they were alone. How much the caches can keep is what the
  // curve says of the best order: m, by the time that reading takes for each byte, between that of `part` bytes alone
  // and that of bytes from memory. In one order caches keep less: a line that is replaced by one at random is still
  // there after a round with the probability s = exp(-(1 - s) / m), since (1 - s) of the others are fetched meanwhile
  // into a cache of m of them all. (The least recently used one is the worst choice, s = 0; real caches lie between.)
  // Without a curve 1 where caches hold all, else 0.
  double ShareNear(double part, double all) const;

  // Of bytes in the caches, among `all` that are gone through, the share that is still there when they are read again
  // so long after: other programs, and other machines on the same processor, fill the caches that they share. 1 of what
  // the threads' own caches hold, and where it was never seen.
  //
  //   a third-level cache that keeps what lies in it for 2 ms: of 14 MiB exp(-1) = 0.37 after 2 ms, nothing after 10
  double ShareKept(double all, Latency between) const;

  // The best rate of arithmetic in a type. Where the type has none, the best of those that are no wider: units are at
  // least as fast in them, and a higher peak only lowers a floor. nullopt where none is known.
  std::optional<FlopsPerSecond> Arithmetic(DataType type) const;
  bool HasArithmetic(DataType type) const;

  // What an empty kernel costs among others; 0 where it is not known.
  Latency launch() const { return launch_; }

  // Time to read and write so many bytes by the measured copy curve, working set = bytes, interpolated
  // in logarithms; nullopt without a measured memory rate.
  std::optional<Latency> CopyTime(double bytes) const;

  // Whether the curves are of so few working sets that between two of them little is known.
  bool coarse_memory() const { return coarse_memory_; }

  bool memory_data_sheet() const { return memory_data_sheet_; }
  bool arithmetic_data_sheet() const { return arithmetic_data_sheet_; }

 private:
  struct CurvePoint {
    double working_set;
    double rate;
  };

  // What is touched by reading, by writing, by as many of each, and by whatever mixture.
  struct Touched {
    TouchCurve read, written, copied, any;
  };

  std::optional<Touched> curves_;
  std::vector<MemoryLevel> levels_;      // nearest first; empty where there are curves
  std::vector<CurvePoint> copy_curve_;   // ascending working sets, one point each
  std::array<double, 32> arithmetic_{};  // by DataType; 0 where unknown
  double memory_factor_ = 1;             // see Multiply
  Latency launch_{0};
  Latency retention_{0};  // 0: not known
  double own_caches_ = 0;
  bool coarse_memory_ = false;
  bool memory_data_sheet_ = false;
  bool arithmetic_data_sheet_ = false;
};

// Whether an algorithm does a matmul or convolution by the textbook's sum: Winograd and FFT do with fewer
// multiplications.
bool IsDirect(std::string_view algorithm);

// Whether `peaks` have the processor's whole memory curve with so many threads, not just the few working sets of a
// first look.
bool HasWholeMemoryCurve(const DevicePeaks& peaks, std::int64_t threads);

struct CacheSize {
  std::string name;  // "l1"
  double bytes = 0;
};

// The caches that a device's key names ("/l2=512K/"), nearest first; empty where it names none.
std::vector<CacheSize> CachesOf(const DeviceKey& device);

}  // namespace infimum
