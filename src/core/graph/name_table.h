// Texts that stand once and are called by number: a trace of millions of kernels has some hundred names.
//
//   NameTable names;
//   const NameId relu = names.Intern("aten::relu");   // the same number each time
//   names.text(relu);                                 // "aten::relu"
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace infimum {

enum class NameId : std::uint32_t {};
inline constexpr NameId kNoName{0xffffffff};

class NameTable {
 public:
  NameTable() = default;
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  NameId Intern(std::string_view text) {
    if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
    const auto id = static_cast<NameId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  // Empty for kNoName. Valid as long as the table is.
  std::string_view text(NameId id) const {
    return id == kNoName ? std::string_view() : std::string_view(texts_[static_cast<std::size_t>(id)]);
  }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // its elements never move: the map's keys are views of them
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace infimum
