#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/reports/sample_site.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::set<std::string> Matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), regex); match != std::sregex_iterator(); ++match)
    found.insert((*match)[1]);
  return found;
}

Section Find(const SitePage& page, const std::string& id) {
  const auto found = std::ranges::find(page.sections, id, &Section::id);
  EXPECT_NE(found, page.sections.end()) << id;
  return found == page.sections.end() ? Section{} : *found;
}

TEST(Site, EveryLinkLeadsToAPageOfItAndToARowThere) {
  const std::map<std::string, std::string> files = SiteFiles(SampleSite(9, 11));
  ASSERT_EQ(files.size(), 2u + 1u + 9u + 11u + 1u);
  std::size_t links = 0;
  for (const auto& [path, page] : files) {
    if (!path.ends_with(".html")) continue;
    const bool is_index = path == "index.html";
    for (const std::string& link : Matches(page, "(?:href|src)=\"([^\"#][^\"]*)\"")) {
      if (link == "data:,") continue;
      ++links;
      const std::size_t hash = link.find('#');
      std::string target = link.substr(0, hash);
      ASSERT_EQ(target.starts_with("../"), !is_index) << link << " of " << path;
      if (!is_index) target = target.substr(3);
      ASSERT_TRUE(files.contains(target)) << link << " of " << path;
      if (hash == std::string::npos) continue;
      EXPECT_THAT(files.at(target), HasSubstr(" id=\"" + link.substr(hash + 1) + "\"")) << link << " of " << path;
    }
    for (const std::string& anchor : Matches(page, "href=\"#([^\"]+)\""))
      EXPECT_THAT(page, HasSubstr("id=\"" + anchor + "\"")) << path;
  }
  EXPECT_GT(links, 200u);
}

TEST(Site, NamesBecomeNeitherElementsNorPlacesOfTheTemplate) {
  for (const auto& [path, page] : SiteFiles(SampleSite())) {
    if (!path.ends_with(".html")) continue;
    EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("<style")), Not(HasSubstr("<script>")))) << path;
    EXPECT_THAT(page, HasSubstr("script-src &#39;self&#39;;")) << path;
  }
}

// The index has a column for each number of threads of a processor, and of what is not complete no bound.
TEST(Site, TheIndexShowsBoundAndGap) {
  SiteReport report = SampleSite();
  const Section models = Find(SitePages(report).front(), "models");
  ASSERT_EQ(models.rows.size(), 3u);
  ASSERT_EQ(models.columns.size(), 2u + 5u);
  EXPECT_EQ(models.columns[3].title, "GPU 2, 1 thread");
  EXPECT_EQ(models.columns[4].title, "GPU 2, 2 threads");
  const TableRow& row = models.rows[1];
  EXPECT_EQ(row[2].text, "1.00 ms");
  EXPECT_EQ(row[2].aside, "1.3x");
  EXPECT_EQ(row[2].tone, CellTone::kSlower);
  EXPECT_EQ(row[3].text, "2.00 ms");
  EXPECT_EQ(row[4].text, "1.00 ms");
  EXPECT_EQ(row[5].text, "45 of 60");
  EXPECT_TRUE(row[5].aside.empty());
  EXPECT_EQ(row[6].text, "–");  // nothing was measured
  EXPECT_EQ(models.rows[0][2].tone, CellTone::kFaster);
  EXPECT_EQ(models.rows[2][2].text, "60 of 61?");  // one is unknown
}

// A run that is below the interval of its bound says that something is missing; a run within it does not.
TEST(Site, RunsBelowTheirBoundsAreListed) {
  SiteReport report = SampleSite();
  EXPECT_EQ(Find(SitePages(report).front(), "inversions").rows.size(), 4u);  // the first model, by threads
  for (SitePlace& place : report.places)
    if (place.run) place.run->time = place.bound, place.run->interval = place.interval;
  const SitePage index = SitePages(report).front();
  for (const Section& section : index.sections) EXPECT_NE(section.id, "inversions");
}

TEST(Site, RowsOfOlderLibrariesAreListedWhereNewerOnesAreThere) {
  const SiteReport report = SampleSite();
  const Section stale = Find(SitePages(report).front(), "stale");
  ASSERT_FALSE(stale.rows.empty());
  for (const TableRow& row : stale.rows) {
    EXPECT_EQ(row[1].text, "GPU 4");
    EXPECT_EQ(row[2].text, "cudnn 9.1");
    EXPECT_EQ(row[3].text, "cudnn 9.2");
  }
}

TEST(Site, HolesHaveTheCommandThatFillsThem) {
  SiteReport report = SampleSite();
  const Section holes = Find(SitePages(report).front(), "holes");
  ASSERT_EQ(holes.rows.size(), 2u);
  EXPECT_EQ(holes.rows[1][5].text,
            "infimum analyze model-1.onnx --dim batch=1 --dim sequence=128 --backend cuda --db 'team'\\''s.db'");
  // What no candidate has cannot be filled by measuring.
  report.holes = {{1, 2, 1, 0, 0, 5}};
  EXPECT_EQ(Find(SitePages(report).front(), "holes").rows[0][5].text, "");
}

TEST(Site, AnUpgradeIsItsSlowerAndItsFasterLayers) {
  const std::vector<SitePage> pages = SitePages(SampleSite());
  const SitePage& page = pages.back();
  EXPECT_EQ(page.title, "cudnn 9.1 to 9.2");
  EXPECT_EQ(page.headline, "20 layers slower, 20 faster.");
  EXPECT_EQ(Find(page, "slower").rows.front().back().text, "1.6");
  EXPECT_EQ(Find(page, "faster").rows.front().back().text, "0.43");
  EXPECT_EQ(Find(page, "slower").rows.front()[0].text,
            "convolution f32 in=1x1x56x56 out_channels=64 kernel=3x3 pad=1,1,1,1");
}

TEST(Site, AnEmptyStoreHasAnIndexThatSaysSo) {
  SiteReport report;
  const std::vector<SitePage> pages = SitePages(report);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages.front().headline, "Nothing of the store's models was measured yet.");
  EXPECT_THAT(SiteFiles(report).at("index.html"), HasSubstr("Nothing of the store"));
}

}  // namespace
}  // namespace infimum
