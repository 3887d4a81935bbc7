#include "src/emit/source_text.h"

#include <fmt/format.h>

#include <span>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"

namespace infimum::emit {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (c == '\n') {
      escaped += "\\n";
    } else if (c == '?') {
      escaped += "\\?";  // of two a trigraph might be made
    } else if (byte < 0x20 || byte >= 0x7f) {
      escaped += fmt::format("\\{:03o}", byte);  // three digits, so that a digit behind it is its own
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Pieces of at most `width` characters where spaces allow it; each but the last ends with its space.
std::vector<std::string_view> Pieces(std::string_view text, std::size_t width) {
  std::vector<std::string_view> pieces;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width - 1);
    if (end == std::string_view::npos || end == 0) end = text.find(' ', width);
    if (end == std::string_view::npos || end + 1 == text.size()) break;
    pieces.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

std::string Joined(const std::vector<std::string>& texts) { return Join(texts, ", "); }

}  // namespace

std::string StringLiteral(std::string_view text) { return '"' + Escaped(text) + '"'; }

std::string BrokenLiteral(std::string_view text, std::size_t indent) {
  std::vector<std::string> lines;
  for (const std::string_view piece : Pieces(text, kColumns - indent - 4)) lines.push_back(StringLiteral(piece));
  return std::string(indent, ' ') + Join(lines, "\n" + std::string(indent, ' '));
}

std::string Comment(std::string_view text, std::size_t columns) {
  std::string clean(text);
  std::replace_if(
      clean.begin(), clean.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  std::string comment;
  for (const std::string_view piece : Pieces(clean, columns - 3)) {
    std::string line = "// " + std::string(piece);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.ends_with('\\') || line.ends_with("\?\?/")) line += '.';
    comment += line + "\n";
  }
  return comment;
}

std::string Braced(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const std::int64_t number : numbers) texts.push_back(std::to_string(number));
  return "{" + Joined(texts) + "}";
}

std::string Braced(const Shape& shape) { return Braced(shape.dims); }

std::string FloatLiteral(double value) {
  std::string text = FormatNumber(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "F";
}

namespace {

constexpr std::size_t kMostReadable = 60;

// Letters and digits, one underscore for each run of all else.
std::string Safe(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      safe += c;
    } else if (!safe.empty() && safe.back() != '_') {
      safe += '_';
    }
  }
  while (!safe.empty() && safe.back() == '_') safe.pop_back();
  return safe;
}

// The family, then the values of the fields.
std::vector<std::string> Words(const LayerConfig& config) {
  std::vector<std::string> words;
  const std::string text = Format(config);
  for (const std::string_view field : Split(text, ' ')) {
    const std::size_t equals = field.find('=');
    std::string_view value = equals == std::string_view::npos ? field : field.substr(equals + 1);
    // One type says it where all are the same.
    if (field.starts_with("dtype=")) {
      const std::vector<std::string_view> types = Split(value, ':');
      const bool alike = types.size() == 3 && types[0] == types[2] && (types[1] == types[0] || types[1] == "-");
      if (alike) value = types[0];
    }
    words.push_back(Safe(value));
  }
  return words;
}

// What a member of a region is called: its kind where it has one.
std::string MemberWord(const LayerConfig& config) {
  const std::string text = Format(config);
  for (const std::string_view field : Split(text, ' '))
    if (field.starts_with("kind=")) return Safe(field.substr(5));
  return Safe(FamilyOf(config));
}

}  // namespace

std::string SourceName(const Workload& workload, std::size_t digits) {
  std::vector<std::string> words;
  if (const auto* region = std::get_if<Region>(&workload)) {
    std::string members;
    for (const RegionMember& member : region->members)
      members += (members.empty() ? "" : "_") + MemberWord(member.config);
    words = Words(region->members[0].config);
    words[0] = members.substr(0, kMostReadable / 2);
  } else {
    words = Words(std::get<LayerConfig>(workload));
  }
  std::string name;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    if (name.size() + 1 + word.size() > kMostReadable) break;
    name += (name.empty() ? "" : "_") + word;
  }
  const std::string text = Format(workload);
  return name + "_" + Sha256(std::as_bytes(std::span(text.data(), text.size()))).substr(0, digits);
}

}  // namespace infimum::emit
