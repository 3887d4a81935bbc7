#include "infimum/measurement/older_identity.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::int64_t kMostCores = 1 << 20;

// How many cores there are, by how many were seen on these threads; none where they contradict each other.
std::set<std::int64_t> PossibleCores(std::int64_t cores_seen, const std::set<std::int64_t>& threads) {
  std::set<std::int64_t> possible{cores_seen, 2 * cores_seen};
  bool is_first = true;
  for (const std::int64_t measured : threads) {
    std::set<std::int64_t> now{cores_seen + measured};
    if (measured == cores_seen) now.insert(cores_seen);
    std::set<std::int64_t> both;
    std::ranges::set_intersection(possible, now, std::inserter(both, both.end()));
    possible = is_first ? now : both;
    is_first = false;
  }
  return possible;
}

std::int64_t CoresSeen(const Device& device) {
  const auto field = device.identity.find(kCoresSeen);
  if (field == device.identity.end()) return 0;
  const std::int64_t cores = ParseInteger(field->second).value_or(0);
  return cores >= 1 && cores <= kMostCores ? cores : 0;
}

// What devices that differ in their cores alone share.
DeviceKey KeyButCores(Device device) {
  device.identity.erase(kCores);
  device.identity.erase(kCoresSeen);
  return device.Key();
}

// One processor's several appearances.
struct Appearances {
  std::set<std::int64_t> known;        // cores
  std::vector<std::size_t> uncertain;  // places among the seen ones
};

// Which of the cores that the uncertain device `i` may have another device of the processor has or may have.
std::set<std::int64_t> Explained(const Appearances& processor, const std::vector<std::set<std::int64_t>>& possible,
                                 std::size_t i) {
  std::set<std::int64_t> explained;
  for (const std::int64_t cores : possible[i]) {
    const bool by_other = std::ranges::any_of(
        processor.uncertain, [&](const std::size_t other) { return other != i && possible[other].contains(cores); });
    if (by_other || processor.known.contains(cores)) explained.insert(cores);
  }
  return explained;
}

}  // namespace

Device WithoutClocks(Device device) {
  if (device.kind != DeviceKind::kGpu) return device;
  device.identity.erase("clock");
  device.identity.erase("memory_clock");
  return device;
}

Device WithCoresSeen(Device device, const Environment& environment) {
  const bool counted = environment.libraries.contains("onednn") &&
                       FactOf(environment.evidence, evidence::kAffinity).starts_with("pinned");
  if (device.kind != DeviceKind::kCpu || !counted) return device;
  if (auto field = device.identity.extract(kCores)) {
    field.key() = kCoresSeen;
    device.identity.insert(std::move(field));
  }
  return device;
}

bool HasCoresSeen(const Device& device) { return CoresSeen(device) > 0; }

Device WithCores(Device device, std::int64_t cores) {
  device.identity.erase(kCoresSeen);
  device.identity[kCores] = std::to_string(cores);
  device.cores = cores;
  return device;
}

bool DifferInCoresAlone(const Device& a, const Device& b) {
  return a.kind == DeviceKind::kCpu && a.Key() != b.Key() && KeyButCores(a) == KeyButCores(b);
}

std::vector<std::optional<std::int64_t>> CoresOf(std::span<const SeenDevice> seen, std::span<const Device> known) {
  std::vector<std::optional<std::int64_t>> cores(seen.size());
  std::map<DeviceKey, Appearances> processors;
  for (const Device& device : known) {
    if (device.kind != DeviceKind::kCpu) continue;
    if (const auto field = device.identity.find(kCores); field != device.identity.end())
      processors[KeyButCores(device)].known.insert(ParseInteger(field->second).value_or(0));
  }
  std::vector<std::set<std::int64_t>> possible;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    possible.push_back(PossibleCores(CoresSeen(seen[i].device), seen[i].threads));
    Appearances& processor = processors[KeyButCores(seen[i].device)];
    if (possible[i].empty()) continue;  // several processors under one key
    if (seen[i].threads.empty() || possible[i].size() != 1) {
      processor.uncertain.push_back(i);
    } else {
      cores[i] = *possible[i].begin();
      processor.known.insert(*cores[i]);
    }
  }
  for (const auto& [key, processor] : processors) {
    // A count is explained by a known device, or by another uncertain one that can have it as well. One explanation is
    // an answer; but what two uncertain devices say of each other holds only if both have no other.
    std::map<std::size_t, std::int64_t> alone;
    for (const std::size_t i : processor.uncertain) {
      const std::set<std::int64_t> explained = Explained(processor, possible, i);
      if (explained.size() == 1) alone[i] = *explained.begin();
    }
    for (const auto& [i, count] : alone) {
      const bool agreed = std::ranges::all_of(processor.uncertain, [&](const std::size_t other) {
        const auto answer = alone.find(other);
        return !possible[other].contains(count) || (answer != alone.end() && answer->second == count);
      });
      if (processor.known.contains(count) || agreed) cores[i] = count;
    }
  }
  return cores;
}

Device DeviceOfToday(Device device, const Environment& environment) {
  device = WithCoresSeen(WithoutClocks(std::move(device)), environment);
  if (!HasCoresSeen(device)) return device;
  const SeenDevice seen{device, {environment.threads}};
  const std::optional<std::int64_t> cores = CoresOf(std::span(&seen, 1), {}).front();
  return cores ? WithCores(std::move(device), *cores) : device;
}

}  // namespace infimum
