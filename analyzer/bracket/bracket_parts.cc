#include "analyzer/bracket/bracket_parts.h"

#include <algorithm>
#include <map>
#include <set>

namespace infimum {
namespace {

// Highest clocks that are nearer than this are taken for the same: readings are of single moments.
constexpr double kSameClocks = 1.05;

std::string CacheTag(const std::optional<CacheState>& cache) {
  const std::string name(Name(cache));
  return cache == CacheState::kWarm || cache == CacheState::kCold ? name + "-caches" : name;
}

// What is known of one host.
struct Host {
  std::set<std::string> clock_policies;
  double highest_mhz = 0;  // 0 where no clock was read
};

// Rows of versions that recorded no host count as one host for each system that no named host has: two kernels are two
// machines or one before and after an update.
std::optional<SeveralHosts> HostsOf(const MeasuredRows& rows) {
  std::map<std::string, Host> hosts, by_system;
  std::set<std::string> systems;  // of named hosts
  for (const auto& [text, clocks] : rows.evidence()) {
    const Evidence facts = EvidenceOf(text);
    const std::string& name = FactOf(facts, evidence::kHost);
    const std::string& system = FactOf(facts, evidence::kSystem);
    Host& host = name.empty() ? by_system[system] : hosts[name];
    if (!name.empty()) systems.insert(system);
    const std::string& policy = FactOf(facts, evidence::kClocks);
    if (!policy.empty()) host.clock_policies.insert(policy);
    if (clocks) host.highest_mhz = std::max(host.highest_mhz, clocks->high_mhz);
  }
  for (const auto& [system, host] : by_system)
    if (!systems.contains(system)) hosts.emplace('\n' + system, host);  // no name has a line break
  if (hosts.size() < 2) return std::nullopt;
  SeveralHosts several{hosts.size(), {}, std::nullopt};
  ClockRange highest{0, 0};
  for (const auto& [name, host] : hosts) {
    several.clock_policies.insert(host.clock_policies.begin(), host.clock_policies.end());
    if (!(host.highest_mhz > 0)) continue;
    highest.low_mhz = highest.low_mhz > 0 ? std::min(highest.low_mhz, host.highest_mhz) : host.highest_mhz;
    highest.high_mhz = std::max(highest.high_mhz, host.highest_mhz);
  }
  if (highest.high_mhz > highest.low_mhz * kSameClocks) several.highest_clocks = highest;
  return several;
}

// Measured by the runner for GPUs where cuDNN or cuBLASLt was not found.
bool LacksLibraries(const EnvironmentKey& environment) {
  const auto has = [&](std::string_view library) {
    return environment.text.find("library:" + std::string(library) + "=") != std::string::npos;
  };
  return has("cuda-driver") && (!has("cudnn") || !has("cublaslt"));
}

}  // namespace

bool LacksScales(const Workload& workload) {
  const std::string_view family = FamilyOf(workload);
  return NativeContract(workload) == NumericContract::kInt8 && (family == "pointwise" || family == "pooling");
}

void ObserveRows(const MeasuredRows& rows, DeviceModel& device) {
  for (const auto& [key, entry] : rows.all())
    for (const auto& [threads, timed] : entry.by_threads)
      for (const TimedRow& row : timed)
        device.Observe(*entry.workload, entry.work, row.row->candidate.algorithm, row.best_seen);
}

Coverage CoverageOf(std::span<const ResolvedLayer> layers) {
  Latency measured{0}, estimated{0}, missing{0};
  double flops = 0, missing_flops = 0;
  for (const ResolvedLayer& layer : layers) {
    flops += layer.flops;
    missing_flops += layer.missing_flops;
    measured += layer.measured;
    estimated += layer.estimated;
    missing += layer.missing;
  }
  const Latency all = measured + estimated + missing;
  Coverage coverage;
  coverage.missing_flops = flops > 0 ? missing_flops / flops : 0;
  if (!(all > Latency(0))) {
    // Nothing takes time. A layer without even a floor may still be unknown: that is missing, not free.
    const bool any_missing = std::any_of(layers.begin(), layers.end(), [](const ResolvedLayer& layer) {
      return layer.known.status == LatencyStatus::kMissing;
    });
    (any_missing ? coverage.missing : coverage.free) = 1;
    return coverage;
  }
  coverage.estimated = estimated / all;
  coverage.missing = missing / all;
  coverage.measured = measured > Latency(0) ? 1 - coverage.estimated - coverage.missing : 0;
  if (coverage.measured < 0) coverage.measured = 0;
  return coverage;
}

void SetOrigins(const MeasuredRows& rows, Bracket& bracket) {
  bracket.environments.assign(rows.environments().begin(), rows.environments().end());
  bracket.evidence.clear();
  for (const auto& [text, clocks] : rows.evidence()) bracket.evidence.push_back(text);
  bracket.hosts = HostsOf(rows);
  bracket.pace = rows.pace();
}

// Flags of rows whose times are not simply their kernels', and what a bound is called that a tenth of is made of these:
// of a hundred rows some never settle, and their intervals say so.
constexpr double kFlagsWorthSaying = 0.1;
struct FlagTag {
  std::string_view flag, tag;
};
constexpr FlagTag kFlagTags[] = {{"unconverged", "unconverged-rows"},   {"throttled", "throttled-rows"},
                                 {"uncaptured", "uncaptured-rows"},     {"overlaps", "overlapping-rows"},
                                 {"launch_bound", "launch-bound-rows"}, {"host_bound", "host-bound-rows"}};

std::vector<std::string> CommonAssumptions(const Bracket& bracket, std::span<const ResolvedLayer> layers,
                                           Latency launch) {
  const Selection& selection = bracket.selection;
  std::vector<std::string> tags = {
      "free-layouts", CacheTag(selection.cache),
      selection.threads == 1 ? "one-thread" : std::to_string(selection.threads) + "-threads"};
  if (bracket.hosts) tags.push_back("several-hosts");
  if (std::ranges::any_of(bracket.environments, LacksLibraries)) tags.push_back("missing-libraries");
  if (bracket.pace.most() >= Pace::kWorthSaying) tags.push_back("held-to-metronome");
  const auto any = [&](auto part) { return std::any_of(layers.begin(), layers.end(), part); };
  if (any([](const ResolvedLayer& layer) { return layer.estimated > Latency(0); })) tags.push_back("estimated-layers");
  if (any([](const ResolvedLayer& layer) { return layer.known.status == LatencyStatus::kMissing; }))
    tags.push_back("unmeasured-layers");
  if (any([](const ResolvedLayer& layer) { return layer.rows != nullptr && LacksScales(*layer.rows->workload); }))
    tags.push_back("integers-without-scales");
  Latency all{0}, starts{0};
  std::map<std::string_view, Latency> flagged;
  for (const ResolvedLayer& layer : layers) {
    const Latency latency = layer.known.latency.value_or(Latency(0));
    all += latency;
    if (layer.best == nullptr) continue;
    starts += std::min(launch, latency);
    for (const std::string& flag : layer.best->row->flags) flagged[flag] += latency;
  }
  for (const auto& [flag, tag] : kFlagTags)
    if (flagged[flag] > Latency(0) && flagged[flag] >= kFlagsWorthSaying * all) tags.emplace_back(tag);
  if (starts > Latency(0) && starts >= kFlagsWorthSaying * all) tags.emplace_back("launch-gaps");
  return tags;
}

}  // namespace infimum
