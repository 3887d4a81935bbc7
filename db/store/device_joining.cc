#include "db/store/device_joining.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "db/store/run_details.h"
#include "db/store/stored_rows.h"
#include "infimum/base/text.h"
#include "infimum/measurement/older_identity.h"

namespace infimum {
namespace {

struct Known {
  std::int64_t id = 0;  // 0: runs alone are of it
  std::string key;      // as stored
  Device device;
};

Result<std::vector<Known>> ReadKnown(Connection& connection) {
  std::vector<Known> known;
  INFIMUM_ASSIGN_OR_RETURN(
      const auto devices,
      connection.Prepare(fmt::format("SELECT {}, d.id, d.key FROM {} ORDER BY d.id", kDeviceColumns, kDeviceTables)));
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, devices->Step());
    if (!row) break;
    // What cannot be read is not changed; `infimum db check` reports it.
    Result<Device> device = DeviceFrom(*devices);
    if (device.ok() && device->Key().text == devices->Text(9))
      known.push_back({devices->Integer(8), devices->Text(9), *std::move(device)});
  }
  INFIMUM_ASSIGN_OR_RETURN(const auto runs,
                           connection.Prepare("SELECT DISTINCT device_key FROM runs WHERE device_key NOT IN (SELECT "
                                              "key FROM devices) ORDER BY device_key"));
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, runs->Step());
    if (!row) return known;
    if (std::optional<Device> device = Device::OfKey(runs->Text(0)))
      known.push_back({0, runs->Text(0), *std::move(device)});
  }
}

// The numbers of threads that its measurements used; those of peaks and runs where there are no rows.
Result<std::set<std::int64_t>> ThreadsOf(Connection& connection, const Known& known) {
  constexpr const char* kQuestions[] = {
      // One look into an index for each environment, however many rows there are.
      "SELECT e.threads FROM environments e WHERE EXISTS (SELECT 1 FROM measurements m WHERE m.device_id = $1 AND "
      "m.environment_id = e.id AND m.outcome = 'measured')",
      "SELECT DISTINCT threads FROM peak_rates WHERE device_id = $1",
      "SELECT DISTINCT r.threads FROM runs r WHERE r.device_key = $1"};
  std::set<std::int64_t> threads;
  for (const char* const question : kQuestions) {
    const bool by_id = question != kQuestions[2];
    if (by_id && known.id == 0) continue;
    INFIMUM_ASSIGN_OR_RETURN(const auto find, connection.Prepare(question));
    find->Bind(1, by_id ? SqlValue(known.id) : SqlValue(std::string_view(known.key)));
    while (true) {
      INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
      if (!row) break;
      threads.insert(find->Integer(0));
    }
    if (!threads.empty()) break;
  }
  return threads;
}

// What each of `known` is to be, the devices without what is unclear about them: `devices` in the same order.
Status MakeClear(Connection& connection, const std::vector<Known>& known,
                 const std::map<std::int64_t, std::set<std::int64_t>>& more_threads, std::vector<Device>& devices) {
  std::vector<SeenDevice> seen;
  std::vector<std::size_t> places;
  std::vector<Device> clear;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!HasCoresSeen(devices[i])) {
      clear.push_back(devices[i]);
      continue;
    }
    INFIMUM_ASSIGN_OR_RETURN(std::set<std::int64_t> threads, ThreadsOf(connection, known[i]));
    if (const auto more = more_threads.find(known[i].id); more != more_threads.end() && known[i].id != 0)
      threads.insert(more->second.begin(), more->second.end());
    seen.push_back({devices[i], std::move(threads)});
    places.push_back(i);
  }
  const std::vector<std::optional<std::int64_t>> cores = CoresOf(seen, clear);
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (cores[i]) devices[places[i]] = WithCores(seen[i].device, *cores[i]);
  return {};
}

// Deletes all but the fullest of rows that become equal; of equally full ones the fastest stays,
// whichever came first.
constexpr const char* kJoinRows = R"(
DELETE FROM measurements WHERE id IN (
  SELECT id FROM (
    SELECT m.id, row_number() OVER (
             PARTITION BY m.workload_id, m.candidate_id, m.contract, m.cache, j.kept, m.environment_id, m.evidence_id,
                          m.campaign_id
             ORDER BY m.weight DESC, m.best_us, m.measured_at DESC, m.id) AS place
    FROM measurements m JOIN joined_devices j ON j.id = m.device_id) ranked
  WHERE place > 1);
UPDATE measurements SET device_id = (SELECT j.kept FROM joined_devices j WHERE j.id = measurements.device_id)
  WHERE device_id IN (SELECT id FROM joined_devices WHERE id <> kept);
INSERT INTO peak_rates (device_id, kind, working_set_bytes, dtype, threads, source, per_second)
  SELECT j.kept, p.kind, p.working_set_bytes, p.dtype, p.threads, p.source, p.per_second
  FROM peak_rates p JOIN joined_devices j ON j.id = p.device_id WHERE j.id <> j.kept
  ON CONFLICT DO NOTHING;
DELETE FROM peak_rates WHERE device_id IN (SELECT id FROM joined_devices WHERE id <> kept);
UPDATE runs SET device_key = (SELECT j.key FROM joined_devices j WHERE j.old_key = runs.device_key)
  WHERE device_key IN (SELECT old_key FROM joined_devices WHERE old_key <> key);
DELETE FROM runs WHERE device_key IN (SELECT key FROM joined_devices) AND EXISTS (
  SELECT 1 FROM runs o WHERE o.id < runs.id AND o.model_sha256 = runs.model_sha256 AND o.device_key = runs.device_key
    AND o.threads = runs.threads AND o.framework = runs.framework AND o.framework_version = runs.framework_version
    AND o.dims = runs.dims AND o.contract = runs.contract AND o.details = runs.details);
UPDATE cell_attempts SET device_key = (SELECT j.key FROM joined_devices j WHERE j.old_key = cell_attempts.device_key)
  WHERE device_key IN (SELECT old_key FROM joined_devices WHERE old_key <> key);
DELETE FROM devices WHERE id IN (SELECT id FROM joined_devices WHERE id <> kept);
UPDATE devices SET key = 'joining ' || id WHERE id IN (SELECT kept FROM joined_devices)
)";

// `devices`: what `known` become, in the same order.
Result<JoinedDevices> Join(Connection& connection, const std::vector<Known>& known,
                           const std::vector<Device>& devices) {
  JoinedDevices moved;
  std::map<std::string, std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < known.size(); ++i) by_key[devices[i].Key().text].push_back(i);
  std::erase_if(by_key, [&](const auto& entry) {
    return entry.second.size() == 1 && known[entry.second.front()].key == entry.first;
  });
  if (by_key.empty()) return moved;

  const bool sqlite = connection.dialect() == Dialect::kSqlite;
  INFIMUM_RETURN_IF_ERROR(connection.Execute(
      fmt::format("CREATE TEMP TABLE joined_devices (id BIGINT, kept BIGINT, old_key TEXT{0}, key TEXT{0})",
                  sqlite ? "" : " COLLATE \"C\"")));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto add,
      connection.Prepare("INSERT INTO joined_devices (id, kept, old_key, key) VALUES ($1, $2, $3, $4)"));
  INFIMUM_ASSIGN_OR_RETURN(const auto rename,
                           connection.Prepare("UPDATE devices SET key = $1, identity = $2, cores = $3 WHERE id = $4"));
  for (const auto& [key, places] : by_key) {
    // Devices come first, in the order of their ids, then those that only runs name.
    const std::int64_t kept = known[places.front()].id;
    for (const std::size_t i : places) {
      if (known[i].id != kept && known[i].id != 0) moved[known[i].id] = kept;
      INFIMUM_RETURN_IF_ERROR(add->RunWith(known[i].id, known[i].id == 0 ? 0 : kept, known[i].key, key));
    }
  }
  INFIMUM_RETURN_IF_ERROR(connection.Execute(kJoinRows));
  for (const auto& [key, places] : by_key) {
    if (known[places.front()].id == 0) continue;
    const Device& device = devices[places.front()];
    const std::string identity = FormatTexts(device.identity);
    INFIMUM_RETURN_IF_ERROR(rename->RunWith(key, identity, device.cores, known[places.front()].id));
  }
  INFIMUM_RETURN_IF_ERROR(connection.Execute("DROP TABLE joined_devices"));
  return moved;
}

// The devices of processors whose cores our runner counted.
Result<std::set<std::int64_t>> CountedByUs(Connection& connection) {
  // Any environment and evidence that the runner leaves, of rows; a device without rows has peaks.
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection.Prepare("SELECT u.device_id, e.libraries, v.facts FROM (SELECT DISTINCT device_id, environment_id, "
                         "evidence_id FROM measurements) u JOIN environments e ON e.id = u.environment_id "
                         "JOIN evidence v ON v.id = u.evidence_id "
                         "UNION ALL SELECT DISTINCT p.device_id, '{\"onednn\":\"\"}', '{\"affinity\":\"pinned\"}' "
                         "FROM peak_rates p WHERE p.source = 'measured' AND NOT EXISTS (SELECT 1 FROM measurements m "
                         "WHERE m.device_id = p.device_id)"));
  Device counted;
  counted.identity[kCores] = "1";
  std::set<std::int64_t> ids;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return ids;
    const Result<Evidence> libraries = ParseTexts(find->Text(1)), facts = ParseTexts(find->Text(2));
    if (!libraries.ok() || !facts.ok()) continue;
    if (HasCoresSeen(WithCoresSeen(counted, Environment{*libraries, 1, *facts}))) ids.insert(find->Integer(0));
  }
}

}  // namespace

Status RenewDevices(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Known> known, ReadKnown(connection));
  INFIMUM_ASSIGN_OR_RETURN(const std::set<std::int64_t> counted, CountedByUs(connection));
  const Environment runner{{{"onednn", ""}}, 1, {{evidence::kAffinity, "pinned"}}};
  std::vector<Device> devices;
  for (const Known& entry : known) {
    devices.push_back(WithoutClocks(entry.device));
    // What only runs name is a processor as our runner describes it where it lists instruction sets.
    const bool is_counted = entry.id == 0 ? entry.device.identity.contains("instructions") : counted.contains(entry.id);
    if (is_counted) devices.back() = WithCoresSeen(devices.back(), runner);
  }
  INFIMUM_RETURN_IF_ERROR(MakeClear(connection, known, {}, devices));
  const Result<JoinedDevices> joined = Join(connection, known, devices);
  return joined.ok() ? Status() : joined.error();
}

Result<JoinedDevices> JoinDevices(Connection& connection,
                                  const std::map<std::int64_t, std::set<std::int64_t>>& threads) {
  INFIMUM_ASSIGN_OR_RETURN(
      const std::int64_t unclear,
      connection.AskInteger(fmt::format("SELECT count(*) FROM devices WHERE key LIKE '%/{}=%'", kCoresSeen)));
  if (unclear == 0) return JoinedDevices();
  if (connection.dialect() == Dialect::kPostgreSql) {
    // Who may only add leaves it to the store's owner.
    INFIMUM_ASSIGN_OR_RETURN(
        const std::int64_t may_change,
        connection.AskInteger("SELECT CASE WHEN has_table_privilege('devices', 'UPDATE') AND has_table_privilege("
                              "'devices', 'DELETE') AND has_table_privilege('measurements', 'UPDATE') THEN 1 ELSE 0 "
                              "END"));
    if (may_change == 0) return JoinedDevices();
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Known> known, ReadKnown(connection));
  std::vector<Device> devices;
  for (const Known& entry : known) devices.push_back(entry.device);
  INFIMUM_RETURN_IF_ERROR(MakeClear(connection, known, threads, devices));
  return Join(connection, known, devices);
}

Result<std::string> MergeDevices(Connection& connection, const DeviceKey& from, const DeviceKey& into) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Known> known, ReadKnown(connection));
  const auto find = [&](const DeviceKey& key) {
    return std::ranges::find_if(known, [&](const Known& entry) { return entry.id != 0 && entry.key == key.text; });
  };
  const auto old_one = find(from), new_one = find(into);
  for (const auto& [place, key] : {std::pair(old_one, &from), std::pair(new_one, &into)}) {
    if (place == known.end())
      return Error{fmt::format("{}: has no device {}; `infimum db stats --format json` lists the keys",
                               connection.name(), Quoted(key->text))};
  }
  if (!DifferInCoresAlone(old_one->device, new_one->device))
    return Error{
        fmt::format("{}: {} and {} are different devices: only processors that differ in nothing but their number of "
                    "cores can be merged",
                    connection.name(), Quoted(from.text), Quoted(into.text))};
  INFIMUM_ASSIGN_OR_RETURN(std::string copy, connection.BackUp("before-merge"));
  std::vector<Device> devices;
  for (const Known& entry : known) devices.push_back(&entry == &*old_one ? new_one->device : entry.device);
  const Result<JoinedDevices> joined = Join(connection, known, devices);
  if (!joined.ok()) return joined.error();
  return copy;
}

Result<std::string> DeviceKeyOf(Connection& connection, const RunProfile& run) {
  const std::optional<Device> told = Device::OfKey(run.device);
  if (!told) return run.device;
  const Device device = WithoutClocks(*told);
  const auto field = device.identity.find(kCores);
  if (device.kind == DeviceKind::kGpu || field == device.identity.end()) return device.Key().text;
  // As it is, or where no such device is known, what an earlier version may have meant.
  const std::int64_t seen = ParseInteger(field->second).value_or(0), threads = run.threads.value_or(0);
  Device uncertain = device;
  uncertain.identity.erase(kCores);
  uncertain.identity[kCoresSeen] = field->second;
  const Device candidates[] = {device, WithCores(device, seen + threads), uncertain};
  INFIMUM_ASSIGN_OR_RETURN(const auto find, connection.Prepare("SELECT count(*) FROM devices WHERE key = $1"));
  for (const Device& candidate : candidates) {
    find->Bind(1, candidate.Key().text);
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (row && find->Integer(0) > 0) return candidate.Key().text;
    find->Reset();
  }
  return device.Key().text;
}

}  // namespace infimum
