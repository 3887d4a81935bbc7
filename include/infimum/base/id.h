// Indices that do not mix: a LayerId is never taken for a ValueId.
//
//   using LayerId = Id<struct LayerTag>;
//   layers[id.index()]
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace infimum {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}

  constexpr std::size_t index() const { return index_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::uint32_t index_ = 0;
};

}  // namespace infimum

template <class Tag>
struct std::hash<infimum::Id<Tag>> {
  std::size_t operator()(infimum::Id<Tag> id) const noexcept { return std::hash<std::size_t>{}(id.index()); }
};
