// infimum devices: what is here and what the store knows.

#include <memory>
#include <nlohmann/json.hpp>

#include "db/store/data_sheets.h"
#include "infimum/db/store.h"
#include "reports/text/csv.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/options.h"
#include "src/app/runners/campaign.h"

namespace infimum::cli {
namespace {

struct DevicesOptions {
  std::string database = "infimum.db";
  std::string backend = DefaultBackend();
  std::vector<std::string> backend_options;
  OutputFormat format = OutputFormat::kTable;
};

struct Row {
  Device device;
  std::string known_from;  // "here", "store", "data sheet"
  std::int64_t measurements = 0;
  std::string newest;
};

// What the store has; this device is the first of `rows`.
Status AddStored(const DevicesOptions& options, std::vector<Row>& rows) {
  if (!StoreExists(options.database)) return {};
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<DeviceRows> stored, store->CountRows());
  for (const DeviceRows& entry : stored) {
    if (entry.device.Key() == rows.front().device.Key()) {
      rows.front().measurements = entry.measurements;
      rows.front().newest = entry.newest;
    } else {
      rows.push_back({entry.device, "store", entry.measurements, entry.newest});
    }
  }
  return {};
}

Result<std::vector<Row>> FindDevices(const DevicesOptions& options) {
  std::vector<Row> rows;
  CampaignOptions campaign;
  campaign.backend = options.backend;
  INFIMUM_ASSIGN_OR_RETURN(campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const RunnerDescription here, DescribeRunner(installation, campaign));
  rows.push_back({here.device, "here", 0, ""});
  INFIMUM_RETURN_IF_ERROR(AddStored(options, rows));
  for (const DataSheet& sheet : DataSheets()) rows.push_back({sheet.device, "data sheet", 0, ""});
  return rows;
}

Section MakeTable(const std::vector<Row>& rows) {
  Section table{.columns = {"device", "generation", "known from", NumberColumn("rows"), "newest", NameColumn("key")}};
  for (const Row& row : rows) {
    table.rows.push_back({row.device.name, row.device.generation, row.known_from, std::to_string(row.measurements),
                          row.newest, row.device.Key().text});
  }
  return table;
}

std::string MakeJson(const std::vector<Row>& rows) {
  nlohmann::json devices = nlohmann::json::array();
  for (const Row& row : rows) {
    devices.push_back({{"name", row.device.name},
                       {"generation", row.device.generation},
                       {"here", row.known_from == "here"},
                       {"known_from", row.known_from},
                       {"measurements", row.measurements},
                       {"newest", row.newest},
                       {"key", row.device.Key().text},
                       {"cores", row.device.cores},
                       {"last_level_cache_bytes", row.device.last_level_cache.value}});
  }
  const nlohmann::json document = {{"schema", "infimum.devices/1"}, {"devices", std::move(devices)}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<int> RunDevices(const DevicesOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Row> rows, FindDevices(options));
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, "-",
                                      {.table = [&] { return SectionTable(MakeTable(rows), TerminalWidth()); },
                                       .json = [&] { return MakeJson(rows); },
                                       .csv = [&] { return SectionCsv(MakeTable(rows)); }}));
  return kDone;
}

}  // namespace

void AddDevicesCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<DevicesOptions>();
  CLI::App* command = NewCommand(
      app, "devices", "list the devices: this machine's, those with measurements, those with a data sheet",
      "A device is its identity, not its name: vendor, family, model, stepping, instruction sets, caches and\n"
      "cores. One device's measurements never enter another's bound. Of a device that only a data sheet is known of "
      "there\n"
      "is a floor (`infimum bound MODEL --device L40S`), never a bound.",
      "infimum devices --db team.db");
  AddDatabase(command, options->database);
  AddBackend(command, options->backend, options->backend_options);
  AddFormat(command, options->format);
  invocation.Bind(command, [options] { return RunDevices(*options); });
}

}  // namespace infimum::cli
