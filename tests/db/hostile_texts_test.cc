// Texts that would like to be something else, in every place where the store takes one: kept as they are, the same in
// every database, and nothing but texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>

#include "infimum/base/utf8.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum {
namespace {

using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakePeak;
using testing::MakeRow;
using testing::MakeRun;
using testing::MakeSelection;
using testing::PostgreSqlServer;

// Everything that one import may hold.
struct Content {
  Device device = MakeDevice();
  Environment environment = MakeEnvironment();
  Measurement row = MakeRow(100, {2});
  PeakRate peak = MakePeak(1e9);
  RunProfile run = MakeRun();
  CampaignOrigin campaign;
};

using Setter = std::function<void(Content&, const std::string&)>;

const std::map<std::string, Setter>& Fields() {
  static const std::map<std::string, Setter> fields = {
      {"device.name", [](Content& c, const std::string& text) { c.device.name = text; }},
      {"device.vendor", [](Content& c, const std::string& text) { c.device.vendor = text; }},
      {"device.generation", [](Content& c, const std::string& text) { c.device.generation = text; }},
      {"device.identity name", [](Content& c, const std::string& text) { c.device.identity[text] = "x"; }},
      {"device.identity", [](Content& c, const std::string& text) { c.device.identity["family"] = text; }},
      {"environment.library name",
       [](Content& c, const std::string& text) {
         c.environment.libraries = {{text, "1"}};
       }},
      {"environment.library",
       [](Content& c, const std::string& text) {
         c.environment.libraries = {{"onednn", text}};
       }},
      {"environment.affinity",
       [](Content& c, const std::string& text) { c.environment.evidence[evidence::kAffinity] = text; }},
      {"environment.clock_policy",
       [](Content& c, const std::string& text) { c.environment.evidence[evidence::kClocks] = text; }},
      {"environment.host",
       [](Content& c, const std::string& text) { c.environment.evidence[evidence::kSystem] = text; }},
      {"environment.version",
       [](Content& c, const std::string& text) { c.environment.evidence[evidence::kInfimum] = text; }},
      {"row.workload", [](Content& c, const std::string& text) { c.row.workload.text = text; }},
      {"row.measured_at", [](Content& c, const std::string& text) { c.row.measured_at = text; }},
      {"row.reason",
       [](Content& c, const std::string& text) {
         c.row.outcome = Outcome::kFailed;
         c.row.reason = text;
       }},
      {"row.flags",
       [](Content& c, const std::string& text) {
         c.row.flags = {text, text};
       }},
      {"candidate.library", [](Content& c, const std::string& text) { c.row.candidate.library = text; }},
      {"candidate.algorithm", [](Content& c, const std::string& text) { c.row.candidate.algorithm = text; }},
      {"candidate.input_layout", [](Content& c, const std::string& text) { c.row.candidate.input_layout = text; }},
      {"candidate.output_layout", [](Content& c, const std::string& text) { c.row.candidate.output_layout = text; }},
      {"peak.source", [](Content& c, const std::string& text) { c.peak.source = text; }},
      {"run.framework", [](Content& c, const std::string& text) { c.run.framework = text; }},
      {"run.framework_version", [](Content& c, const std::string& text) { c.run.framework_version = text; }},
      {"run.model_name", [](Content& c, const std::string& text) { c.run.model_name = text; }},
      {"run.model_sha256", [](Content& c, const std::string& text) { c.run.model_sha256 = text; }},
      {"run.dims", [](Content& c, const std::string& text) { c.run.dims[text] = 3; }},
      {"run.contract", [](Content& c, const std::string& text) { c.run.contract = text; }},
      {"run.device", [](Content& c, const std::string& text) { c.run.device = text; }},
      {"run.setting name", [](Content& c, const std::string& text) { c.run.settings[text] = "x"; }},
      {"run.setting", [](Content& c, const std::string& text) { c.run.settings["x"] = text; }},
      {"run.warnings", [](Content& c, const std::string& text) { c.run.warnings = {text}; }},
      {"layer.name", [](Content& c, const std::string& text) { c.run.layers[0].name = text; }},
      {"layer.op", [](Content& c, const std::string& text) { c.run.layers[0].op = text; }},
      {"layer.provider", [](Content& c, const std::string& text) { c.run.layers[0].provider = text; }},
      {"layer.nodes", [](Content& c, const std::string& text) { c.run.layers[0].nodes = {text}; }},
      {"layer.inputs", [](Content& c, const std::string& text) { c.run.layers[0].inputs = {text}; }},
      {"layer.outputs", [](Content& c, const std::string& text) { c.run.layers[0].outputs = {text}; }},
      {"campaign.key", [](Content& c, const std::string& text) { c.campaign.key = text; }},
      {"campaign.source", [](Content& c, const std::string& text) { c.campaign.source = text; }},
  };
  return fields;
}

const std::map<std::string, std::string>& Texts() {
  static const std::map<std::string, std::string> texts = [] {
    std::map<std::string, std::string> made = {
        {"Quotes", R"(' '' " "" ` \ \' $$ $tag$ E'\x41' [x])"},
        {"Statements", "x'); DROP TABLE measurements; DELETE FROM runs; -- /* \n; COMMIT"},
        {"Parameters", "$1 $2 :1 :key ?1 @a $0 $999999999999 {} {0} %s %n %d%% %00 %2"},
        {"Json", "\"}],{\"a\":null}\\u0000\\ud800"},
        {"CopyMarks", "\\N\t\\.\n\r\v\f\b\\x00\\\\"},
        {"Control", "\x01\x02\x1b[31m\x7f\r\n"},
        {"Nul", std::string("a\0b\0", 4)},
        {"OnlyNul", std::string(1, '\0')},
        {"NoUtf8", "\xff\xfe caf\xe9 \xc0\xaf \xf5\x80\x80\x80 \xe2\x82"},
        {"LoneSurrogates", "\xed\xa0\x80 \xed\xbf\xbf"},
        {"Directions", "\xe2\x80\xae gpj \xe2\x81\xa6 \xe2\x80\x8f \xef\xbb\xbf \xf3\xa0\x81\x81"},
        {"Planes", "\xf0\x9f\x92\xa5 \xf4\x8f\xbf\xbf \xef\xbf\xbf e\xcc\x81 \xc3\xa9"},
        {"Spaces", "  \t "},
        {"Empty", ""},
        {"Words", "NULL"},
        {"Megabyte", std::string(1 << 20, 'm')},
    };
    // Longer than any index holds, and no shorter when it is packed.
    std::string noise;
    for (std::uint64_t state = 1; noise.size() < 100'001;
         state = state * 6364136223846793005ULL + 1442695040888963407ULL)
      noise += static_cast<char>('!' + (state >> 33) % 90);
    made["Noise"] = noise;
    return made;
  }();
  return texts;
}

// What is left of a text: NUL and what is no UTF-8 are replaced.
std::string Kept(const std::string& text) {
  std::string kept = ValidUtf8(text);
  for (std::size_t nul = kept.find('\0'); nul != std::string::npos; nul = kept.find('\0', nul))
    kept.replace(nul, 1, "\xef\xbf\xbd");
  return kept;
}

// All texts and numbers of the store by table and column, without the times at which it was filled.
using Columns = std::map<std::string, std::vector<QueryCell>>;

std::vector<Columns> Dump(Store& store) {
  std::vector<Columns> tables;
  for (const char* sql :
       {"SELECT * FROM devices ORDER BY id", "SELECT * FROM environments ORDER BY id",
        "SELECT * FROM environment_libraries ORDER BY environment_id, library", "SELECT * FROM workloads ORDER BY id",
        "SELECT * FROM candidates ORDER BY id", "SELECT id, key, source FROM campaigns ORDER BY id",
        "SELECT * FROM measurements ORDER BY id",
        "SELECT measurement_id, position, count, minimum_us, median_us, p95_us FROM repetitions ORDER BY 1, 2",
        "SELECT * FROM peak_rates ORDER BY device_id, source", "SELECT * FROM runs ORDER BY id"}) {
    const Result<QueryTable> table = store.AskSql(sql, testing::AsAnyone());
    EXPECT_TRUE(table.ok()) << sql << ": " << (table.ok() ? "" : table.error().message);
    Columns& columns = tables.emplace_back();
    for (std::size_t column = 0; table.ok() && column < table->columns.size(); ++column)
      for (const std::vector<QueryCell>& row : table->rows) columns[table->columns[column]].push_back(row[column]);
  }
  return tables;
}

class HostileTexts : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Open("Memory", ":memory:");
    Open("Sqlite", folder_.File("infimum.db"));
    if (PostgreSqlServer* const server = PostgreSqlServer::Get()) {
      Open("PostgreSql", server->NewDatabase());
    } else {
      ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
      GTEST_SKIP() << PostgreSqlServer::WhyNot();
    }
  }

  void Open(const std::string& name, const std::string& address) {
    Result<std::unique_ptr<Store>> store = OpenStore(address, OpenMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.error().message;
    stores_[name] = std::move(*store);
  }

  static Result<ImportCount> Import(Store& store, const Content& content) {
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, store.BeginImport(content.campaign));
    const std::vector<Measurement> rows = {content.row};
    const std::vector<PeakRate> peaks = {content.peak};
    INFIMUM_RETURN_IF_ERROR(import->Add(content.device, content.environment, rows, peaks));
    INFIMUM_RETURN_IF_ERROR(import->AddRun(content.run));
    return import->Commit();
  }

  static void ExpectFound(Store& store, const Content& content, bool utf8) {
    Selection selection = MakeSelection(content.device);
    selection.contract = content.row.contract;
    const std::vector<WorkloadKey> keys = {content.row.workload};
    const Result<std::vector<Measurement>> rows = store.Find(keys, selection);
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    ASSERT_EQ(rows->size(), 1u);
    const Measurement& row = rows->front();
    EXPECT_EQ(row.workload.text, Kept(content.row.workload.text));
    EXPECT_EQ(row.candidate.name(), Kept(content.row.candidate.name()));
    EXPECT_EQ(row.candidate.input_layout, Kept(content.row.candidate.input_layout));
    EXPECT_EQ(row.candidate.output_layout, Kept(content.row.candidate.output_layout));
    EXPECT_EQ(row.measured_at, Kept(content.row.measured_at));
    EXPECT_EQ(row.reason, Kept(content.row.reason));
    EXPECT_EQ(row.environment, content.environment.Key());
    EXPECT_EQ(row.repetitions, content.row.repetitions);
    EXPECT_EQ(row.flags.size(), content.row.flags.size());
    const Result<DevicePeaks> peaks = store.Peaks(content.device.Key());
    ASSERT_TRUE(peaks.ok()) << peaks.error().message;
    ASSERT_EQ(peaks->rates.size(), 1u);
    EXPECT_EQ(peaks->rates[0].source, Kept(content.peak.source));
    const Result<std::optional<RunProfile>> run = store.FindRun(
        content.run.model_sha256, {content.run.device}, content.run.dims, *content.run.threads, content.run.framework);
    ASSERT_TRUE(run.ok()) << run.error().message;
    ASSERT_TRUE(run->has_value());
    EXPECT_EQ((**run).framework_version, Kept(content.run.framework_version));
    EXPECT_EQ((**run).model_name, Kept(content.run.model_name));
    EXPECT_EQ((**run).contract, Kept(content.run.contract));
    EXPECT_EQ((**run).settings.size(), content.run.settings.size());
    EXPECT_EQ((**run).layers.size(), 1u);
    // Texts within JSON lose nothing but what is no UTF-8.
    if (utf8) {
      EXPECT_EQ((**run).settings, content.run.settings);
      EXPECT_EQ((**run).warnings, content.run.warnings);
      EXPECT_EQ((**run).layers[0].name, content.run.layers[0].name);
      EXPECT_EQ((**run).layers[0].inputs, content.run.layers[0].inputs);
    }
  }

  const std::string text_ = Texts().at(GetParam());
  const testing::TemporaryFolder folder_;
  std::map<std::string, std::unique_ptr<Store>> stores_;
};

TEST_P(HostileTexts, InAnyFieldAreKeptAndAreTheSameInEveryDatabase) {
  std::int64_t imports = 0;
  for (const auto& [field, set] : Fields()) {
    Content content;
    // All that a row is known by is this field's own, so that each table gets one row for it.
    content.device.identity["stepping"] = content.environment.evidence[evidence::kSystem] =
        content.row.candidate.algorithm = field;
    content.environment.libraries = {{field, "1"}};
    content.campaign = {field, "a file"};
    content.run.model_sha256 = field;
    content.row.workload = testing::MakeWorkload(++imports);
    set(content, text_);
    if (field == "row.measured_at" && text_.size() > 100'000) {
      // No time is that long, and PostgreSQL has an index over it: refused as a whole.
      --imports;
      const Result<ImportCount> count = Import(*stores_["PostgreSql"], content);
      ASSERT_FALSE(count.ok());
      EXPECT_THAT(count.error().message, ::testing::HasSubstr("too long for the database's indexes"));
      continue;
    }
    for (const auto& [name, store] : stores_) {
      SCOPED_TRACE(field + " of " + name);
      const Result<ImportCount> count = Import(*store, content);
      ASSERT_TRUE(count.ok()) << count.error().message.substr(0, 500);
      EXPECT_EQ(count->added, 3);
      const Result<ImportCount> again = Import(*store, content);
      ASSERT_TRUE(again.ok()) << again.error().message.substr(0, 500);
      EXPECT_EQ(again->known, 3);
      ExpectFound(*store, content, ValidUtf8(text_) == text_);
    }
  }
  const std::vector<Columns> memory = Dump(*stores_["Memory"]);
  for (std::size_t table = 0; table < memory.size(); ++table) {
    SCOPED_TRACE("table " + std::to_string(table));
    EXPECT_EQ(static_cast<std::int64_t>(memory[table].begin()->second.size()), imports);
  }
  for (const char* name : {"Sqlite", "PostgreSql"}) {
    const std::vector<Columns> other = Dump(*stores_[name]);
    for (std::size_t table = 0; table < memory.size(); ++table)
      EXPECT_TRUE(other[table] == memory[table]) << name << " differs from memory in table " << table;
    EXPECT_EQ(static_cast<std::int64_t>(stores_[name]->Devices()->size()), imports);
  }
}

TEST_P(HostileTexts, InQuestionsAreOnlyTexts) {
  Content content;
  content.row.workload.text = text_;
  std::map<std::string, std::map<std::string, std::vector<std::vector<QueryCell>>>> answers;
  for (const auto& [name, store] : stores_) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(Import(*store, content).ok());
    const std::vector<Columns> before = Dump(*store);
    for (const NamedQuery& query : NamedQueries()) {
      std::map<std::string, std::string> given;
      // Numbers are asked for as texts; what is none is an error of the database's, and not the same in both.
      for (const QueryParameter& parameter : query.parameters)
        if (parameter.name != "least" && parameter.name != "threads") given[parameter.name] = text_;
      Result<QueryTable> table = store->Ask(query, given);
      // SQLite takes no pattern of that length.
      if (!table.ok() && text_.size() > 50'000 &&
          table.error().message.find("pattern too complex") != std::string::npos)
        continue;
      ASSERT_TRUE(table.ok()) << query.name << ": " << table.error().message.substr(0, 500);
      // Identifiers are each store's own.
      if (query.name != "fingerprint") answers[name][query.name] = table->rows;
      EXPECT_FALSE(store->Ask(query, {{text_, "x"}}).ok());
    }
    const Result<QueryTable> own = store->AskSql(text_, testing::AsAnyone());
    ASSERT_FALSE(own.ok());
    EXPECT_EQ(own.error().message.find_first_of("\n\r\x1b"), std::string::npos) << own.error().message.substr(0, 500);
    EXPECT_LT(own.error().message.size(), 1000u);
    EXPECT_FALSE(store->FindRun(text_, {text_}, {{text_, 1}}, 1, text_)->has_value());
    EXPECT_TRUE(store->Peaks({text_}).ok());
    EXPECT_TRUE(Dump(*store) == before);
  }
  for (const auto& [query, rows] : answers["Memory"]) {
    EXPECT_TRUE(answers["Sqlite"][query] == rows) << query;
    EXPECT_TRUE(answers["PostgreSql"][query] == rows) << query;
  }
}

TEST_P(HostileTexts, AsAddressesAreFileNamesOrClearErrors) {
  for (const std::string& address : {folder_.File("x") + text_, "sqlite:" + folder_.File("y") + text_,
                                     "postgresql://" + text_, "postgresql://me:secret@127.0.0.1:1/" + text_,
                                     "postgresql://127.0.0.1:1/x?user=" + text_, "mysql://" + text_}) {
    for (OpenMode mode : {OpenMode::kReadWrite, OpenMode::kReadOnly}) {
      const Result<std::unique_ptr<Store>> store = OpenStore(address, mode);
      if (store.ok()) {
        EXPECT_EQ(address.find("://"), std::string::npos);
        const std::string path = address.starts_with("sqlite:") ? address.substr(7) : address;
        EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(path)));
        EXPECT_EQ(path.find('\0'), std::string::npos) << "the file is another one";
        continue;
      }
      EXPECT_EQ(store.error().message.find_first_of("\n\r\x1b"), std::string::npos)
          << store.error().message.substr(0, 500);
      EXPECT_LT(store.error().message.size(), 1000u);
      EXPECT_EQ(store.error().message.find("secret"), std::string::npos);
    }
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : Texts()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(PostgreSqlAndSqlite, HostileTexts, ::testing::ValuesIn(Names()), testing::ParamName);

}  // namespace
}  // namespace infimum
