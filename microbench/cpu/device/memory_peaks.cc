#include "microbench/cpu/device/memory_peaks.h"

#include <omp.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "infimum/base/clock.h"
#include "microbench/cpu/device/cpu_device.h"
#include "microbench/cpu/device/retention.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kHugePages = 2 << 20;
constexpr std::int64_t kLeastPart = 16 << 10;   // surely in the nearest cache
constexpr std::int64_t kLeastReach = 64 << 20;  // where caches are not described
constexpr std::int64_t kMostReach = std::int64_t{2} << 30;
constexpr std::int64_t kMostSmall = 8 << 20;  // of a first look, below half of the last level
// Passes over a small set are too short for the clock: together they touch so much.
constexpr std::int64_t kVisitBytes = 32 << 20;
constexpr std::int64_t kLargeBytes = 256 << 20;
constexpr double kFirstSeconds = 1.2;
constexpr double kWholeSeconds = 8;
// Where other programs keep the processor for themselves half of the time, twice as long.
constexpr double kPatience = 2;
// Most machines are quiet enough for fewer: what was disturbed once is tried again while time is left.
constexpr int kVisits = 10;
// A way that was slower than the best by more in two visits, or in four, is not tried again.
constexpr double kHopeless = 1.15, kSlower = 1.05;

double SecondsNow() { return std::chrono::duration<double>(SteadyClock().Now()).count(); }

// Of this thread on a processor.
double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Bytes from `at` on, `partner` bytes behind which a copy's target is.
using Touch = double (*)(char* at, std::int64_t bytes, std::int64_t partner);

double TouchRead(char* at, std::int64_t bytes, std::int64_t) { return Kernels().read(at, bytes); }
double TouchReadStreams(char* at, std::int64_t bytes, std::int64_t) { return Kernels().read_streams(at, bytes); }
double TouchReadPast(char* at, std::int64_t bytes, std::int64_t) { return Kernels().read_past(at, bytes); }
double TouchWrite(char* at, std::int64_t bytes, std::int64_t) { return Kernels().write(at, bytes), 0.0; }
double TouchWritePast(char* at, std::int64_t bytes, std::int64_t) { return Kernels().write_streaming(at, bytes), 0.0; }
double TouchCopy(char* at, std::int64_t bytes, std::int64_t partner) {
  return Kernels().copy(at, at + partner, bytes), 0.0;
}
double TouchCopyPast(char* at, std::int64_t bytes, std::int64_t partner) {
  return Kernels().copy_streaming(at, at + partner, bytes), 0.0;
}

// One way through a thread's part, again and again.
struct Way {
  PeakRate::Kind kind;
  Touch near;
  bool to_and_fro = false;
  // Of the last level: so much is touched by `near`, what is behind it by `past`.
  double resident = 0;
  Touch past = nullptr;
};

// Of each kind the one first that is never hopeless.
constexpr Way kWays[] = {
    {PeakRate::Kind::kRead, TouchRead, true},
    {PeakRate::Kind::kCopy, TouchCopy, true},
    {PeakRate::Kind::kWrite, TouchWrite, true},
    {PeakRate::Kind::kRead, TouchReadStreams},
    {PeakRate::Kind::kCopy, TouchCopyPast},
    {PeakRate::Kind::kWrite, TouchWritePast},
    {PeakRate::Kind::kRead, TouchRead},
    {PeakRate::Kind::kRead, TouchReadStreams, true},
    {PeakRate::Kind::kRead, TouchRead, false, 0.5, TouchReadPast},
    {PeakRate::Kind::kCopy, TouchCopyPast, true},
    {PeakRate::Kind::kCopy, TouchCopy, false, 0.5, TouchCopyPast},
    {PeakRate::Kind::kWrite, TouchWrite, false, 0.5, TouchWritePast},
    {PeakRate::Kind::kRead, TouchRead, false, 0.125, TouchReadPast},
    {PeakRate::Kind::kCopy, TouchCopy, false, 0.125, TouchCopyPast},
    {PeakRate::Kind::kWrite, TouchWrite, false, 0.125, TouchWritePast},
};

// A thread's part, gone through twice; once where `once` says so.
double Pass(const Way& way, char* base, std::int64_t bytes, std::int64_t partner, std::int64_t resident, bool once) {
  double sink = 0;
  if (way.to_and_fro) {
    const std::int64_t block = std::clamp(bytes / 16 / kPage * kPage, kPage, 64 * kPage);
    for (std::int64_t at = 0; at < bytes; at += block)
      sink += way.near(base + at, std::min(block, bytes - at), partner);
    for (std::int64_t at = (bytes - 1) / block * block; at >= 0; at -= block)
      sink += way.near(base + at, std::min(block, bytes - at), partner);
    return sink;
  }
  for (int pass = 0; pass < (once ? 1 : 2); ++pass) {
    sink += way.near(base, resident, partner);
    if (way.past != nullptr) sink += way.past(base + resident, bytes - resident, partner);
  }
  return sink;
}

// Memory of which each thread has a piece of its own, placed near the core that touches it.
class Pieces {
 public:
  static std::optional<Pieces> Make(std::int64_t piece, std::int64_t threads) {
    Pieces pieces;
    pieces.stride_ = (piece + kHugePages - 1) / kHugePages * kHugePages;
    const auto all = static_cast<std::size_t>(pieces.stride_ * threads);
    pieces.memory_.reset(static_cast<char*>(std::aligned_alloc(kHugePages, all)));
    if (pieces.memory_ == nullptr) return std::nullopt;
    (void)madvise(pieces.memory_.get(), all, MADV_HUGEPAGE);  // a hint
    const auto bytes = static_cast<std::size_t>(piece);
#pragma omp parallel num_threads(static_cast <int>(threads))
    std::memset(pieces.Of(omp_get_thread_num()), 0, bytes);
    return pieces;
  }
  char* Of(int thread) const { return memory_.get() + stride_ * thread; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::int64_t stride_ = 0;
};

// What this process may take without harm: a quarter of what is free on the machine, and in its control group.
std::int64_t MemoryToUse() {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::ifstream machine("/proc/meminfo");
  for (std::string name, unit; machine >> name;) {
    std::int64_t kib = 0;
    if (!(machine >> kib)) break;
    if (name == "MemAvailable:") least = std::min(least, kib * 1024);
    std::getline(machine, unit);
  }
  std::ifstream most("/sys/fs/cgroup/memory.max"), now("/sys/fs/cgroup/memory.current");
  std::int64_t allowed = 0, used = 0;
  if (most >> allowed && now >> used) least = std::min(least, std::max<std::int64_t>(0, allowed - used));
  return least / 4;
}

std::int64_t LastLevelOf(std::int64_t threads) {
  std::vector<int> cores(static_cast<std::size_t>(threads), -1);
#pragma omp parallel num_threads(static_cast <int>(threads))
  cores[static_cast<std::size_t>(omp_get_thread_num())] = sched_getcpu();
  return LastLevelCaches(cores);
}

// One way over one set.
struct TimedWay {
  const Way* way = nullptr;
  std::int64_t bytes = 0;                                    // of each thread; of a copy, read
  std::int64_t counted = 0;                                  // of each thread
  std::size_t point = 0;                                     // which it is for
  double seconds = std::numeric_limits<double>::infinity();  // of one pass, at best
};

class Curve {
 public:
  Curve(const std::vector<std::int64_t>& parts, std::int64_t last_level, std::int64_t threads, const Pieces& pieces)
      : last_level_(last_level), threads_(threads), pieces_(pieces) {
    for (const Way& way : kWays) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool copies = way.kind == PeakRate::Kind::kCopy;
        const std::int64_t bytes = copies ? parts[i] / 2 / kPage * kPage : parts[i];
        const bool has_rest = way.past == nullptr || ResidentOf(way, bytes) < bytes;
        if (has_rest) trials_.push_back({&way, bytes, copies ? 2 * bytes : bytes, PointOf(way.kind, i)});
      }
    }
    best_.assign(3 * parts.size(), std::numeric_limits<double>::infinity());
  }

  // For so many seconds, and until the clock says so; each set is read once in any case.
  void Measure(double seconds, double until) {
    const double enough = Now() + seconds;
    for (int visit = 0; visit < kVisits; ++visit) {
      for (TimedWay& trial : trials_) {
        const bool must = visit == 0 && trial.way == &kWays[0];
        const double expected = Expected(trial);
        if (!must && (Now() + expected > enough || SecondsNow() + expected > until)) continue;
        const double most = (visit < 4 ? kHopeless : kSlower) * best_[trial.point];
        if (visit > 1 && std::isfinite(trial.seconds) && trial.seconds > most) continue;
        trial.seconds = std::min(trial.seconds, SecondsOf(trial));
        best_[trial.point] = std::min(best_[trial.point], trial.seconds);
      }
    }
  }

  std::vector<PeakRate> Rates() const {
    std::vector<PeakRate> rates;
    std::vector<bool> done(best_.size());
    for (const TimedWay& trial : trials_) {
      if (!std::isfinite(best_[trial.point]) || done[trial.point]) continue;
      done[trial.point] = true;
      const std::int64_t bytes = trial.counted * threads_;
      rates.push_back({trial.way->kind, Bytes{bytes}, DataType::kNone, threads_,
                       static_cast<double>(bytes) / best_[trial.point], "measured"});
    }
    return rates;
  }

 private:
  // A thread that is alone needs no longer than it is on the processor: what others take of it is not its time. Of
  // several that would leave out how they wait for each other's memory.
  double Now() const { return threads_ == 1 ? ProcessorSeconds() : SecondsNow(); }

  static std::size_t PointOf(PeakRate::Kind kind, std::size_t part) {
    return 3 * part + (kind == PeakRate::Kind::kRead ? 0 : kind == PeakRate::Kind::kCopy ? 1 : 2);
  }

  // In whole pages, of each thread; all of the bytes where nothing is streamed past them.
  std::int64_t ResidentOf(const Way& way, std::int64_t bytes) const {
    if (way.past == nullptr) return bytes;
    const double share = way.kind == PeakRate::Kind::kCopy ? 0.5 : 1.0;
    return static_cast<std::int64_t>(way.resident * share * static_cast<double>(last_level_ / threads_)) / kPage *
           kPage;
  }

  // A visit's time, from what the same set has taken before.
  double Expected(const TimedWay& trial) const {
    double pass = best_[trial.point];
    if (!std::isfinite(pass)) pass = 2 * best_[trial.point - trial.point % 3];
    const double rounds = static_cast<double>(RoundsOf(trial)) + (IsLarge(trial) ? 0 : 1);
    return std::isfinite(pass) ? pass * rounds * (IsOnce(trial) ? 1 : 2) : 0;
  }

  // In which one pass is long enough to be timed alone, and forgets what was in the caches before.
  bool IsLarge(const TimedWay& trial) const { return trial.counted * threads_ >= kLargeBytes; }
  bool IsOnce(const TimedWay& trial) const { return IsLarge(trial) && !trial.way->to_and_fro; }
  static std::int64_t RoundsOf(const TimedWay& trial) {
    return std::max<std::int64_t>(1, kVisitBytes / 2 / trial.counted);
  }

  double SecondsOf(const TimedWay& trial) const {
    const std::int64_t rounds = RoundsOf(trial), resident = ResidentOf(*trial.way, trial.bytes);
    const bool once = IsOnce(trial);
    double sink = 0;
    const auto touch = [&](std::int64_t times) {
#pragma omp parallel num_threads(static_cast <int>(threads_)) reduction(+ : sink)
      {
        char* const base = pieces_.Of(omp_get_thread_num());
        for (std::int64_t round = 0; round < times; ++round)
          sink += Pass(*trial.way, base, trial.bytes, trial.bytes, resident, once);
      }
    };
    // What another set has left in the caches is not this one's steady state.
    if (!IsLarge(trial)) touch(1);
    const double begin = Now();
    touch(rounds);
    const double seconds = std::max(Now() - begin, 1e-9) / static_cast<double>(once ? rounds : 2 * rounds);
    // The sum is used, so that no read can be left out.
    return sink == 12345 ? std::numeric_limits<double>::infinity() : seconds;
  }

  std::int64_t last_level_;
  std::int64_t threads_;
  const Pieces& pieces_;
  std::vector<TimedWay> trials_;  // of each way all sets
  std::vector<double> best_;      // seconds of a pass, by point: of each set reading, copying, writing
};

}  // namespace

std::vector<std::int64_t> MemoryParts(PeakDetail detail, std::int64_t last_level, std::int64_t most,
                                      std::int64_t threads) {
  const std::int64_t reach =
      std::max(kLeastPart, std::min({std::max(8 * last_level, kLeastReach), kMostReach, most}) / threads);
  const std::int64_t level = std::max(last_level / threads, kLeastPart);
  const bool whole = detail == PeakDetail::kWhole;
  std::vector<std::int64_t> parts;
  const auto add = [&](double bytes) {
    const std::int64_t part = std::llround(bytes / kPage) * kPage;
    if (part >= kLeastPart && part <= reach && (parts.empty() || part > parts.back())) parts.push_back(part);
  };
  const double small = static_cast<double>(std::min(level / 3, kMostSmall));
  for (int step = 0;; ++step) {
    const double bytes = static_cast<double>(kLeastPart) * std::exp2(whole ? 0.5 * step : step);
    if (bytes > static_cast<double>(whole ? reach : small)) break;
    add(bytes);
  }
  if (!whole)
    for (const double times : {0.5, 2.0}) add(times * static_cast<double>(level));
  add(static_cast<double>(reach / kPage * kPage));
  return parts;
}

Result<std::vector<PeakRate>> MeasureMemory(PeakDetail detail, std::int64_t threads) {
  const double start = SecondsNow();
  const std::int64_t last_level = LastLevelOf(threads);
  std::int64_t most = MemoryToUse();
  std::vector<std::int64_t> parts;
  std::optional<Pieces> pieces;
  for (; !pieces && most >= kLeastPart; most /= 2) {
    parts = MemoryParts(detail, last_level, most, threads);
    pieces = Pieces::Make(parts.back(), threads);
  }
  if (!pieces) return Error{"no memory is left to measure its rates with; free some and try again"};
  Curve curve(parts, last_level, threads, *pieces);
  if (detail == PeakDetail::kWhole) {
    curve.Measure(kWholeSeconds, start + kPatience * kWholeSeconds);
  } else {
    curve.Measure(kFirstSeconds, start + kFirstSeconds);
  }
  std::vector<PeakRate> rates = curve.Rates();
  double far = 0;
  for (const PeakRate& rate : rates)
    if (rate.kind == PeakRate::Kind::kRead) far = 1 / rate.per_second;  // at last that of the largest set
  double sink = 0;
  const auto read = [&](std::int64_t bytes) {
#pragma omp parallel num_threads(static_cast <int>(threads)) reduction(+ : sink)
    sink += Kernels().read(pieces->Of(omp_get_thread_num()), bytes);
  };
  if (std::optional<PeakRate> kept = MeasureRetention(detail, threads, last_level, far, read); kept && sink != 12345)
    rates.push_back(*std::move(kept));
  return rates;
}

}  // namespace infimum::cpu
