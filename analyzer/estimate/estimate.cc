#include "analyzer/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analyzer/floor/floor.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr double kYears = 1;         // between generations, after which a device's word counts by e less
constexpr double kUnknownYears = 4;  // apart, where a generation is not known
constexpr double kPriorRows = 3;     // as if so many rows lay where they are estimated
constexpr std::size_t kNeighbours = 4;
constexpr double kNearDistance = 0.25;  // nearer than this, in logarithms, one workload is as good as the other
constexpr double kMostMissing = 0.05;   // of the roofline: more of it has no interval
constexpr double kLeastKnown = 0.9;     // of a model's roofline on a device that it is calibrated on
constexpr double kFarthestOwn = 3;      // beyond, another shape's ratio says nothing: a prefill's of a step's
constexpr double kOfMemory = 4;         // operations a byte, below which memory decides on any device
constexpr std::size_t kLongest = 12;    // workloads that are considered for advice
constexpr double kLeastGain = 0.01;     // of the squared error, for advice

double Seconds(Latency latency) { return std::chrono::duration<double>(latency).count(); }

// A sum of numbers by weights.
struct Mean {
  double sum = 0, weight = 0;
  void Add(double value, double by) {
    sum += value * by;
    weight += by;
  }
  std::optional<double> value() const { return weight > 0 ? std::optional(sum / weight) : std::nullopt; }
};

// Seconds to compute or to move a workload without any cache, whichever is more; nullopt where the device has no peak
// of a type that may decide. `seconds_per_byte` is what bytes from memory cost.
std::optional<double> SecondsAtBest(const KeyedWorkload& of, const KnownDevice& device, double seconds_per_byte) {
  const auto bytes = static_cast<double>(of.work.read().value + of.work.written.value);
  double seconds = bytes * seconds_per_byte;
  for (const auto& [type, flops] : ConventionalFlopsOf(of.workload, of.work)) {
    const std::optional<FlopsPerSecond> rate = device.peaks.Arithmetic(type);
    if (!rate && flops > kOfMemory * bytes) return std::nullopt;
    if (rate) seconds = std::max(seconds, flops / (rate->value * device.clock));
  }
  return seconds;
}

using Number = std::size_t;
struct Use {
  Number workload = 0;
  double executions = 1;
};

// The question with numbers in place of keys. The target is the device behind the others.
class Table {
 public:
  explicit Table(const EstimateQuestion& question) : question_(question) {
    for (const auto& [key, keyed] : question.workloads) Add(keyed);
    model = UsesOf(question.model);
    for (const ModelWork& other : question.other_models) other_models.push_back(UsesOf(other));
    for (const KnownDevice& device : question.others) AddDevice(device);
    AddDevice(question.target);
    seen_.resize(devices());
    for (std::size_t device = 0; device < devices(); ++device)
      for (Number w = 0; w < workloads_.size(); ++w) seen_[device].push_back(MeanOfOthers(w, device));
    nearest_.resize(workloads_.size());
  }

  std::size_t devices() const { return ratios_.size(); }
  std::size_t target() const { return devices() - 1; }
  const KnownDevice& device(std::size_t place) const {
    return place == target() ? question_.target : question_.others[place];
  }
  std::size_t size() const { return workloads_.size(); }
  const KeyedWorkload& workload(Number w) const { return *workloads_[w]; }

  double YearsBetween(std::size_t a, std::size_t b) const {
    const std::optional<double>&year = device(a).year, &other = device(b).year;
    return year && other ? std::abs(*year - *other) : kUnknownYears;
  }
  // Of the devices with rows, without itself and the target, the one of the nearest generation.
  std::size_t NearestTo(std::size_t device_place) const {
    std::size_t nearest = device_place;
    for (std::size_t other = 0; other < target(); ++other) {
      if (other == device_place || question_.others[other].best.empty()) continue;
      if (nearest == device_place || YearsBetween(device_place, other) < YearsBetween(device_place, nearest))
        nearest = other;
    }
    return nearest;
  }
  // By how much more an estimate for the device may be wrong than for one of a generation that has others: errors walk
  // from year to year.
  double SpreadOf(std::size_t device_place) const {
    return std::sqrt(1 + YearsBetween(device_place, NearestTo(device_place)));
  }

  // nullopt where the device has no peak of a type.
  const std::optional<double>& RooflineOf(Number w, std::size_t device) const { return rooflines_[device][w]; }
  // The measured one, and that of other devices than the target, without this one, where they have this workload.
  const std::optional<double>& Ratio(Number w, std::size_t device) const { return ratios_[device][w]; }
  const std::optional<double>& Seen(Number w, std::size_t device) const { return seen_[device][w]; }

  // That of the nearest workloads of its family and type that other devices have, without `banned`.
  std::optional<double> Near(Number w, std::size_t device, const std::set<Number>& banned) {
    return MeanOfNearest(w, banned, seen_[device]);
  }
  // That of those which the device itself has.
  std::optional<double> NearOwn(Number w, std::size_t device) {
    return MeanOfNearest(w, {}, ratios_[device], kFarthestOwn);
  }

  std::vector<Use> model;
  std::vector<std::vector<Use>> other_models;

 private:
  std::optional<double> MeanOfNearest(Number w, const std::set<Number>& banned,
                                      const std::vector<std::optional<double>>& known, double farthest = INFINITY) {
    Mean mean;
    std::size_t count = 0;
    for (const auto& [distance, other] : NearestOf(w)) {
      if (distance > farthest) break;
      if (banned.contains(other) || !known[other]) continue;
      mean.Add(*known[other], 1 / (kNearDistance + distance));
      if (++count == kNeighbours) break;
    }
    return mean.value();
  }

  Number Add(const KeyedWorkload& keyed) {
    const auto [place, is_new] = ids_.emplace(keyed.key, workloads_.size());
    if (is_new) workloads_.push_back(&keyed);
    return place->second;
  }
  std::vector<Use> UsesOf(const ModelWork& work) {
    std::vector<Use> uses;
    for (const WorkloadUse& use : work) uses.push_back({Add(use.of), use.executions});
    return uses;
  }

  void AddDevice(const KnownDevice& device) {
    // Beyond those that stay near.
    constexpr double kMuch = 1e13;
    const double seconds_per_byte =
        Seconds(device.peaks.Memory(2 * kMuch, 0).latency - device.peaks.Memory(kMuch, 0).latency) / kMuch;
    std::vector<std::optional<double>>&rooflines = rooflines_.emplace_back(), &ratios = ratios_.emplace_back();
    for (const KeyedWorkload* keyed : workloads_) {
      rooflines.push_back(SecondsAtBest(*keyed, device, seconds_per_byte));
      const auto found = device.best.find(keyed->key);
      const bool is_known = found != device.best.end() && rooflines.back() && *rooflines.back() > 0;
      const double time = is_known ? Seconds(found->second) : 0;
      ratios.push_back(time > 0 ? std::optional(std::log(time / *rooflines.back())) : std::nullopt);
    }
  }

  std::optional<double> MeanOfOthers(Number w, std::size_t device_place) const {
    Mean mean;
    for (std::size_t other = 0; other < target(); ++other) {
      if (other == device_place || !ratios_[other][w]) continue;
      mean.Add(*ratios_[other][w], std::exp(-YearsBetween(device_place, other) / kYears));
    }
    return mean.value();
  }

  const std::vector<std::pair<double, Number>>& NearestOf(Number w) {
    if (nearest_[w]) return *nearest_[w];
    std::vector<std::pair<double, Number>>& nearest = nearest_[w].emplace();
    const KeyedWorkload& of = workload(w);
    const auto kind = [](const KeyedWorkload& keyed) {
      const auto* config = std::get_if<LayerConfig>(&keyed.workload);
      return std::pair(FamilyOf(keyed.workload), config != nullptr ? TypesOf(*config).input : DataType::kNone);
    };
    const auto far = [](double a, double b) { return std::log((1 + a) / (1 + b)); };
    for (Number other = 0; other < workloads_.size(); ++other) {
      const Work &a = of.work, &b = workload(other).work;
      if (other == w || kind(workload(other)) != kind(of)) continue;
      const double flops = far(static_cast<double>(a.conventional.value), static_cast<double>(b.conventional.value));
      const double bytes = far(static_cast<double>(a.read().value + a.written.value),
                               static_cast<double>(b.read().value + b.written.value));
      nearest.emplace_back(std::sqrt(flops * flops + bytes * bytes), other);  // std::hypot needs glibc 2.35
    }
    std::ranges::sort(nearest);
    return nearest;
  }

  const EstimateQuestion& question_;
  std::map<WorkloadKey, Number> ids_;
  std::vector<const KeyedWorkload*> workloads_;
  std::vector<std::vector<std::optional<double>>> rooflines_, ratios_, seen_;   // by device and workload
  std::vector<std::optional<std::vector<std::pair<double, Number>>>> nearest_;  // by workload
};

// A model on a device, ready to be added up: what is estimated of each workload, whatever the device's own rows shift.
struct Laid {
  struct Part {
    Number workload = 0;
    double roofline = 0;                         // seconds, of all executions
    std::optional<double> measured, seen, near;  // logarithms over it
    bool is_near_own = false;                    // `near` is of the device's own rows
  };
  std::size_t device = 0;
  std::vector<Part> parts;
  double missing = 0;  // of the roofline, where nothing is known
};

// `is_calibrating`: what is measured is the truth, and its near workloads are none of the model's own.
Laid Lay(Table& table, const std::vector<Use>& model, std::size_t device, bool is_calibrating) {
  Laid laid{device, {}, 0};
  std::set<Number> banned;
  for (const Use& use : model) banned.insert(use.workload);
  double all = 0;
  for (const Use& use : model) {
    const std::optional<double>& roofline = table.RooflineOf(use.workload, device);
    if (!roofline) continue;
    all += *roofline * use.executions;
    Laid::Part part{use.workload,
                    *roofline * use.executions,
                    table.Ratio(use.workload, device),
                    table.Seen(use.workload, device),
                    {},
                    false};
    if (is_calibrating || !part.seen) part.near = table.Near(use.workload, device, banned);
    if (!is_calibrating && !part.seen && !part.near) {
      part.near = table.NearOwn(use.workload, device);
      part.is_near_own = part.near.has_value();
    }
    const bool is_known =
        is_calibrating ? part.measured && (part.seen || part.near) : part.measured || part.seen || part.near;
    if (is_known) {
      laid.parts.push_back(part);
    } else {
      laid.missing += part.roofline;
    }
  }
  laid.missing = all > 0 ? laid.missing / all : 1;
  return laid;
}

// By how much the rows that a device has of its own lie beside what the others say of it.
double ShiftOf(const Table& table, std::size_t device, const std::set<Number>& own) {
  Mean mean{0, kPriorRows};
  for (const Number w : own)
    if (table.Ratio(w, device) && table.Seen(w, device)) mean.Add(*table.Ratio(w, device) - *table.Seen(w, device), 1);
  return *mean.value();
}

// Seconds: of the workloads that are `own`, of those that others have, and of near ones.
struct Sum {
  double own = 0, seen = 0, near = 0;
  double all() const { return own + seen + near; }
};

// A share `unseen` of what is not `own` as if no device had it.
Sum Add(const Laid& laid, const std::set<Number>& own, double shift, double unseen) {
  Sum sum;
  for (const Laid::Part& part : laid.parts) {
    if (part.measured && own.contains(part.workload)) {
      sum.own += part.roofline * std::exp(*part.measured);
      continue;
    }
    const double near = !part.seen ? 1 : part.near ? unseen : 0;
    if (near < 1) sum.seen += (1 - near) * part.roofline * std::exp(*part.seen + shift);
    if (near > 0) sum.near += near * part.roofline * std::exp(*part.near + (part.is_near_own ? 0 : shift));
  }
  return sum;
}

// Models on devices that are left out in turn.
struct Calibration {
  std::vector<Laid> left_out;
  std::vector<double> truth;  // seconds
  std::size_t devices = 0, models = 0;

  struct Errors {
    double factor = 1, squares = 0;
  };
  // Each device as much as any other.
  Errors ErrorsWith(const Table& table, const std::set<Number>& own, double unseen, double level) const {
    std::map<std::size_t, double> weight;  // of each error of a device
    for (const Laid& laid : left_out) weight[laid.device] += 1;
    std::vector<std::pair<double, double>> errors;
    Errors result;
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      const Laid& laid = left_out[i];
      const double shift = ShiftOf(table, laid.device, own), part = 1 / weight[laid.device];
      errors.emplace_back(
          std::abs(std::log(truth[i] / Add(laid, own, shift, unseen).all())) / table.SpreadOf(laid.device), part);
      result.squares += part * errors.back().first * errors.back().first;
    }
    std::ranges::sort(errors);
    double counted = 0;
    for (const auto& [error, part] : errors) {
      result.factor = std::exp(error * table.SpreadOf(table.target()));
      if ((counted += part) >= level * (static_cast<double>(devices) + 1) - 1e-9) break;
    }
    return result;
  }
};

Calibration CalibrateOn(Table& table, const std::vector<const std::vector<Use>*>& models) {
  Calibration calibration;
  std::set<std::size_t> devices;
  for (const std::vector<Use>* model : models) {
    bool any = false;
    for (std::size_t device = 0; device < table.target(); ++device) {
      Laid laid = Lay(table, *model, device, true);
      if (laid.missing > 1 - kLeastKnown || laid.parts.empty()) continue;
      any = true;
      devices.insert(device);
      double truth = 0;
      for (const Laid::Part& part : laid.parts) truth += part.roofline * std::exp(*part.measured);
      calibration.truth.push_back(truth);
      calibration.left_out.push_back(std::move(laid));
    }
    calibration.models += any ? 1 : 0;
  }
  calibration.devices = devices.size();
  return calibration;
}

// Of K devices left out, as far as these allow.
double LevelWith(std::size_t devices, double wanted) {
  const double count = static_cast<double>(devices);
  return std::min(wanted, count / (count + 1));
}

struct Prepared {
  Table table;
  std::set<Number> own;
  Laid laid;
  Calibration calibration;
  double shift = 0;
  Sum sum;
  double level = 0;
  double unseen() const { return sum.seen + sum.near > 0 ? sum.near / (sum.seen + sum.near) : 0; }
};

Result<Prepared> Prepare(const EstimateQuestion& question) {
  Prepared made{Table(question), {}, {}, {}, 0, {}, 0};
  Table& table = made.table;
  const auto has_rows = [](const KnownDevice& device) { return !device.best.empty(); };
  if (!has_rows(question.target) && std::ranges::none_of(question.others, has_rows))
    return Error{"no device of this kind has rows under this selection; `infimum import` takes those of others"};
  for (const Use& use : table.model)
    if (!table.RooflineOf(use.workload, table.target()))
      return Error{"the arithmetic of " + Quoted(question.target.name) + " is not known in a type that " +
                   Quoted(table.workload(use.workload).key.text) + " computes in: no data sheet and no peak has it"};
  for (Number w = 0; w < table.size(); ++w)
    if (table.Ratio(w, table.target())) made.own.insert(w);
  made.laid = Lay(table, table.model, table.target(), false);
  made.shift = ShiftOf(table, table.target(), made.own);
  made.sum = Add(made.laid, made.own, made.shift, 0);
  if (!(made.sum.all() > 0))
    return Error{"no device has a row of any family of layers that the model consists of; nothing can be estimated"};
  std::vector<const std::vector<Use>*> models = {&table.model};
  made.calibration = CalibrateOn(table, models);
  if (LevelWith(made.calibration.devices, question.level) < question.level) {
    for (const std::vector<Use>& other : table.other_models) models.push_back(&other);
    made.calibration = CalibrateOn(table, models);
  }
  made.level = LevelWith(made.calibration.devices, question.level);
  return made;
}

}  // namespace

Result<Estimate> EstimateModel(const EstimateQuestion& question) {
  INFIMUM_ASSIGN_OR_RETURN(const Prepared made, Prepare(question));
  Estimate estimate;
  const double all = made.sum.all();
  estimate.latency = std::chrono::duration<double>(all);
  estimate.measured = made.sum.own / all;
  estimate.transferred = made.sum.seen / all;
  estimate.neighbours = made.sum.near / all;
  estimate.missing = made.laid.missing;
  estimate.devices = made.calibration.devices;
  estimate.models = made.calibration.models;
  if (made.calibration.devices == 0 || made.laid.missing > kMostMissing) return estimate;
  estimate.level = made.level;
  const double factor = made.calibration.ErrorsWith(made.table, made.own, made.unseen(), made.level).factor;
  estimate.interval = Interval{estimate.latency / factor, estimate.latency * factor};
  return estimate;
}

Result<std::vector<MeasureNext>> WhatToMeasureNext(const EstimateQuestion& question, std::size_t most) {
  INFIMUM_ASSIGN_OR_RETURN(const Prepared made, Prepare(question));
  std::vector<MeasureNext> advice;
  if (made.calibration.devices == 0) return advice;
  const Table& table = made.table;
  std::map<Number, double> seconds;  // of what could be measured
  for (const Laid::Part& part : made.laid.parts)
    if (!made.own.contains(part.workload))
      seconds[part.workload] += part.roofline * std::exp(part.seen ? *part.seen : *part.near);
  // Of many the best would be so by chance: those that take longest.
  std::vector<Number> longest;
  for (const auto& [w, time] : seconds) longest.push_back(w);
  std::ranges::sort(longest, std::ranges::greater(), [&](Number w) { return seconds[w]; });
  longest.resize(std::min(longest.size(), kLongest));

  // A target without any row is not at hand: what no device has is measured on the one that is most like it.
  const auto is_for_target = [&](Number w) { return !made.own.empty() || table.Seen(w, table.target()).has_value(); };
  // With these measured, too.
  const auto errors_with = [&](const std::set<Number>& chosen) {
    std::set<Number> own = made.own;
    Sum sum;
    for (const Number w : chosen)
      if (is_for_target(w)) own.insert(w);
    for (const auto& [w, time] : seconds)
      if (!own.contains(w)) (table.Seen(w, table.target()) || chosen.contains(w) ? sum.seen : sum.near) += time;
    return made.calibration.ErrorsWith(table, own, sum.all() > 0 ? sum.near / sum.all() : 0, made.level);
  };
  std::set<Number> chosen;
  Calibration::Errors now = errors_with(chosen);
  while (advice.size() < most) {
    std::optional<Number> next;
    Calibration::Errors best = now;
    for (const Number w : longest) {
      if (chosen.contains(w)) continue;
      std::set<Number> with = chosen;
      with.insert(w);
      const Calibration::Errors errors = errors_with(with);
      if (errors.squares >= best.squares) continue;
      best = errors;
      next = w;
    }
    if (!next || best.squares > (1 - kLeastGain) * now.squares) break;
    chosen.insert(*next);
    now = best;
    const std::size_t device = is_for_target(*next) ? table.target() : table.NearestTo(table.target());
    advice.push_back({table.device(device).name, table.workload(*next).key, now.factor});
  }
  return advice;
}

}  // namespace infimum
