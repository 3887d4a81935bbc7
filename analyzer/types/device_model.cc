#include "analyzer/types/device_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::string_view kDataSheet = "data sheet";

// A curve's point shows the rate of what is beyond `nearer` bytes only where those nearer bytes are a small
// part of its working set; otherwise its rate is mostly a nearer cache's. The larger the factor, the truer
// the rate, so the largest that some point of the level itself reaches is taken.
constexpr std::array kBeyondFactors = {8.0, 4.0, 2.0, 1.0};

struct RatePoint {
  PeakRate::Kind kind;
  double working_set;
  double rate;  // of all the threads that a bound may use
};

// What `threads` cores reach at best, from what `rate.threads` did: never more than in proportion. A rate
// of more cores than asked for is used unchanged, too high rather than too low.
double RateOf(const PeakRate& rate, std::int64_t threads) {
  if (rate.threads >= threads || rate.threads <= 0) return rate.per_second;
  return rate.per_second * static_cast<double>(threads) / static_cast<double>(rate.threads);
}

bool IsUsable(double rate) { return std::isfinite(rate) && rate > 0; }

// Of working sets that this level holds (`reach` bytes with all nearer ones) and of all larger ones; nullopt
// where no point is in the level.
std::optional<double> BestRateBeyond(const std::vector<RatePoint>& points, PeakRate::Kind kind, double nearer,
                                     double reach) {
  for (double factor : kBeyondFactors) {
    const double least = factor * nearer;
    bool any_in_level = false;
    double best = 0;
    for (const RatePoint& point : points) {
      if (point.kind != kind || point.working_set < least) continue;
      if (nearer > 0 && point.working_set <= nearer) continue;
      best = std::max(best, point.rate);
      any_in_level |= point.working_set <= reach;
    }
    if (any_in_level) return best;
  }
  return std::nullopt;
}

// The kinds that are not known move as fast as the fastest that is.
std::optional<MoveCost> CostBeyond(const std::vector<RatePoint>& points, double nearer, double reach) {
  const std::optional<double> read = BestRateBeyond(points, PeakRate::Kind::kRead, nearer, reach);
  const std::optional<double> copy = BestRateBeyond(points, PeakRate::Kind::kCopy, nearer, reach);
  const std::optional<double> write = BestRateBeyond(points, PeakRate::Kind::kWrite, nearer, reach);
  const double best = std::max({read.value_or(0), copy.value_or(0), write.value_or(0)});
  if (best <= 0) return std::nullopt;
  return MoveCost{1 / read.value_or(best), 1 / copy.value_or(best), 1 / write.value_or(best)};
}

double SecondsBeyond(const MemoryLevel& level, double read, double written) {
  const double beyond = read + written - level.nearer;
  if (!(beyond > 0)) return 0;
  // Which bytes stay in the nearer levels is the program's choice: the ones that cost most. The cost is
  // linear between even mixture and the pure ones, so its minimum is at an end or at the middle.
  const double least_written = std::max(0.0, beyond - read);
  const double most_written = std::min(written, beyond);
  double best = beyond * std::min(level.cost.At(least_written / beyond), level.cost.At(most_written / beyond));
  if (least_written < beyond / 2 && beyond / 2 < most_written) best = std::min(best, beyond * level.cost.copy);
  return best;
}

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

double MoveCost::At(double written_share) const {
  if (written_share <= 0.5) return read + (copy - read) * (written_share / 0.5);
  return copy + (write - copy) * ((written_share - 0.5) / 0.5);
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
  std::vector<RatePoint> points;
  double data_sheet_bandwidth = 0;
  std::map<double, double> copy_curve, other_curve;
  const bool knows_tf32 =
      std::ranges::any_of(peaks.rates, [](const PeakRate& peak) { return peak.kind == PeakRate::Kind::kTf32; });
  for (const PeakRate& peak : peaks.rates) {
    const double rate = RateOf(peak, threads);
    if (!IsUsable(rate) || peak.working_set.value < 0) continue;
    const bool data_sheet = std::string_view(peak.source).substr(0, kDataSheet.size()) == kDataSheet;
    if (peak.kind == PeakRate::Kind::kLaunch) {
      const Latency launch = std::chrono::duration<double>(1 / peak.per_second);
      model.launch_ = model.launch_.count() > 0 ? std::min(model.launch_, launch) : launch;
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
    points.push_back({peak.kind, working_set, rate});
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

  const auto add_level = [&](std::string name, double nearer, double reach, bool is_memory) {
    MoveCost cost = CostBeyond(points, nearer, reach).value_or(MoveCost{});
    if (is_memory && data_sheet_bandwidth > 0) {
      double best = 1 / data_sheet_bandwidth;
      if (cost.copy > 0) best = std::min({best, cost.read, cost.copy, cost.write});
      cost = {best, best, best};
    }
    // A level of which nothing is known is left out: its bytes count as if they were nearer.
    if (cost.copy > 0) model.levels_.push_back({std::move(name), nearer, cost});
  };
  const std::vector<CacheSize> caches = CachesOf(device);
  double nearer = 0;
  for (const CacheSize& cache : caches) {
    // L1 and L2 belong to a core; the nearest levels of all cores that a bound uses count together.
    const bool of_one_core = cache.name == "l1" || cache.name == "l2";
    const double capacity = cache.bytes * (of_one_core ? static_cast<double>(std::max<std::int64_t>(threads, 1)) : 1.0);
    add_level(cache.name, nearer, nearer + capacity, false);
    nearer += capacity;
  }
  nearer = std::max(nearer, static_cast<double>(peaks.nearer_than_memory.value));
  add_level("memory", nearer, std::numeric_limits<double>::infinity(), true);
  if (model.levels_.empty()) add_level("memory", 0, std::numeric_limits<double>::infinity(), true);
  // A level that only farther bytes were seen to cross faster is at least as fast as they were.
  for (std::size_t i = model.levels_.size(); i-- > 1;) {
    MoveCost& cost = model.levels_[i - 1].cost;
    const MoveCost& farther = model.levels_[i].cost;
    cost = {std::min(cost.read, farther.read), std::min(cost.copy, farther.copy), std::min(cost.write, farther.write)};
  }
  return model;
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
  for (MemoryLevel& level : levels_) {
    const double least = SecondsBeyond(level, read, written);
    if (least <= seconds) continue;
    const double faster = seconds / least;
    level.cost = {level.cost.read * faster, level.cost.copy * faster, level.cost.write * faster};
  }
}

MemoryFloor DeviceModel::Memory(double read, double written) const {
  MemoryFloor floor;
  for (const MemoryLevel& level : levels_) {
    const Latency latency = std::chrono::duration<double>(SecondsBeyond(level, read, written));
    if (latency < floor.latency || (latency == floor.latency && !floor.level.empty())) continue;
    floor = {latency, level.name};
  }
  return floor;
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
