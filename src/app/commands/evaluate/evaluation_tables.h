// What `infimum evaluate` prints beside cells (reports/sweep): verifications and differences, as a table and as JSON.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infimum/db/store.h"
#include "reports/text/section.h"
#include "src/evaluation/evaluation.h"
#include "src/evaluation/verification.h"

namespace infimum {

// Absent where a result has none.
std::optional<Latency> TimeOf(const CellResult& result);

struct VerifiedCell {
  std::string hash, name, conditions;
  std::optional<Latency> before, now;
  Verification verification;

  // Other numbers, slower, or no result any more.
  bool is_worse() const {
    return verification.numbers == Numbers::kDiffer || verification.verdict == Verdict::kSlower ||
           (before && !now && !verification.not_comparable.empty());
  }
};
Section VerificationTable(std::span<const VerifiedCell> cells, double threshold);
std::string VerificationJson(const std::string& hash, std::span<const VerifiedCell> cells);

// Of a field that differs: the pairs of results in the store whose cells differ in nothing else, on one device.
struct KnownEffect {
  std::size_t pairs = 0;
  double median = 1;  // time with a value of the second file over that with one of the first
};
std::vector<KnownEffect> KnownEffectsOf(std::span<const FieldDifference> differences,
                                        std::span<const CellAttempt> attempts,
                                        const std::map<std::string, std::string>& texts);
Section DifferenceTable(std::span<const FieldDifference> differences, std::span<const KnownEffect> effects);
std::string DifferenceJson(const std::string& hash, const std::string& other,
                           std::span<const FieldDifference> differences, std::span<const KnownEffect> effects);

}  // namespace infimum
