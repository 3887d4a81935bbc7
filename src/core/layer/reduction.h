// Operators that combine elements along axes: reductions, scans and sorts.
//
//   reduction kind=mean dtype=f32:-:f32 in=1280x49 axes=1
//   scan kind=sum dtype=f32:-:f32 in=64x1000x1 axis=1
//   sort kind=topk dtype=f32:-:f32 in=8x1000x1 axis=1 k=5
//
// Neighbouring dimensions that are all reduced or all kept are merged (MakeReduction); scans and sorts
// are canonically outer x axis x inner. Operands: input.
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/formulas.h"
#include "src/core/layer/work.h"

namespace infimum {

// One line each in reduction_kinds.def.
enum class ReductionKind {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) kind,
#define INFIMUM_ARGUMENT(kind, name, fold) kind,
#include "src/core/layer/reduction_kinds.def"
};
std::span<const NamedValue<ReductionKind>> NamesOf(ReductionKind);

struct ReductionConfig {
  ReductionKind kind = ReductionKind::kSum;
  OperandTypes types;
  Shape input;
  std::vector<std::int64_t> axes;  // ascending, from the front

  static constexpr std::string_view kName = "reduction";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.input);
    visit("axes", self.axes);
  }
  friend bool operator==(const ReductionConfig&, const ReductionConfig&) = default;
};

enum class ScanKind { kSum, kProduct };
std::span<const NamedValue<ScanKind>> NamesOf(ScanKind);

struct ScanConfig {
  ScanKind kind = ScanKind::kSum;
  OperandTypes types;
  Shape input;
  std::int64_t axis = 1;

  static constexpr std::string_view kName = "scan";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.input);
    visit("axis", self.axis);
  }
  friend bool operator==(const ScanConfig&, const ScanConfig&) = default;
};

enum class SortKind { kTopK, kSort };
std::span<const NamedValue<SortKind>> NamesOf(SortKind);

struct SortConfig {
  SortKind kind = SortKind::kTopK;
  OperandTypes types;
  Shape input;
  std::int64_t axis = 1;
  std::int64_t k = 1;

  static constexpr std::string_view kName = "sort";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.input);
    visit("axis", self.axis);
    visit("k", self.k);
  }
  friend bool operator==(const SortConfig&, const SortConfig&) = default;
};

// The formula of a kind on numbers of type T; for the places of extremes, of the extremes.
template <class T>
struct ReductionFormula {
  T start;
  T (*combined)(T a, T b);
  T (*term)(T x);
  double (*result)(double total, double count);
};

template <class T>
ReductionFormula<T> FormulaOf(ReductionKind kind) {
  using namespace formulas;
  const auto itself = [](T x) { return x; };
  const auto total_itself = [](double total, double) { return total; };
  switch (kind) {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result)                                \
  case ReductionKind::kind:                                                                            \
    return {StartOf<T>(Fold::fold), Combined<Fold::fold, T>, [](T x) { return static_cast<T>(term); }, \
            [](double total, [[maybe_unused]] double count) { return result; }};
#define INFIMUM_ARGUMENT(kind, name, fold) \
  case ReductionKind::kind:                \
    return {StartOf<T>(Fold::fold), Combined<Fold::fold, T>, itself, total_itself};
#include "src/core/layer/reduction_kinds.def"
  }
  return {};
}

bool IsArgument(ReductionKind kind);  // arg_max, arg_min

Shape OutputShape(const ReductionConfig& config);  // reduced dimensions are left out
ReductionConfig MakeReduction(ReductionKind kind, OperandTypes types, const Shape& shape,
                              const std::vector<std::int64_t>& axes);

// direct = conventional = one operation for each input element (two for l2, sum_square and
// log_sum_exp).
Work WorkOf(const ReductionConfig& config);
Status Validate(const ReductionConfig& config);

// direct = conventional = one for each element.
Work WorkOf(const ScanConfig& config);
Status Validate(const ScanConfig& config);

// direct = conventional = n log2(n) comparisons for a sort, n for a top-k, along each line.
// Writes k values and k 64-bit indices a line.
Work WorkOf(const SortConfig& config);
Status Validate(const SortConfig& config);
std::vector<Operand> OutputsOfFamily(const SortConfig& config);

}  // namespace infimum
