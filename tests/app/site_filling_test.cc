// What a site says of a store, held against what was put into it.
#include "src/app/commands/report_store/site_filling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/store_rows.h"

namespace infimum::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A model of one layer, twice.
class SiteFilling : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Store>> opened = OpenStore(":memory:", OpenMode::kReadWrite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
    AddModel("sha");
  }

  void AddModel(const std::string& sha256) {
    StoredModel model{"acmenet", sha256, {{"batch size", 1}}, {}};
    const std::string layer = testing::MakeWorkload(100).text;
    model.layers.push_back({"one", "Relu", "measurable", "", layer, "strict-f32", 1, 800, 100});
    model.layers.push_back({"two", "Relu", "measurable", "", layer, "strict-f32", 1, 800, 100});
    model.layers.push_back({"never", "Relu", "measurable", "", testing::MakeWorkload(7).text, "strict-f32", 0, 8, 1});
    ASSERT_TRUE(store_->ImportModel(model).ok());
  }
  static Device Named(const std::string& name, std::int64_t cores) {
    Device device = testing::MakeDevice(std::to_string(cores));
    device.name = name;
    device.cores = cores;
    return device;
  }
  void Measure(const Device& device, const std::string& version, double microseconds, std::int64_t threads = 1,
               const std::string& library = "onednn") {
    Measurement row = testing::MakeRow(100, {microseconds, microseconds});
    row.candidate.library = library;
    ASSERT_TRUE(store_->Import(device, testing::MakeEnvironment(version, threads), {{row}}, {}).ok());
  }
  void Run(const Device& device, double microseconds, std::int64_t threads = 1) {
    RunProfile run = testing::MakeRun();
    run.model_sha256 = "sha";
    run.dims = {{"batch size", 1}};
    run.device = device.Key().text;
    run.threads = threads;
    run.contract = "strict-f32";
    run.end_to_end = {{{Latency(microseconds)}}, {{Latency(microseconds)}}};
    ASSERT_TRUE(store_->ImportRun(run).ok());
  }
  SiteReport Report(bool anonymize = false) {
    ProgressLog log(Loudness::kQuiet, false, [](std::string_view) {});
    Result<SiteReport> report = MakeSiteReport(*store_, {.address = "secret.db", .anonymize = anonymize}, log);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message);
    return report.ok() ? *std::move(report) : SiteReport{};
  }

  std::unique_ptr<Store> store_;
};

TEST_F(SiteFilling, ARunOfOneDeviceIsNotHeldAgainstAnotherOfItsName) {
  Measure(Named("Xeon", 4), "3.2.0", 10);
  Run(Named("Xeon", 4), 30);
  Measure(Named("Xeon", 8), "3.2.0", 5);
  const SiteReport report = Report();
  ASSERT_THAT(report.devices, SizeIs(2));
  EXPECT_EQ(report.devices[0].name, "Xeon (4 cores)");
  EXPECT_EQ(report.devices[0].asked, Named("Xeon", 4).Key().text);
  ASSERT_THAT(report.places, SizeIs(2));
  EXPECT_EQ(report.places[0].bound, Latency(20));
  EXPECT_EQ(report.places[0].gap(), 1.5);
  EXPECT_EQ(report.places[1].bound, Latency(10));
  EXPECT_FALSE(report.places[1].run.has_value());
  EXPECT_THAT(report.holes, IsEmpty());  // the layer that never runs is none
}

TEST_F(SiteFilling, EachNumberOfThreadsIsAPlaceWithItsOwnRunAndHoles) {
  const Device device = Named("Xeon", 4);
  Measure(device, "3.2.0", 10, 1);
  Run(device, 30, 2);
  const SiteReport report = Report();
  ASSERT_THAT(report.places, SizeIs(2));
  EXPECT_TRUE(report.places[0].is_complete);
  EXPECT_FALSE(report.places[0].run.has_value());
  EXPECT_EQ(report.places[1].threads, 2);
  EXPECT_FALSE(report.places[1].gap().has_value());
  ASSERT_THAT(report.holes, SizeIs(1));
  EXPECT_EQ(report.holes[0].threads, 2);
  EXPECT_EQ(report.holes[0].missing, 1);
}

TEST_F(SiteFilling, AGpusThreadsAreOne) {
  Device device = Named("GPU", 4);
  device.kind = DeviceKind::kGpu;
  Measure(device, "3.2.0", 10, 1);
  Run(device, 30, 8);
  const SiteReport report = Report();
  ASSERT_THAT(report.places, SizeIs(1));
  EXPECT_EQ(report.places[0].gap(), 1.5);
}

// Another machine's version between them hides nothing, and numbers count as numbers.
TEST_F(SiteFilling, UpgradesAreBetweenVersionsOfOneDevice) {
  Measure(Named("A", 4), "3.9.0", 10);
  Measure(Named("A", 4), "3.11.0", 30);
  Measure(Named("B", 8), "3.10.0", 10);
  Measure(Named("B", 8), "3.11.0-rc1", 10);
  Measure(Named("B", 8), "3.11.0", 5);
  std::vector<std::string> upgrades;
  for (const SiteUpgrade& upgrade : Report().upgrades) upgrades.push_back(upgrade.from + " to " + upgrade.to);
  EXPECT_THAT(upgrades, ElementsAre("3.11.0-rc1 to 3.11.0", "3.9.0 to 3.11.0"));
}

// By version and not by the day of the measurement.
TEST_F(SiteFilling, APlaceOnOlderLibrariesNamesTheNewerOnes) {
  Measure(Named("A", 4), "3.11.0", 30);
  Measure(Named("A", 4), "3.9.0", 10);
  Measure(Named("B", 8), "3.9.0", 30);
  Measure(Named("B", 8), "3.11.0", 10);
  const SiteReport report = Report();
  ASSERT_THAT(report.places, SizeIs(2));
  EXPECT_EQ(report.places[0].newer, "onednn 3.11.0");
  EXPECT_EQ(report.places[1].newer, "");
}

TEST_F(SiteFilling, TwoFilesOfOneNameAreTwoModelsWithPagesOfTheirOwn) {
  AddModel("other sha");
  Measure(Named("A", 4), "3.9.0", 10);
  const SiteReport report = Report();
  ASSERT_THAT(report.models, SizeIs(2));
  EXPECT_NE(report.models[0].path, report.models[1].path);
  EXPECT_THAT(report.models[0].bindings, ElementsAre("batch size=1"));
}

TEST_F(SiteFilling, AnonymousItNamesNeitherModelsNorUnknownLibraries) {
  Measure(Named("A", 4), "3.9.0 /home/bob", 10);
  Measure(Named("A", 4), "3.11.0+bob", 20, 1, "acmecorp");
  const SiteReport report = Report(true);
  std::string all = report.address;
  for (const auto& [path, content] : SiteFiles(report))
    if (path.ends_with(".html")) all += path + content;
  for (const char* secret : {"secret", "acme", "bob", "batch size"})
    EXPECT_EQ(all.find(secret), std::string::npos) << secret;
  EXPECT_NE(all.find("model-1"), std::string::npos);
  EXPECT_NE(all.find("onednn 3.9.0"), std::string::npos);
}

TEST_F(SiteFilling, ItsFingerprintIsOfStoreAndOptions) {
  const std::string before = *FingerprintOf(*store_, {});
  EXPECT_EQ(*FingerprintOf(*store_, {}), before);
  EXPECT_NE(*FingerprintOf(*store_, {.address = "infimum.db", .anonymize = true}), before);
  EXPECT_NE(*FingerprintOf(*store_, {.address = "other.db", .anonymize = false}), before);
  Measure(Named("A", 4), "3.9.0", 10);
  EXPECT_NE(*FingerprintOf(*store_, {}), before);
}

}  // namespace
}  // namespace infimum::cli
