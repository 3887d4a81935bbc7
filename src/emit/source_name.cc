#include "src/emit/source_name.h"

#include <span>
#include <string_view>
#include <vector>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"

namespace infimum::emit {
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
