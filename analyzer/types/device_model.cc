#include "analyzer/types/device_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::string_view kDataSheet = "data sheet";

// Of bytes from memory over near ones. Times that are closer tell nothing of where the bytes are, and a row with
// weights from memory can say little that the others do not.
constexpr double kLeastContrast = 1.05;

// Neighbouring working sets of a whole curve are no farther apart.
constexpr double kWholeStep = 1.5;

struct MemoryPoint {
  PeakRate::Kind kind;
  std::int64_t threads;
  double working_set;
  double rate;  // of these threads
};

// What `threads` cores reach at best, from what `rate.threads` did: never more than in proportion. A rate
// of more cores than asked for is used unchanged, too high rather than too low.
double RateOf(const PeakRate& rate, std::int64_t threads) {
  if (rate.threads >= threads || rate.threads <= 0) return rate.per_second;
  return rate.per_second * static_cast<double>(threads) / static_cast<double>(rate.threads);
}

bool IsUsable(double rate) { return std::isfinite(rate) && rate > 0; }

// What `points` say of the least time that `threads` cores need: of as many cores, where they were tried. Otherwise
// more cores need no longer, and of `threads` cores some group of fewer has its share of the bytes, in which it is no
// faster than they alone.
std::vector<TouchTime> TouchTimesOf(const std::vector<MemoryPoint>& points, std::int64_t threads,
                                    std::optional<PeakRate::Kind> kind) {
  const bool tried = std::ranges::find(points, threads, &MemoryPoint::threads) != points.end();
  std::vector<TouchTime> times;
  for (const MemoryPoint& point : points) {
    if ((kind && point.kind != *kind) || !(point.working_set > 0) || (tried && point.threads != threads)) continue;
    const double groups = std::max(1.0, static_cast<double>(threads) / static_cast<double>(point.threads));
    times.push_back({point.working_set * groups, point.working_set / point.rate});
  }
  return times;
}

// The rate by which bytes beyond `nearer` come at best. Of memory, which is behind all levels, the largest working set
// has least from them; a level's own rate is no higher than the best of a set that it holds.
double BestRateBeyond(const std::vector<MemoryPoint>& points, double nearer, double reach) {
  double largest = 0;
  for (const MemoryPoint& point : points) largest = std::max(largest, point.working_set);
  double best = 0;
  for (const MemoryPoint& point : points) {
    const bool counts =
        std::isfinite(reach) ? point.working_set <= reach : point.working_set == largest && point.working_set > nearer;
    if (counts) best = std::max(best, point.rate);
  }
  return best;
}

double SecondsBeyond(const MemoryLevel& level, double bytes) {
  return std::max(0.0, bytes - level.nearer) * level.seconds_per_byte;
}

bool IsMeasured(const PeakRate& peak) { return !std::string_view(peak.source).starts_with(kDataSheet); }

// Families whose compulsory bytes are surely moved by every run, so that a time shows a rate.
bool ShowsBandwidth(const Workload& workload) {
  const auto* config = std::get_if<LayerConfig>(&workload);
  if (config == nullptr) return false;
  if (const auto* movement = std::get_if<MovementConfig>(config))
    return movement->kind == MovementKind::kCopy || movement->kind == MovementKind::kTranspose ||
           movement->kind == MovementKind::kConcat;
  return std::holds_alternative<PointwiseConfig>(*config) || std::holds_alternative<MatMulConfig>(*config) ||
         std::holds_alternative<ReductionConfig>(*config) || std::holds_alternative<SoftmaxConfig>(*config) ||
         std::holds_alternative<NormalizationConfig>(*config);
}

// Products done by the textbook's sum, so that FLOPs / time is a rate of the units. Winograd and FFT do
// with fewer multiplications and would show a rate that no unit has.
bool ShowsArithmetic(const Workload& workload, std::string_view algorithm) {
  const auto* config = std::get_if<LayerConfig>(&workload);
  if (config == nullptr) return false;
  if (std::holds_alternative<MatMulConfig>(*config)) return true;
  return std::holds_alternative<ConvolutionConfig>(*config) && IsDirect(algorithm);
}

}  // namespace

bool IsDirect(std::string_view algorithm) {
  const auto names = [&](std::string_view word) { return algorithm.find(word) != std::string_view::npos; };
  return !names("wino") && !names("fft") && !names("auto");
}

bool HasWholeMemoryCurve(const DevicePeaks& peaks, std::int64_t threads) {
  std::vector<double> sets;
  for (const PeakRate& peak : peaks.rates)
    if (peak.kind == PeakRate::Kind::kRead && peak.threads == threads && IsMeasured(peak) && peak.working_set.value > 0)
      sets.push_back(static_cast<double>(peak.working_set.value));
  std::ranges::sort(sets);
  return sets.size() > 1 && std::ranges::adjacent_find(
                                sets, [](double low, double high) { return high > kWholeStep * low; }) == sets.end();
}

std::vector<CacheSize> CachesOf(const DeviceKey& device) {
  std::map<std::string, double> found;  // sorted by name, which is by distance
  for (std::string_view part : Split(device.text, '/')) {
    const std::size_t equals = part.find('=');
    if (equals != 2 || part[0] != 'l' || part[1] < '1' || part[1] > '9') continue;
    std::string_view size = part.substr(equals + 1);
    double unit = 1;
    if (!size.empty()) {
      const char suffix = size.back();
      if (suffix == 'K') unit = 1024;
      if (suffix == 'M') unit = 1024.0 * 1024;
      if (suffix == 'G') unit = 1024.0 * 1024 * 1024;
      if (unit > 1) size.remove_suffix(1);
    }
    const std::optional<double> number = ParseNumber(size);
    if (number && *number > 0) found[std::string(part.substr(0, equals))] = *number * unit;
  }
  std::vector<CacheSize> caches;
  for (const auto& [name, bytes] : found) caches.push_back({name, bytes});
  return caches;
}

Result<DeviceModel> DeviceModel::Make(const DeviceKey& device, const DevicePeaks& peaks, std::int64_t threads,
                                      NumericContract contract) {
  DeviceModel model;
  std::vector<MemoryPoint> points;
  double data_sheet_bandwidth = 0;
  std::map<double, double> copy_curve, other_curve;
  const bool knows_tf32 =
      std::ranges::any_of(peaks.rates, [](const PeakRate& peak) { return peak.kind == PeakRate::Kind::kTf32; });
  for (const PeakRate& peak : peaks.rates) {
    const double rate = RateOf(peak, threads);
    if (!IsUsable(rate) || peak.working_set.value < 0) continue;
    const bool data_sheet = !IsMeasured(peak);
    if (peak.kind == PeakRate::Kind::kLaunch) {
      const Latency launch = std::chrono::duration<double>(1 / peak.per_second);
      model.launch_ = model.launch_.count() > 0 ? std::min(model.launch_, launch) : launch;
      continue;
    }
    if (peak.kind == PeakRate::Kind::kRetention) {
      model.retention_ = std::max(model.retention_, Latency(std::chrono::duration<double>(peak.per_second)));
      model.own_caches_ = std::max(model.own_caches_, static_cast<double>(peak.working_set.value));
      continue;
    }
    if (peak.kind == PeakRate::Kind::kTf32 && contract != NumericContract::kTf32) continue;
    // Plain f32 says nothing of TF32, which may be several times as fast: unknown, it is borrowed like any other.
    const bool is_f32 = peak.kind == PeakRate::Kind::kArithmetic && peak.type == DataType::kF32;
    if (is_f32 && contract == NumericContract::kTf32 && !knows_tf32) continue;
    if (!peak.is_memory()) {
      const std::size_t type =
          static_cast<std::size_t>(peak.kind == PeakRate::Kind::kTf32 ? DataType::kF32 : peak.type);
      if (type >= model.arithmetic_.size()) continue;
      model.arithmetic_[type] = std::max(model.arithmetic_[type], rate);
      model.arithmetic_data_sheet_ |= data_sheet;
      continue;
    }
    if (data_sheet) {
      data_sheet_bandwidth = std::max(data_sheet_bandwidth, rate);
      model.memory_data_sheet_ = true;
      continue;
    }
    const double working_set = static_cast<double>(peak.working_set.value);
    points.push_back({peak.kind, std::max<std::int64_t>(peak.threads, 1), working_set, peak.per_second});
    // The curve that estimates is of just the threads asked for where there is one: it is no bound.
    if (working_set <= 0 || peak.threads > threads) continue;
    double& at = (peak.kind == PeakRate::Kind::kCopy ? copy_curve : other_curve)[working_set];
    at = std::max(at, peak.per_second);
  }
  for (const auto& [working_set, rate] : copy_curve.empty() ? other_curve : copy_curve)
    model.copy_curve_.push_back({working_set, rate});

  if (points.empty() && data_sheet_bandwidth <= 0)
    return Error{"device " + Quoted(device.text) +
                 ": no peak rates are known, neither measured nor from a data sheet; run `infimum "
                 "analyze` on it with the same --threads, which measures them"};

  // Curves say more than a data sheet of a processor, whose bandwidth counts for every byte beyond nominal caches.
  if (!device.text.starts_with("gpu") && !points.empty()) {
    const auto curve = [&](std::optional<PeakRate::Kind> kind) {
      return TouchCurve(TouchTimesOf(points, threads, kind));
    };
    model.curves_ = Touched{curve(PeakRate::Kind::kRead), curve(PeakRate::Kind::kWrite), curve(PeakRate::Kind::kCopy),
                            curve(std::nullopt)};
    model.coarse_memory_ = !HasWholeMemoryCurve(peaks, threads);
    model.memory_data_sheet_ = false;
    return model;
  }

  const auto add_level = [&](std::string name, double nearer, double reach, double known) {
    const double rate = std::max(known, BestRateBeyond(points, nearer, reach));
    // A level of which nothing is known is left out: its bytes count as if they were nearer.
    if (rate > 0) model.levels_.push_back({std::move(name), nearer, 1 / rate});
  };
  const std::vector<CacheSize> caches = CachesOf(device);
  double sum = 0;
  for (const CacheSize& cache : caches) sum += cache.bytes;
  // What the device's key does not name is nearer than what it does: registers, memory of a multiprocessor's own.
  double nearer = std::max(0.0, static_cast<double>(peaks.nearer_than_memory.value) - sum);
  for (const CacheSize& cache : caches) {
    add_level(cache.name, nearer, nearer + cache.bytes, 0);
    nearer += cache.bytes;
  }
  add_level("memory", nearer, std::numeric_limits<double>::infinity(), data_sheet_bandwidth);
  // A level that only farther bytes were seen to cross faster is at least as fast as they were.
  for (std::size_t i = model.levels_.size(); i-- > 1;)
    model.levels_[i - 1].seconds_per_byte =
        std::min(model.levels_[i - 1].seconds_per_byte, model.levels_[i].seconds_per_byte);
  return model;
}

Result<DeviceModel> DeviceModel::Make(MeasurementSource& source, const Selection& selection) {
  INFIMUM_ASSIGN_OR_RETURN(const DevicePeaks peaks, source.Peaks(selection.device));
  return Make(selection.device, peaks, selection.threads, selection.contract.value_or(NumericContract::kStrictF32));
}

void DeviceModel::Observe(const Workload& workload, const Work& work, std::string_view algorithm, Latency latency) {
  const double seconds = std::chrono::duration<double>(latency).count();
  if (!IsUsable(seconds)) return;
  if (ShowsArithmetic(workload, algorithm)) {
    const OperandTypes& types = TypesOf(std::get<LayerConfig>(workload));
    const std::size_t type = static_cast<std::size_t>(types.input);
    const double rate = static_cast<double>(work.conventional.value) / seconds;
    // Only where a peak of the type was measured: one row alone does not make a peak.
    if (IsUsable(rate) && arithmetic_[type] > 0) arithmetic_[type] = std::max(arithmetic_[type], rate);
  }
  if (!ShowsBandwidth(workload)) return;
  const double read = static_cast<double>(work.read().value);
  const double written = static_cast<double>(work.written.value);
  if (curves_) {
    // Whoever touched all of it touched each part of it, too.
    curves_->read.Observe({read, seconds});
    curves_->written.Observe({written, seconds});
    curves_->copied.Observe({2 * std::min(read, written), seconds});
    curves_->any.Observe({read + written, seconds});
  }
  for (MemoryLevel& level : levels_) {
    const double least = SecondsBeyond(level, read + written);
    if (least > seconds) level.seconds_per_byte *= seconds / least;
  }
}

Status DeviceModel::Multiply(std::string_view rate, double factor) {
  if (rate == "memory") {
    memory_factor_ *= factor;
    return {};
  }
  if (rate == "launch" && launch_ > Latency(0)) {
    launch_ /= factor;
    return {};
  }
  std::vector<std::string> known = {"memory"};
  if (launch_ > Latency(0)) known.emplace_back("launch");
  for (std::size_t type = 0; type < arithmetic_.size(); ++type) {
    if (!(arithmetic_[type] > 0)) continue;
    known.emplace_back(Name(static_cast<DataType>(type)));
    if (known.back() != rate) continue;
    arithmetic_[type] *= factor;
    return {};
  }
  return Error{"no peak of " + Quoted(rate) + " is known of this device; known are those of " + Join(known, ", ")};
}

MemoryFloor DeviceModel::Memory(double read, double written) const {
  if (curves_) {
    const double seconds =
        std::max({curves_->read.SecondsFor(read), curves_->written.SecondsFor(written),
                  curves_->copied.SecondsFor(2 * std::min(read, written)), curves_->any.SecondsFor(read + written)});
    return {std::chrono::duration<double>(seconds / memory_factor_), "memory"};
  }
  MemoryFloor floor;
  for (const MemoryLevel& level : levels_) {
    const Latency latency = std::chrono::duration<double>(SecondsBeyond(level, read + written) / memory_factor_);
    if (latency < floor.latency || (latency == floor.latency && !floor.level.empty())) continue;
    floor = {latency, level.name};
  }
  return floor;
}

Latency DeviceModel::FarTime(double bytes) const {
  const double each = curves_           ? curves_->read.SecondsForFarByte()
                      : levels_.empty() ? 0
                                        : levels_.back().seconds_per_byte;
  return std::chrono::duration<double>(bytes * each / memory_factor_);
}

double DeviceModel::ShareNear(double part, double all) const {
  if (!(part > 0) || part >= all) return 1;
  if (!curves_) return levels_.empty() || all <= levels_.back().nearer ? 1 : 0;
  const TouchCurve& read = curves_->read;
  const double near = read.SecondsFor(part) / part, here = read.SecondsFor(all) / all, far = read.SecondsForFarByte();
  if (!(far > kLeastContrast * near)) return 1;
  const double most = std::clamp((far - here) / (far - near), 0.0, 1.0);
  if (!(most > 0) || !(most < 1)) return most;
  // Ascends to the smaller root; the other is 1.
  double kept = 0;
  for (int i = 0; i < 100; ++i) {
    const double next = std::exp((kept - 1) / most);
    if (next - kept < 1e-9) break;
    kept = next;
  }
  return kept;
}

double DeviceModel::ShareKept(double all, Latency between) const {
  if (!(retention_ > Latency(0)) || all <= own_caches_) return 1;
  return std::exp(-(between / retention_));
}

bool DeviceModel::HasArithmetic(DataType type) const { return arithmetic_[static_cast<std::size_t>(type)] > 0; }

std::optional<FlopsPerSecond> DeviceModel::Arithmetic(DataType type) const {
  if (HasArithmetic(type)) return FlopsPerSecond{arithmetic_[static_cast<std::size_t>(type)]};
  double best = 0;
  for (std::size_t other = 0; other < arithmetic_.size(); ++other)
    if (arithmetic_[other] > 0 && BitsPerElement(static_cast<DataType>(other)) <= BitsPerElement(type))
      best = std::max(best, arithmetic_[other]);
  return best > 0 ? std::optional(FlopsPerSecond{best}) : std::nullopt;
}

std::optional<Latency> DeviceModel::CopyTime(double bytes) const {
  if (copy_curve_.empty()) return std::nullopt;
  if (!(bytes > 0)) return Latency(0);
  const auto after = std::lower_bound(copy_curve_.begin(), copy_curve_.end(), bytes,
                                      [](const CurvePoint& point, double size) { return point.working_set < size; });
  double rate = 0;
  if (after == copy_curve_.begin()) {
    rate = after->rate;
  } else if (after == copy_curve_.end()) {
    rate = copy_curve_.back().rate;
  } else {
    const CurvePoint& low = *(after - 1);
    const double share = std::log(bytes / low.working_set) / std::log(after->working_set / low.working_set);
    rate = std::exp(std::log(low.rate) + share * (std::log(after->rate) - std::log(low.rate)));
  }
  return std::chrono::duration<double>(bytes / rate);
}

}  // namespace infimum
