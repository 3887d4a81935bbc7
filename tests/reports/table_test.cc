#include <gtest/gtest.h>

#include "reports/text/section.h"
#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

TEST(Table, ColumnsLineUp) {
  Section table{.columns = {"layer", NumberColumn("bound"), "note"},
                .rows = {{"Conv_0", "1.16 ms", ""}, {"x", "9 µs", "short"}, {"only one cell"}}};
  EXPECT_EQ(SectionTable(table, 0),
            "layer            bound  note\n"
            "Conv_0         1.16 ms\n"
            "x                 9 µs  short\n"
            "only one cell\n");
}

TEST(Table, WideAndCombiningCharactersLineUpToo) {
  Section table{.columns = {"a", "b"}, .rows = {{"層", "1"}, {"e\xCC\x81", "2"}, {"ab", "3"}}};
  EXPECT_EQ(SectionTable(table, 0), "a   b\n層  1\ne\xCC\x81   2\nab  3\n");
}

TEST(Table, OnlyColumnsThatMayBeCutGiveWay) {
  Section table{.columns = {NameColumn("name"), NumberColumn("latency")},
                .rows = {{"a_very_long_layer_name_indeed", "123.4 ms"}}};
  std::string text = SectionTable(table, 24);
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = text.find('\n', start);
    EXPECT_LE(DisplayWidth(text.substr(start, end - start)), 24u) << text;
    start = end + 1;
  }
  EXPECT_NE(text.find("123.4 ms"), std::string::npos);
  EXPECT_NE(text.find("a_very_long_l\xE2\x80\xA6"), std::string::npos) << text;
}

TEST(Table, AHostileNameCannotSendEscapeSequences) {
  Section table{.columns = {"name"},
                .rows = {{"\x1b]0;owned\x07\r\n\xE2\x80\xAE"
                          "evil\xFF"}}};
  EXPECT_EQ(SectionTable(table, 0), "name\n\\x1b]0;owned\\x07\\x0d\\x0a\\u202eevil\xEF\xBF\xBD\n");
}

TEST(Table, SaysHowManyRowsItLeavesOut) {
  Section table{.columns = {"n"}, .rest = "--rows 0 shows all"};
  AddRows(std::vector{1, 2, 3}, 2, table, [](int n) { return TableRow{std::to_string(n)}; });
  EXPECT_EQ(SectionTable(table, 0, 2), "  n\n  1\n  2\n... and 1 more; --rows 0 shows all\n");
}

TEST(Utf8, CuttingCountsColumnsNotBytes) {
  EXPECT_EQ(CutToWidth("caf\xC3\xA9", 4), "caf\xC3\xA9");
  EXPECT_EQ(CutToWidth("層層層", 5), "層層\xE2\x80\xA6");
  EXPECT_EQ(CutToWidth("層層層", 4), "層\xE2\x80\xA6");
  EXPECT_EQ(CutToWidth("abc", 0), "");
}

}  // namespace
}  // namespace infimum
