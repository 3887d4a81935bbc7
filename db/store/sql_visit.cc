#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/store/sql_store.h"
#include "db/store/stored_rows.h"

namespace infimum {
namespace {

constexpr int kRowsOfAPage = 500;

// Where rows share everything but themselves.
struct Group {
  std::int64_t campaign = 0, device = 0, environment = 0, evidence = 0;
  CampaignOrigin origin;
  std::string device_key, environment_key;
  EvidenceText told;
};

// What of a selection is about single rows, as SQL over m, w, c, and the values of its parameters from $`first` on.
class RowCondition {
 public:
  RowCondition(const RowSelection& selection, int first) : next_(first) {
    Add("w.text = ", selection.layer);
    Add("w.family = ", selection.family);
    Add("c.library = ", selection.library);
    Add("m.contract = ", selection.contract);
    Add("m.outcome = ", selection.outcome);
    if (!selection.model.empty()) {
      sql_ += fmt::format(
          " AND m.workload_id IN (SELECT l.workload_id FROM current_models o JOIN model_layers l ON l.model_id = o.id "
          "WHERE o.name = ${})",
          next_);
      Bind(selection.model);
    }
  }
  const std::string& sql() const { return sql_; }
  bool empty() const { return values_.empty(); }
  void BindTo(Statement& statement) const {
    for (const auto& [position, value] : values_) statement.Bind(position, value);
  }

 private:
  void Add(const char* condition, const std::string& value) {
    if (value.empty()) return;
    sql_ += fmt::format(" AND {}${}", condition, next_);
    Bind(value);
  }
  void Bind(const std::string& value) { values_.emplace_back(next_++, value); }

  int next_;
  std::string sql_;
  std::vector<std::pair<int, std::string>> values_;
};

// A campaign is named by its key or by its file.
constexpr const char* kGroupCondition =
    "(CAST($1 AS TEXT) = '' OR d.name = $1 OR d.key = $1) AND (CAST($2 AS TEXT) = '' OR k.key = $2 OR k.source = $2)";

Result<std::vector<Group>> FindGroups(Connection& connection, const RowSelection& selection,
                                      const RowCondition& condition) {
  const char* const joins =
      "JOIN workloads w ON w.id = m.workload_id JOIN candidates c ON c.id = m.candidate_id WHERE m.id > 0";
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection.Prepare(fmt::format(
                               "SELECT k.id, d.id, e.id, v.id, k.key, k.source, d.key, e.key, v.text FROM "
                               "(SELECT DISTINCT m.campaign_id, m.device_id, m.environment_id, m.evidence_id "
                               "FROM measurements m {}{}) g "
                               "JOIN campaigns k ON k.id = g.campaign_id JOIN devices d ON d.id = g.device_id "
                               "JOIN environments e ON e.id = g.environment_id JOIN evidence v ON v.id = g.evidence_id "
                               "WHERE {} ORDER BY d.key, e.key, k.id, v.text",
                               condition.empty() ? "" : joins, condition.sql(), kGroupCondition)));
  find->BindAll(selection.device, selection.campaign);
  condition.BindTo(*find);
  std::vector<Group> groups;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return groups;
    groups.push_back({find->Integer(0),
                      find->Integer(1),
                      find->Integer(2),
                      find->Integer(3),
                      {find->Text(4), find->Text(5)},
                      find->Text(6),
                      find->Text(7),
                      {find->Text(8)}});
  }
}

Result<std::map<std::string, Device>> ReadDevices(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection.Prepare(fmt::format("SELECT {}, d.key FROM {}", kDeviceColumns, kDeviceTables)));
  std::map<std::string, Device> devices;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return devices;
    INFIMUM_ASSIGN_OR_RETURN(Device device, DeviceFrom(*find));
    devices.emplace(find->Text(8), std::move(device));
  }
}

// One group's rows, the fullest of equal ones: the others were superseded.
class GroupReader {
 public:
  GroupReader(Connection& connection, const RowSelection& selection)
      : connection_(connection), condition_(selection, 6) {}

  Status Prepare() {
    INFIMUM_ASSIGN_OR_RETURN(
        find_,
        connection_.Prepare(fmt::format(
            "SELECT {} FROM measurements m JOIN workloads w ON w.id = m.workload_id "
            "JOIN candidates c ON c.id = m.candidate_id JOIN environments e ON e.id = m.environment_id "
            "JOIN evidence v ON v.id = m.evidence_id JOIN devices d ON d.id = m.device_id "
            "WHERE m.campaign_id = $1 AND m.device_id = $2 AND m.environment_id = $3 AND m.evidence_id = $4 "
            "AND m.id > $5 "
            "AND NOT EXISTS (SELECT 1 FROM measurements b WHERE b.workload_id = m.workload_id AND b.device_id = "
            "m.device_id AND b.candidate_id = m.candidate_id AND b.contract = m.contract AND b.cache = m.cache AND "
            "b.environment_id = m.environment_id AND b.evidence_id = m.evidence_id AND b.campaign_id = m.campaign_id "
            "AND b.weight > m.weight){} "
            "ORDER BY m.id LIMIT {}",
            kRowColumns, condition_.sql(), kRowsOfAPage)));
    return {};
  }

  // The rows after `last`, which becomes the last of them; empty at the end.
  Result<std::vector<Measurement>> NextPage(const Group& group, std::int64_t& last) {
    find_->Reset();
    find_->BindAll(group.campaign, group.device, group.environment, group.evidence, last);
    condition_.BindTo(*find_);
    std::vector<RowPlace> places;
    std::vector<Measurement> rows;
    while (true) {
      INFIMUM_ASSIGN_OR_RETURN(const bool more, find_->Step());
      if (!more) break;
      INFIMUM_ASSIGN_OR_RETURN(StoredRow stored, RowFrom(*find_, connection_));
      places.push_back(stored.place);
      rows.push_back(std::move(stored.row));
    }
    if (places.empty()) return rows;
    last = places.back().id;
    INFIMUM_RETURN_IF_ERROR(ReadRepetitions(connection_, places, rows));
    // A row whose better successor came between the two questions has lost its repetitions: the successor is to come.
    std::erase_if(rows,
                  [](const Measurement& row) { return row.outcome == Outcome::kMeasured && row.repetitions.empty(); });
    return rows;
  }

 private:
  Connection& connection_;
  RowCondition condition_;
  std::unique_ptr<Statement> find_;
};

// Nothing but devices was asked for, so that peaks without rows belong to it.
bool WantsAllOfDevices(const RowSelection& selection) {
  return selection.layer.empty() && selection.family.empty() && selection.model.empty() && selection.library.empty() &&
         selection.contract.empty() && selection.outcome.empty() && selection.campaign.empty();
}

}  // namespace

Status VisitStoredRows(Connection& connection, const RowSelection& selection,
                       const std::function<Status(const RowBatch&)>& take) {
  INFIMUM_ASSIGN_OR_RETURN(const auto devices, ReadDevices(connection));
  INFIMUM_ASSIGN_OR_RETURN(auto environments, ReadEnvironments(connection));
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Group> groups,
                           FindGroups(connection, selection, RowCondition(selection, 3)));
  GroupReader reader(connection, selection);
  INFIMUM_RETURN_IF_ERROR(reader.Prepare());
  std::set<std::string> seen;
  for (const Group& group : groups) {
    const auto device = devices.find(group.device_key);
    const auto environment = environments.find(EnvironmentKey{group.environment_key});
    // Whoever imports came after both lists were read.
    if (device == devices.end() || environment == environments.end()) continue;
    environment->second.evidence = EvidenceOf(group.told);
    std::vector<PeakRate> peaks;
    if (seen.insert(group.device_key).second) {
      INFIMUM_ASSIGN_OR_RETURN(peaks, ReadPeaks(connection, group.device_key));
    }
    std::int64_t last = 0;
    while (true) {
      const std::int64_t before = last;
      INFIMUM_ASSIGN_OR_RETURN(const std::vector<Measurement> rows, reader.NextPage(group, last));
      if (last == before) break;
      INFIMUM_RETURN_IF_ERROR(take({group.origin, device->second, environment->second, rows, peaks}));
      peaks.clear();
    }
  }
  if (!WantsAllOfDevices(selection)) return {};
  for (const auto& [key, device] : devices) {
    if (seen.contains(key) || (!selection.device.empty() && selection.device != key && selection.device != device.name))
      continue;
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<PeakRate> peaks, ReadPeaks(connection, key));
    if (!peaks.empty()) INFIMUM_RETURN_IF_ERROR(take({CampaignOrigin{}, device, Environment{}, {}, peaks}));
  }
  return {};
}

}  // namespace infimum
