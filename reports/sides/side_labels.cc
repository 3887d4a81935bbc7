#include "reports/sides/side_labels.h"

#include <algorithm>
#include <string_view>

namespace infimum {
namespace {

// A label of so many bytes fits the head of a column.
constexpr std::size_t kShort = 18;
// More words than that of one label are not looked at.
constexpr std::size_t kMostWords = 64;

struct Word {
  std::string_view before;  // what separates it from the word before
  std::string_view text;
};

// UTF-8 beyond ASCII is part of words, and so is a point between two digits: "1.31.1".
bool IsOfWord(std::string_view label, std::size_t at) {
  const auto is_digit = [&](std::size_t i) { return i < label.size() && label[i] >= '0' && label[i] <= '9'; };
  const char c = label[at];
  if (c == '.') return at > 0 && is_digit(at - 1) && is_digit(at + 1);
  return is_digit(at) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// What stands behind the last word is left out.
std::vector<Word> WordsOf(std::string_view label) {
  std::vector<Word> words;
  std::size_t end = 0;
  for (std::size_t at = 0; at < label.size();) {
    if (!IsOfWord(label, at)) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < label.size() && IsOfWord(label, at)) ++at;
    words.push_back({label.substr(end, begin - end), label.substr(begin, at - begin)});
    end = at;
  }
  return words;
}

// The longest sequence of words that stands in both in this order, words between them or not.
std::vector<std::string_view> CommonOf(const std::vector<std::string_view>& a, const std::vector<Word>& b) {
  std::vector<std::vector<std::size_t>> longest(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      longest[i][j] = a[i] == b[j].text ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
  std::vector<std::string_view> common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j].text) {
      common.push_back(a[i]);
      ++i, ++j;
    } else if (longest[i + 1][j] >= longest[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

// The same of all, from their word `begin` on.
std::vector<std::string_view> CommonFrom(std::size_t begin, std::vector<std::vector<Word>> words) {
  for (std::vector<Word>& of_one : words)
    of_one.erase(of_one.begin(), of_one.begin() + static_cast<std::ptrdiff_t>(begin));
  std::vector<std::string_view> common;
  for (const Word& word : words.front()) common.push_back(word.text);
  for (const std::vector<Word>& other : words) common = CommonOf(common, other);
  return common;
}

// With how many same words all of them begin.
std::size_t CommonBegin(const std::vector<std::vector<Word>>& words) {
  const auto all_have = [&words](std::size_t at) {
    return std::ranges::all_of(
        words, [&](const auto& of_one) { return at < of_one.size() && of_one[at].text == words.front()[at].text; });
  };
  std::size_t begin = 0;
  while (begin < words.front().size() && all_have(begin)) ++begin;
  return begin;
}

std::size_t CommonEnd(std::vector<std::vector<Word>> words) {
  for (std::vector<Word>& of_one : words) std::ranges::reverse(of_one);
  return CommonBegin(words);
}

// The words from `kept` on, those from `begin` on only where they are not among the common ones, from left to right.
std::string RestOf(const std::vector<Word>& words, std::size_t kept, std::size_t begin,
                   const std::vector<std::string_view>& common) {
  std::string rest;
  std::size_t next = 0;
  bool follows = false;  // the word before is in it
  for (std::size_t i = kept; i < words.size(); ++i) {
    if (i >= begin && next < common.size() && words[i].text == common[next]) {
      ++next;
      follows = false;
      continue;
    }
    if (!rest.empty()) rest += follows ? words[i].before : std::string_view(" ");
    rest += words[i].text;
    follows = true;
  }
  return rest;
}

bool BeginsWithDigit(const std::string& text) { return !text.empty() && text.front() >= '0' && text.front() <= '9'; }

}  // namespace

std::vector<std::string> ShortSideLabels(const std::vector<std::string>& labels) {
  if (labels.size() < 2 || std::ranges::all_of(labels, [](const auto& label) { return label.size() <= kShort; }))
    return labels;
  std::vector<std::vector<Word>> words;
  for (const std::string& label : labels) words.push_back(WordsOf(label));
  if (std::ranges::any_of(words, [](const auto& of_one) { return of_one.size() > kMostWords; })) return labels;
  const std::size_t suffix = CommonEnd(words);
  for (std::vector<Word>& of_one : words) of_one.resize(of_one.size() - suffix);
  const std::size_t begin = CommonBegin(words);
  const std::vector<std::string_view> common = CommonFrom(begin, words);
  // Where one would be left without a name, or with a number alone, the end of what they begin with stays.
  for (std::size_t kept = begin + 1; kept-- > 0;) {
    std::vector<std::string> rests;
    for (const std::vector<Word>& of_one : words) rests.push_back(RestOf(of_one, kept, begin, common));
    if (kept > 0 && std::ranges::any_of(rests, BeginsWithDigit)) continue;
    std::vector<std::string> sorted = rests;
    std::ranges::sort(sorted);
    if (!sorted.front().empty() && std::ranges::adjacent_find(sorted) == sorted.end()) return rests;
  }
  return labels;
}

}  // namespace infimum
