// infimum db init|migrate|check|stats|merge|merge-devices|roles: the care of a store.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "infimum/base/quantity_text.h"
#include "infimum/db/store.h"
#include "infimum/measurement/older_identity.h"
#include "reports/text/csv.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/commands/store/store_transfer.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct DbOptions {
  std::string database = "infimum.db";
  std::vector<std::string> sources;
  std::string from, into;
  OutputFormat format = OutputFormat::kTable;
  ProgressLogOptions log;
};

// Opening it to write makes the tables where there are none and brings old ones up to date.
Result<int> RunInit(const DbOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t before, SchemaOfStore(options.database));
  if (before > 0) {
    return Error{
        fmt::format("{}: there is already a store (schema {}); `infimum db migrate` updates an older one, `infimum db "
                    "stats` shows what it contains",
                    ShownAddress(options.database), before)};
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const StoreFacts facts, store->Facts());
  options.log.Make().Say(fmt::format("{}: an empty store, schema {}", ShownAddress(options.database), facts.schema));
  return kDone;
}

Result<int> RunMigrate(const DbOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t before, SchemaOfStore(options.database));
  if (before == 0) {
    return Error{fmt::format("{}: there is no store; `infimum db init` makes one", ShownAddress(options.database))};
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const StoreFacts facts, store->Facts());
  options.log.Make().Say(
      before == facts.schema
          ? fmt::format("{}: already has schema {}", ShownAddress(options.database), before)
          : fmt::format("{}: from schema {} to {}", ShownAddress(options.database), before, facts.schema));
  return kDone;
}

// Nothing wrong, but worth a look: two machines, or one that an earlier version described as two.
std::string RemarksOn(const std::vector<Device>& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = i + 1; j < devices.size(); ++j) {
      if (!DifferInCoresAlone(devices[i], devices[j])) continue;
      text += fmt::format(
          "remark: {} and {} differ only in their number of cores; if they are one machine, `infimum db "
          "merge-devices` "
          "with these two keys, the correct one last, merges them\n",
          devices[i].Key().text, devices[j].Key().text);
    }
  }
  return text;
}

Result<int> RunCheck(const DbOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
  std::int64_t problems = 0;
  std::string text;
  const Status checked = store->Check([&](const std::string& problem) {
    ++problems;
    text += problem + "\n";
  });
  if (const Result<std::vector<Device>> devices = store->Devices(); devices.ok()) text += RemarksOn(*devices);
  INFIMUM_RETURN_IF_ERROR(WriteOutput("-", text));
  INFIMUM_RETURN_IF_ERROR(checked);
  if (problems == 0) {
    options.log.Make().Say(ShownAddress(options.database) + ": no errors found");
    return kDone;
  }
  return Error{fmt::format("{}: {} error{}; restore a backup, or import the files again into a new store",
                           ShownAddress(options.database), problems, problems == 1 ? " is" : "s are")};
}

std::string JsonOf(const StoreFacts& facts, const std::vector<DeviceRows>& devices) {
  nlohmann::ordered_json document = {
      {"schema", "infimum.db-stats/1"}, {"store_schema", facts.schema}, {"bytes", facts.bytes}};
  for (const auto& [table, rows] : facts.tables) document["tables"][table] = rows;
  nlohmann::ordered_json& list = document["devices"] = nlohmann::ordered_json::array();
  for (const DeviceRows& entry : devices) {
    list.push_back({{"name", entry.device.name},
                    {"generation", entry.device.generation},
                    {"key", entry.device.Key().text},
                    {"measurements", entry.measurements},
                    {"newest", entry.newest}});
  }
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<int> RunStats(const DbOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
  INFIMUM_ASSIGN_OR_RETURN(StoreFacts facts, store->Facts());
  // An older file is read through a copy that was migrated; it is the file that was asked about.
  INFIMUM_ASSIGN_OR_RETURN(facts.schema, SchemaOfStore(options.database));
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<DeviceRows> devices, store->CountRows());
  Section table{.columns = {"what", NumberColumn("rows"), "newest"}};
  for (const auto& [name, rows] : facts.tables) table.rows.push_back({name, std::to_string(rows), ""});
  for (const DeviceRows& entry : devices)
    table.rows.push_back({"measurements of " + entry.device.name, std::to_string(entry.measurements), entry.newest});
  const std::string lead = fmt::format("{}: schema {}, {}\n\n", ShownAddress(options.database), facts.schema,
                                       FormatByteCount(Bytes{facts.bytes}));
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, "-",
                                      {.table = [&] { return lead + SectionTable(table, TerminalWidth()); },
                                       .json = [&] { return JsonOf(facts, devices); },
                                       .csv = [&] { return SectionCsv(table); }}));
  return kDone;
}

Result<int> RunMerge(const DbOptions& options) {
  ProgressLog log = options.log.Make();
  // Before anything is changed: a name that is wrong costs nothing.
  std::vector<std::unique_ptr<Store>> sources;
  for (const std::string& source : options.sources) {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, OpenStore(source, OpenMode::kReadOnly));
    sources.push_back(std::move(store));
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> target, OpenStore(options.database, OpenMode::kReadWrite));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    INFIMUM_ASSIGN_OR_RETURN(const ImportCount count, MergeStores(*sources[i], *target, log));
    log.Say(fmt::format("{}: {} rows added to {}, {} were known", ShownAddress(options.sources[i]), count.added,
                        ShownAddress(options.database), count.known));
  }
  return kDone;
}

Result<int> RunMergeDevices(const DbOptions& options) {
  // Opening to write would make a store where there is none.
  if (!StoreExists(options.database)) return Error{ShownAddress(options.database) + ": no such store"};
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const std::string copy, store->MergeDevices({options.from}, {options.into}));
  options.log.Make().Say(fmt::format("{}: {} is a part of {} now; as it was, the store is kept in {}",
                                     ShownAddress(options.database), options.from, options.into, copy));
  return kDone;
}

Result<int> RunRoles(const DbOptions& options) {
  INFIMUM_RETURN_IF_ERROR(MakeRoles(options.database));
  options.log.Make().Say(
      fmt::format("{}: infimum_reader may read, infimum_writer may read and add; GRANT either to your users",
                  ShownAddress(options.database)));
  return kDone;
}

}  // namespace

void AddDbCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* db = NewCommand(app, "db", "the care of a store: init, migrate, check, stats, merge, merge-devices, roles",
                            "Any command that writes creates and migrates the store; these commands do only that, or "
                            "show and move its contents.",
                            "infimum db merge laptop.db workstation.db --db postgresql://me@db.example.org/infimum");
  db->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, const char* details, const std::string& example,
                       Result<int> (*run)(const DbOptions&)) {
    auto options = std::make_shared<DbOptions>();
    CLI::App* command = NewCommand(*db, name, what, details, example);
    AddDatabase(command, options->database);
    AddProgressLog(command, options->log);
    invocation.Bind(command, [options, run] { return run(*options); });
    return std::pair(command, options);
  };
  add("init", "create an empty store", "Fails if there is already one.", "infimum db init --db team.db", RunInit);
  add("migrate", "migrate an older store to this version's schema",
      "In one transaction: all of it or, on an error, nothing. The old store is kept beside it: as a file\n"
      "(NAME.schema-5.bak) or, in PostgreSQL, as a schema (infimum_schema_5).",
      "infimum db migrate --db team.db", RunMigrate);
  add("check", "check a store's integrity",
      "The database's own check, and that summaries agree with their samples and every text can be read. What is wrong "
      "goes\nto standard output, one line each; exit code 1. Devices that differ in their number of cores alone are "
      "remarked on.",
      "infimum db check --db team.db", RunCheck);
  add("roles", "create the roles infimum_reader and infimum_writer (PostgreSQL)",
      "Run as the owner of the store. Their privileges are in db/roles.sql; running it again is safe.",
      "infimum db roles --db postgresql://owner@db.example.org/infimum", RunRoles);
  const auto [stats, stats_options] = add("stats", "show what a store contains",
                                          "Rows of each table and of each device.", "infimum db stats", RunStats);
  AddFormat(stats, stats_options->format);
  const auto [merge, merge_options] =
      add("merge", "copy everything of other stores into this one",
          "SQLite files or PostgreSQL databases, each in one transaction; rows keep the campaign that they came from. "
          "Merging\nagain adds nothing.",
          "infimum db merge laptop.db --db team.db", RunMerge);
  merge->add_option("FROM", merge_options->sources, "stores to copy from")->required();
  const auto [join, join_options] =
      add("merge-devices", "merge two devices of a store",
          "Processors that differ in nothing but their number of cores, as one machine did that an earlier version "
          "described\n"
          "on several numbers of threads. Everything that was measured on FROM belongs to INTO afterwards; the old "
          "store is\nkept beside it.",
          "infimum db merge-devices cpu/AuthenticAMD/.../cores_seen=1 cpu/AuthenticAMD/.../cores=2 --db team.db",
          RunMergeDevices);
  join->add_option("FROM", join_options->from, "key of the device to remove")->required();
  join->add_option("INTO", join_options->into, "key of the device to keep")->required();
}

}  // namespace infimum::cli
