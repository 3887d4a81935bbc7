#include "analyzer/effects/design.h"

#include <bit>
#include <random>
#include <utility>

namespace infimum {
namespace {

constexpr std::size_t kBitsOfBlock = 4;
static_assert(kSettingsOfBlock == std::size_t{1} << kBitsOfBlock);

// The engine's numbers are the standard's; std::shuffle and the distributions are each library's own.
using Random = std::mt19937_64;

template <class T>
void Shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

// m: room for the factors' columns in the upper half of the 2^m, and in the lower one for those of neighbours beside
// the blocks', with as many left that a draw soon finds one.
std::size_t BitsOf(std::size_t factors) {
  std::size_t bits = kBitsOfBlock;
  while ((std::size_t{1} << (bits - 1)) < 2 * factors + 6) ++bits;
  return bits;
}

// One for each factor. A factor for which no free column is left starts the draw again.
std::vector<std::size_t> DrawColumns(std::size_t factors, std::size_t bits, Random& random) {
  const std::size_t half = std::size_t{1} << (bits - 1), blocks = std::size_t{1} << (bits - kBitsOfBlock);
  while (true) {
    std::vector<bool> taken(2 * half, false);
    for (std::size_t i = 0; i < blocks; ++i) taken[i] = true;
    std::vector<std::size_t> free(half), columns;
    for (std::size_t i = 0; i < half; ++i) free[i] = half + i;
    Shuffle(free, random);
    for (const std::size_t column : free) {
      if (columns.size() == factors) break;
      if (!columns.empty() && taken[column ^ columns.back()]) {
        continue;
      }
      if (!columns.empty()) taken[column ^ columns.back()] = true;
      columns.push_back(column);
    }
    if (columns.size() == factors) return columns;
  }
}

}  // namespace

std::size_t SettingsOfReplicate(std::size_t factors) { return std::size_t{1} << BitsOf(factors); }

std::vector<DesignRun> MakeDesign(std::size_t factors, std::size_t replicates, std::uint64_t seed) {
  Random random(seed);
  const std::size_t bits = BitsOf(factors), blocks = std::size_t{1} << (bits - kBitsOfBlock);
  std::vector<DesignRun> design;
  for (std::size_t replicate = 0; replicate < replicates; ++replicate) {
    const std::vector<std::size_t> columns = DrawColumns(factors, bits, random);
    std::vector<bool> turned(factors);
    for (std::size_t i = 0; i < factors; ++i) turned[i] = (random() & 1) != 0;
    std::vector<std::size_t> order(blocks);
    for (std::size_t i = 0; i < blocks; ++i) order[i] = i;
    Shuffle(order, random);
    for (std::size_t place = 0; place < blocks; ++place) {
      const std::size_t block = replicate * blocks + place;
      std::vector<DesignRun> runs = {{std::string(factors, '0'), block, true},
                                     {std::string(factors, '1'), block, true}};
      for (std::size_t setting = 0; setting < kSettingsOfBlock; ++setting) {
        // The lowest bits of a run are its block's number, so that the columns below `blocks` distinguish blocks.
        const std::size_t run = setting << (bits - kBitsOfBlock) | order[place];
        std::string levels(factors, '0');
        for (std::size_t i = 0; i < factors; ++i)
          if (((std::popcount(run & columns[i]) & 1) != 0) != turned[i]) levels[i] = '1';
        runs.push_back({std::move(levels), block, false});
      }
      Shuffle(runs, random);
      design.insert(design.end(), runs.begin(), runs.end());
    }
  }
  return design;
}

}  // namespace infimum
