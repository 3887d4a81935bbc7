// What the members of an enumeration are called, in their order, and back:
//
//   constexpr EnumNames<Outcome::kFailed> kOutcomes = {"measured", "unsupported", "skipped", "failed"};
//   kOutcomes[Outcome::kSkipped] == "skipped";   kOutcomes.Find("failed") == Outcome::kFailed
//
// The last member says how many there are: with a name too few or too many it does not compile.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace infimum {

template <auto kLast>
class EnumNames {
 public:
  using Enum = decltype(kLast);

  template <class... Text>
  constexpr EnumNames(Text... names) : names_{names...} {  // NOLINT(google-explicit-constructor): a list of names
    static_assert(sizeof...(names) == static_cast<std::size_t>(kLast) + 1);
  }

  constexpr std::string_view operator[](Enum value) const { return names_[static_cast<std::size_t>(value)]; }
  constexpr std::optional<Enum> Find(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return static_cast<Enum>(i);
    return std::nullopt;
  }
  constexpr const auto& all() const { return names_; }

 private:
  std::array<std::string_view, static_cast<std::size_t>(kLast) + 1> names_;
};

}  // namespace infimum
