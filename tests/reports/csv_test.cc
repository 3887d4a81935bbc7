#include "reports/text/csv.h"

#include <gtest/gtest.h>

#include <random>

#include "infimum/base/utf8.h"

namespace infimum {
namespace {

using Cells = std::vector<std::string>;

// RFC 4180 read back by the book, independent of the writer.
std::vector<Cells> Parse(const std::string& text) {
  std::vector<Cells> rows;
  Cells row;
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        cell += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.push_back(cell);
      cell.clear();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      row.push_back(cell);
      rows.push_back(row);
      row.clear();
      cell.clear();
      ++i;
    } else {
      cell += c;
    }
  }
  return rows;
}

TEST(Csv, QuotesOnlyWhatMustBe) {
  EXPECT_EQ(FormatCsvRow(Cells{"a", "b,c", "say \"x\"", "", "two\nlines"}),
            "a,\"b,c\",\"say \"\"x\"\"\",,\"two\nlines\"\r\n");
  EXPECT_EQ(FormatCsvRow(Cells{""}), "\"\"\r\n");
}

TEST(Csv, NamesInATableHarmNeitherTerminalNorSpreadsheet) {
  EXPECT_EQ(SectionCsv({.columns = {"a", "b", "c"}, .rows = {{"\x1b[2J", "=1+1", "-1.5"}}}),
            "a,b,c\r\n\\x1b[2J,'=1+1,-1.5\r\n");
}

TEST(Csv, ShortRowsAreFilled) { EXPECT_EQ(SectionCsv({.columns = {"a", "b"}, .rows = {{"1"}}}), "a,b\r\n1,\r\n"); }

TEST(Csv, ReadingBackGivesTheSameCells) {
  std::mt19937 random(7);
  const std::string alphabet = std::string("ab,\"\r\n \t;'") + '\0' + "\xC3\xA9\xFF";
  for (int round = 0; round < 500; ++round) {
    Cells cells(1 + random() % 5);
    for (std::string& cell : cells) {
      for (std::size_t i = random() % 8; i > 0; --i) cell += alphabet[random() % alphabet.size()];
    }
    Cells valid;
    for (const std::string& cell : cells) valid.push_back(ValidUtf8(cell));
    std::vector<Cells> rows = Parse(FormatCsvRow(cells));
    ASSERT_EQ(rows.size(), 1u) << FormatCsvRow(cells);
    EXPECT_EQ(rows.front(), valid);
  }
}

}  // namespace
}  // namespace infimum
