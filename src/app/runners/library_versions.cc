#include "src/app/runners/library_versions.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <variant>

namespace infimum {
namespace {

// "7.10.2" after "7.9": runs of digits count as numbers.
bool IsOlder(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    std::size_t count = 0;
    while (count < text.size() && std::isdigit(static_cast<unsigned char>(text[count])) != 0) ++count;
    return count;
  };
  while (!a.empty() && !b.empty()) {
    const std::size_t of_a = digits(a), of_b = digits(b);
    if (of_a > 0 && of_b > 0) {
      std::string_view x = a.substr(0, of_a), y = b.substr(0, of_b);
      x.remove_prefix(std::min(x.find_first_not_of('0'), x.size()));
      y.remove_prefix(std::min(y.find_first_not_of('0'), y.size()));
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      a.remove_prefix(of_a);
      b.remove_prefix(of_b);
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

}  // namespace

Result<std::vector<LibraryVersion>> VersionsOf(const std::string& library, const Device& device, std::int64_t threads,
                                               Store& store) {
  INFIMUM_ASSIGN_OR_RETURN(const QueryTable table, store.Ask(*FindQuery("environments"),
                                                             {{"device", device.Key().text}, {"library", library}}));
  std::vector<LibraryVersion> versions;
  for (const std::vector<QueryCell>& row : table.rows) {
    const auto *key = std::get_if<std::string>(&row[1]), *version = std::get_if<std::string>(&row[3]);
    const auto* of_threads = std::get_if<std::int64_t>(&row[4]);
    if (key == nullptr || version == nullptr || of_threads == nullptr || *of_threads != threads) continue;
    const auto known = std::ranges::find(versions, *version, &LibraryVersion::version);
    if (known != versions.end()) {
      known->environments.push_back({*key});
    } else {
      versions.push_back({*version, {{*key}}});
    }
  }
  std::ranges::stable_sort(versions, IsOlder, &LibraryVersion::version);
  return versions;
}

}  // namespace infimum
