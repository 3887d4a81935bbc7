#include "analyzer/sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::size_t kMostWords = 64, kMostTerms = 256;
// A column that is so small beside what others leave of it is made of them.
constexpr double kDependent = 1e-9;

// A column of the fit: one value for each cell.
struct FitTerm {
  std::size_t axis = 0;
  std::vector<double> values;
};

// Less its mean, of length 1; of a constant nothing.
bool Standardize(std::vector<double>& values) {
  double sum = 0, square = 0, before = 0;
  for (const double value : values) sum += value, before += value * value;
  for (double& value : values) value -= sum / static_cast<double>(values.size()), square += value * value;
  if (!(square > kDependent * kDependent * before) || !std::isfinite(square)) return false;
  for (double& value : values) value /= std::sqrt(square);
  return true;
}

std::vector<FitTerm> FitTermsOf(const SweepAxis& axis, std::size_t index, std::span<const SweepCell* const> cells) {
  const bool is_log = axis.is_numeric && *ParseNumber(axis.values.front()) > 0;
  std::map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < axis.values.size(); ++i) place[axis.values[i]] = is_log ? 0 : i;
  const std::size_t count = is_log ? 1 : axis.values.size();
  std::vector<FitTerm> terms(count + 1, {index, std::vector<double>(cells.size(), 0)});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto found = cells[i]->fields.find(axis.field);
    const std::size_t column = found == cells[i]->fields.end() ? count : place.at(found->second);
    terms[column].values[i] = is_log && column == 0 ? std::log(*ParseNumber(found->second)) : 1;
  }
  return terms;
}

// Products of standardized columns, the quantity's last.
class FitProducts {
 public:
  FitProducts(const std::vector<FitTerm>& terms, const std::vector<double>& quantity)
      : terms_(terms), size_(terms.size() + 1) {
    const auto column = [&](std::size_t i) -> const std::vector<double>& {
      return i < terms.size() ? terms[i].values : quantity;
    };
    products_.resize(size_ * size_);
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t k = 0; k < quantity.size(); ++k) product += column(i)[k] * column(j)[k];
        products_[i * size_ + j] = product;
      }
  }

  // 1 - RSS / TSS of the fit without one axis: Cholesky's factor, past columns that others make up.
  double ExplainedWithout(std::optional<std::size_t> axis) const {
    std::vector<std::vector<double>> rows;  // of the factor
    std::vector<std::size_t> kept;
    double explained = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (i + 1 < size_ && terms_[i].axis == axis) continue;
      std::vector<double> row;
      double rest = products_[i * size_ + i];
      for (std::size_t j = 0; j < kept.size(); ++j) {
        double product = products_[i * size_ + kept[j]];
        for (std::size_t k = 0; k < j; ++k) product -= row[k] * rows[j][k];
        row.push_back(product / rows[j][j]);
        rest -= row.back() * row.back();
      }
      if (i + 1 == size_) {
        for (const double part : row) explained += part * part;
      } else if (rest > kDependent) {
        row.push_back(std::sqrt(rest));
        rows.push_back(std::move(row));
        kept.push_back(i);
      }
    }
    return std::clamp(explained, 0.0, 1.0);
  }

 private:
  const std::vector<FitTerm>& terms_;
  std::size_t size_;
  std::vector<double> products_;
};

}  // namespace

std::optional<Latency> QuantityOf(const SweepCell& cell, SweepQuantity quantity) {
  const std::optional<Latency>& found = quantity == SweepQuantity::kTime ? cell.time : cell.facts.floor;
  return found && found->count() > 0 && std::isfinite(found->count()) ? found : std::nullopt;
}

std::vector<SweepAxis> AxesOf(std::span<const SweepCell> cells) {
  std::map<std::string, std::set<std::string>> values;
  for (const SweepCell& cell : cells)
    for (const auto& [field, value] : cell.fields) values[field].insert(value);
  std::vector<SweepAxis> axes;
  for (const auto& [field, known] : values) {
    if (known.size() < 2) continue;
    SweepAxis axis{field, {known.begin(), known.end()}, true};
    for (const std::string& value : axis.values) axis.is_numeric = axis.is_numeric && ParseNumber(value).has_value();
    std::ranges::stable_sort(axis.values, [&](const std::string& one, const std::string& other) {
      return axis.is_numeric ? *ParseNumber(one) < *ParseNumber(other) : one < other;
    });
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::optional<Sensitivity> SensitivityOf(std::span<const SweepCell> cells, SweepQuantity quantity) {
  std::vector<const SweepCell*> all, known;
  for (const SweepCell& cell : cells)
    if (QuantityOf(cell, quantity)) all.push_back(&cell);
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < all.size(); i += (all.size() - 1) / kMostFittedCells + 1) {
    known.push_back(all[i]);
    logarithms.push_back(std::log(QuantityOf(*all[i], quantity)->count()));
  }
  if (known.size() < 3 || !Standardize(logarithms)) return std::nullopt;
  Sensitivity result{.cells = known.size(), .r_squared = 0, .axes = {}, .left_out = {}};
  std::vector<FitTerm> terms;
  for (const SweepAxis& axis : AxesOf(cells)) {
    const bool is_log = axis.is_numeric && *ParseNumber(axis.values.front()) > 0;
    const bool is_long = !is_log && axis.values.size() > std::min(kMostWords, known.size() / 2);
    if (is_long || terms.size() + (is_log ? 2 : axis.values.size() + 1) > kMostTerms) {
      result.left_out.push_back(axis.field);
      continue;
    }
    const std::size_t before = terms.size();
    for (FitTerm& term : FitTermsOf(axis, result.axes.size(), known))
      if (Standardize(term.values)) terms.push_back(std::move(term));
    if (terms.size() > before) result.axes.push_back({axis.field, axis.is_numeric, 0});
  }
  const FitProducts gram(terms, logarithms);
  result.r_squared = gram.ExplainedWithout(std::nullopt);
  for (std::size_t axis = 0; axis < result.axes.size(); ++axis)
    result.axes[axis].share = std::max(0.0, result.r_squared - gram.ExplainedWithout(axis));
  std::ranges::stable_sort(result.axes, std::ranges::greater{}, &Sensitivity::Axis::share);
  return result;
}

}  // namespace infimum
