#include "db/store/stored_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "db/store/run_details.h"
#include "db/store/sql_store.h"

namespace infimum {

Result<StoredRow> RowFrom(const Statement& statement, const Connection& connection) {
  StoredRow placed;
  placed.place.id = statement.Integer(0);
  Measurement& row = placed.row;
  row.workload = {statement.Text(1)};
  row.candidate = {statement.Text(2), statement.Text(3), statement.Text(4), statement.Text(5),
                   statement.Integer(6) != 0};
  const std::optional<NumericContract> contract = FindContract(statement.Text(7));
  const std::optional<Outcome> outcome = FindOutcome(statement.Text(10));
  const std::optional<CacheState> cache = FindCacheState(statement.Text(16));
  if (!contract || !outcome || !cache)
    return Error{connection.name() + ": contains a measurement with an unknown contract, outcome or cache state"};
  row.contract = *contract;
  row.environment = {statement.Text(8)};
  row.measured_at = statement.Text(9);
  row.outcome = *outcome;
  row.reason = statement.Text(11);
  row.numeric_error = statement.OptionalNumber(12);
  INFIMUM_ASSIGN_OR_RETURN(row.flags, ParseList(statement.Text(13)));
  placed.place.weight = statement.Integer(14);
  placed.place.best = statement.OptionalNumber(15).value_or(std::numeric_limits<double>::infinity());
  row.cache = *cache;
  row.device = {statement.Text(17)};
  row.evidence = {statement.Text(18)};
  if (!statement.IsNull(19)) row.constants = Bytes{statement.Integer(19)};
  return placed;
}

Status ReadRepetitions(Connection& connection, std::span<const RowPlace> places, std::span<Measurement> rows) {
  std::vector<std::size_t> order(places.size());  // by id, as the answer comes
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return places[a].id < places[b].id; });
  std::vector<std::string> ids;
  for (const std::size_t i : order) ids.push_back(std::to_string(places[i].id));
  if (ids.empty()) return {};
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection.Prepare(fmt::format(
          "SELECT r.measurement_id, r.count, r.minimum_us, r.median_us, r.p95_us, r.samples_us, r.clock_low_mhz, "
          "r.clock_high_mhz, r.beat_arithmetic_us, r.beat_memory_us FROM {} CROSS JOIN repetitions r "
          "WHERE r.measurement_id = CAST(wanted.value AS BIGINT) ORDER BY r.measurement_id, r.position",
          ListTable(connection.dialect(), "$1", "wanted"))));
  find->Bind(1, FormatList(ids));
  auto next = order.begin();
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool more, find->Step());
    if (!more) return {};
    const std::int64_t id = find->Integer(0);
    while (next != order.end() && places[*next].id < id) ++next;
    if (next == order.end() || places[*next].id != id)
      return Error{connection.name() + ": contains a repetition without its measurement"};
    Repetition repetition{
        find->Integer(1), Latency(find->Number(2)), Latency(find->Number(3)), Latency(find->Number(4)), {}};
    const std::vector<std::byte> bytes = find->Bytes(5);
    std::vector<double> samples(bytes.size() / sizeof(double));
    if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(double));
    for (const double sample : samples) repetition.samples.emplace_back(sample);
    if (!find->IsNull(6) && !find->IsNull(7)) repetition.clocks = ClockRange{find->Number(6), find->Number(7)};
    if (!find->IsNull(8) && !find->IsNull(9))
      repetition.beat = Beat{Latency(find->Number(8)), Latency(find->Number(9))};
    rows[*next].repetitions.push_back(std::move(repetition));
  }
}

Result<std::map<EnvironmentKey, Environment>> ReadEnvironments(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const auto find, connection.Prepare("SELECT key, libraries, threads FROM environments"));
  std::map<EnvironmentKey, Environment> environments;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return environments;
    Environment environment;
    INFIMUM_ASSIGN_OR_RETURN(environment.libraries, ParseTexts(find->Text(1)));
    environment.threads = find->Integer(2);
    environments.emplace(EnvironmentKey{find->Text(0)}, std::move(environment));
  }
}

Result<Device> DeviceFrom(const Statement& statement) {
  Device device;
  device.kind = statement.Text(0) == "gpu" ? DeviceKind::kGpu : DeviceKind::kCpu;
  device.name = statement.Text(1);
  device.vendor = statement.Text(2);
  if (!statement.IsNull(3)) device.generation = statement.Text(3);
  INFIMUM_ASSIGN_OR_RETURN(device.identity, ParseTexts(statement.Text(4)));
  device.cores = statement.Integer(5);
  device.last_level_cache = Bytes{statement.Integer(6)};
  device.memory = Bytes{statement.Integer(7)};
  return device;
}

Result<std::vector<PeakRate>> ReadPeaks(Connection& connection, const std::string& device_key) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection.Prepare("SELECT p.kind, p.working_set_bytes, p.dtype, p.threads, p.source, max(p.per_second) "
                         "FROM peak_rates p JOIN devices d ON d.id = p.device_id WHERE d.key = $1 "
                         "GROUP BY p.kind, p.working_set_bytes, p.dtype, p.threads, p.source"));
  find->Bind(1, device_key);
  std::vector<PeakRate> rates;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return rates;
    PeakRate rate;
    INFIMUM_ASSIGN_OR_RETURN(rate.kind, FindPeakKind(find->Text(0)));
    rate.working_set = Bytes{find->Integer(1)};
    const std::optional<DataType> type = FindDataType(find->Text(2));
    if (!type) return Error{connection.name() + ": contains a peak of an unknown data type"};
    rate.type = *type;
    rate.threads = find->Integer(3);
    rate.source = find->Text(4);
    rate.per_second = find->Number(5);
    rates.push_back(std::move(rate));
  }
}

}  // namespace infimum
