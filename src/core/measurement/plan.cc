#include "infimum/measurement/plan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::string_view kFirstLine = "# infimum plan ";
constexpr std::array<std::string_view, 3> kFields = {"uses", "share", "contract"};

// An error at a place of a line; columns count from 1.
struct PlaceError {
  std::size_t column = 1;
  std::string message;
};

// Errors of ParseWorkload start with a column of their own text ("17: unknown field"): moved to where that
// text stands in the line.
PlaceError MovedTo(std::size_t begin, const Error& error) {
  const std::size_t colon = error.message.find(':');
  if (colon != std::string::npos) {
    const std::optional<std::int64_t> column = ParseInteger(std::string_view(error.message).substr(0, colon));
    if (column && *column >= 1) {
      return {begin + static_cast<std::size_t>(*column),
              std::string(TrimSpace(std::string_view(error.message).substr(colon + 1)))};
    }
  }
  return {begin + 1, error.message};
}

// Reads one `key=value` before the workload.
std::optional<PlaceError> ReadField(std::string_view word, std::size_t begin, PlanEntry& entry, bool& has_contract) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  const std::size_t value_column = begin + equals + 2;
  if (key == "uses") {
    const std::optional<std::int64_t> uses = ParseInteger(value);
    if (!uses || *uses < 1)
      return PlaceError{value_column, "uses is " + Quoted(value) + ", expected a whole number from 1"};
    entry.uses = *uses;
  } else if (key == "share") {
    const std::optional<double> share = ParseNumber(value);
    if (!share || !(*share >= 0 && *share <= 1)) {
      return PlaceError{value_column, "share is " + Quoted(value) + ", expected a number from 0 to 1"};
    }
    entry.share = *share;
  } else if (key == "contract") {
    const std::optional<NumericContract> contract = FindContract(value);
    if (!contract) {
      constexpr std::array<std::string_view, 6> kContracts = {"strict-f32", "tf32", "f16", "bf16", "int8", "fp8"};
      return PlaceError{value_column, "unknown contract " + Quoted(value) + DidYouMean(value, kContracts)};
    }
    entry.contract = *contract;
    has_contract = true;
  } else {
    return PlaceError{begin + 1, "unknown field " + Quoted(key) + " before the workload" + DidYouMean(key, kFields)};
  }
  return std::nullopt;
}

std::optional<PlaceError> ReadEntry(std::string_view line, PlanEntry& entry) {
  bool has_contract = false;
  std::size_t begin = 0;
  while (true) {
    while (begin < line.size() && line[begin] == ' ') ++begin;
    const std::string_view word = line.substr(begin, line.find(' ', begin) - begin);
    if (word.empty()) return PlaceError{begin + 1, "a workload is missing, expected one after the fields"};
    // A workload starts with its family or with "region [": neither holds a '='.
    if (word.find('=') == std::string_view::npos) break;
    if (auto error = ReadField(word, begin, entry, has_contract)) return error;
    begin += word.size();
  }
  Result<Workload> workload = ParseWorkload(line.substr(begin));
  if (!workload.ok()) return MovedTo(begin, workload.error());
  entry.workload = std::move(*workload);
  if (!has_contract) entry.contract = NativeContract(entry.workload);
  return std::nullopt;
}

std::optional<PlaceError> CheckVersion(std::string_view line) {
  const std::string expected = std::string(kFirstLine) + std::to_string(kPlanVersion);
  if (!line.starts_with(kFirstLine)) {
    return PlaceError{1, "not a plan, expected " + Quoted(expected) + " as the first line"};
  }
  const std::string_view number = TrimSpace(line.substr(kFirstLine.size()));
  const std::optional<std::int64_t> version = ParseInteger(number);
  const std::size_t column = kFirstLine.size() + 1;
  if (!version || *version < 1) {
    return PlaceError{
        column, "the plan's version is " + Quoted(number) + ", expected " + Quoted(expected) + " as the first line"};
  }
  if (*version > kPlanVersion) {
    return PlaceError{column, "the plan has version " + std::to_string(*version) + ", this infimum reads up to " +
                                  std::to_string(kPlanVersion) + "; use a newer infimum or write the plan again"};
  }
  return std::nullopt;
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return text;
}

}  // namespace

std::string Format(const Plan& plan) {
  std::string text = std::string(kFirstLine) + std::to_string(kPlanVersion) + "\n";
  for (const std::string& comment : plan.comments) {
    text.append(comment.empty() ? "#" : "# ").append(OneLine(comment)).append("\n");
  }
  for (const PlanEntry& entry : plan.entries) {
    text += "uses=" + std::to_string(entry.uses) + " share=" + FormatNumber(entry.share) + " contract=";
    text += Name(entry.contract);
    text += " " + Format(entry.workload) + "\n";
  }
  return text;
}

Result<Plan> ParsePlan(std::string_view text, std::string_view origin) {
  Plan plan;
  std::size_t line_number = 0;
  const auto at = [&](const PlaceError& error) {
    return Error{std::string(origin) + ":" + std::to_string(line_number) + ":" + std::to_string(error.column) + ": " +
                 error.message};
  };
  while (line_number == 0 || !text.empty()) {
    ++line_number;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line_number == 1) {
      if (const auto error = CheckVersion(line)) return at(*error);
    } else if (line.starts_with('#')) {
      line.remove_prefix(line.starts_with("# ") ? 2 : 1);
      plan.comments.emplace_back(line);
    } else if (!TrimSpace(line).empty()) {
      PlanEntry entry;
      if (const auto error = ReadEntry(line, entry)) return at(*error);
      plan.entries.push_back(std::move(entry));
    }
  }
  return plan;
}

Result<Plan> ReadPlan(const std::string& file) {
  const bool from_input = file == "-";
  std::ifstream opened;
  if (!from_input) {
    opened.open(file, std::ios::binary);
    if (!opened)
      return Error{file + ": cannot be read: " + std::strerror(errno) + "; `infimum plan MODEL -o FILE` writes a plan"};
  }
  std::istream& input = from_input ? std::cin : opened;
  const std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
  if (input.bad() || (!from_input && opened.fail() && !opened.eof())) return Error{file + ": cannot be read"};
  return ParsePlan(text, from_input ? "standard input" : file);
}

Result<Shard> ParseShard(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<std::int64_t> index = ParseInteger(text.substr(0, slash));
  const std::optional<std::int64_t> count =
      slash == std::string_view::npos ? std::nullopt : ParseInteger(text.substr(slash + 1));
  if (!index || !count || *index < 0 || *index >= *count)
    return Error{Quoted(text) + ": expected I/N, the part I of N with I from 0 to N - 1, such as 0/4"};
  return Shard{*index, *count};
}

Plan PartOf(const Plan& plan, Shard shard) {
  Plan whole{plan.comments, {}};
  std::set<std::pair<std::string, NumericContract>> seen;
  for (const PlanEntry& entry : plan.entries)
    if (seen.emplace(Format(entry.workload), entry.contract).second) whole.entries.push_back(entry);
  std::stable_sort(whole.entries.begin(), whole.entries.end(),
                   [](const PlanEntry& a, const PlanEntry& b) { return a.share > b.share; });
  Plan part{plan.comments, {}};
  for (std::size_t i = static_cast<std::size_t>(shard.index); i < whole.entries.size();
       i += static_cast<std::size_t>(shard.count))
    part.entries.push_back(std::move(whole.entries[i]));
  return part;
}

}  // namespace infimum
