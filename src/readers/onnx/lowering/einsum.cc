// Einsum as a transpose, a reduction, an element-wise multiplication, or a GEMM
// of two operands at a time, in the order that takes the fewest multiplications. The order of dimensions within an
// operand is a layout, which is not part of a GEMM's configuration.
//
//   "bhid,bhjd->bhij"  ->  matmul a=(b h) x i x d b=(b h) x d x j
//   "ij->ji"           ->  movement kind=transpose
//   "i,j->ij"          ->  pointwise kind=multiply
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

// A label is a letter; the dimensions of an ellipsis, from the last on, are the codes below 'A'.
using Labels = std::vector<int>;
constexpr int kMostEllipsis = 32;

struct Equation {
  std::vector<std::string> terms;
  std::optional<std::string> result;
};

bool Contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Result<Equation> Parse(const std::string& text) {
  std::string compact;
  for (const char c : text)
    if (c != ' ') compact += c;
  Equation equation;
  const std::size_t arrow = compact.find("->");
  if (arrow != std::string::npos) equation.result = compact.substr(arrow + 2);
  for (const std::string_view term : Split(std::string_view(compact).substr(0, arrow), ','))
    equation.terms.emplace_back(term);
  return equation;
}

// The labels of a term over `rank` dimensions; of the result, where `rank` is not known beforehand,
// "..." has `ellipsis` dimensions.
Result<Labels> LabelsOf(const std::string& term, std::optional<std::size_t> rank, std::size_t ellipsis) {
  const std::size_t dots = term.find("...");
  const std::size_t letters = dots == std::string::npos ? term.size() : term.size() - 3;
  if (rank) {
    if (letters > *rank || (dots == std::string::npos && letters != *rank))
      return Error{"term " + Quoted(term) + " does not fit an operand of rank " + std::to_string(*rank)};
    ellipsis = *rank - letters;
  }
  if (ellipsis > kMostEllipsis) return Error{"an operand has too many dimensions"};
  Labels labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (std::size_t d = 0; d < ellipsis; ++d) labels.push_back(static_cast<int>(ellipsis - 1 - d));
      i += 2;
      continue;
    }
    const auto letter = static_cast<unsigned char>(term[i]);
    const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (!is_letter) return Error{"term " + Quoted(term) + " has a character that is not a label"};
    labels.push_back(letter);
  }
  return labels;
}

struct Term {
  RegionBuilder::Source source;
  Labels labels;
  std::map<int, std::int64_t> extents;
  DataType type = DataType::kNone;
  Constness constness = Constness::kVariable;
};

Shape ShapeOf(const Term& term, const Labels& labels) {
  Shape shape;
  for (const int label : labels) {
    const auto found = term.extents.find(label);
    shape.dims.push_back(found == term.extents.end() ? 1 : found->second);
  }
  return shape;
}

std::int64_t ProductOver(const Term& term, const Labels& labels) {
  std::int64_t product = 1;
  for (const std::int64_t dim : ShapeOf(term, labels).dims) product *= dim;
  return product;
}

class Contraction {
 public:
  explicit Contraction(const NodeView& node) : node_(node), region_(node) {}

  Result<Lowering> Run() {
    INFIMUM_RETURN_IF_ERROR(Read());
    for (Term& term : terms_) INFIMUM_RETURN_IF_ERROR(TakeDiagonal(term));
    if (terms_.size() == 1) return Single(terms_[0]);
    ChooseOrder();
    Term left = terms_[0];
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(left, Combine(left, terms_[i], i));
    }
    return region_.Finish();
  }

 private:
  Status Read() {
    const Result<std::string> text = Text(node_, "equation", "");
    if (!text.ok()) return text.error();
    const Result<Equation> equation = Parse(*text);
    if (!equation.ok()) return equation.error();
    if (equation->terms.size() != node_.inputs.size())
      return Error{"the equation has " + std::to_string(equation->terms.size()) + " terms for " +
                   std::to_string(node_.inputs.size()) + " inputs"};
    const Result<DataType> output_type = OutputType(node_, 0);
    if (!output_type.ok()) return output_type.error();
    output_type_ = *output_type;
    std::size_t ellipsis = 0;
    std::map<int, int> uses;
    for (std::size_t i = 0; i < equation->terms.size(); ++i) {
      const Result<Shape> shape = InputShape(node_, i);
      if (!shape.ok()) return shape.error();
      const Result<DataType> type = InputType(node_, i);
      if (!type.ok()) return type.error();
      const Result<Labels> labels = LabelsOf(equation->terms[i], shape->rank(), 0);
      if (!labels.ok()) return labels.error();
      Term term{RegionBuilder::Input(i), *labels, {}, *type, ConstnessOf(node_, i)};
      for (std::size_t d = 0; d < labels->size(); ++d) {
        const int label = (*labels)[d];
        const auto [entry, added] = term.extents.try_emplace(label, shape->dims[d]);
        if (!added && entry->second != shape->dims[d])
          return Error{"term " + Quoted(equation->terms[i]) + " takes a diagonal over dimensions of different extents"};
        if (label < kMostEllipsis) ellipsis = std::max(ellipsis, static_cast<std::size_t>(label) + 1);
        ++uses[label];
      }
      terms_.push_back(std::move(term));
    }
    if (equation->result) {
      const Result<Labels> labels = LabelsOf(*equation->result, std::nullopt, ellipsis);
      if (!labels.ok()) return labels.error();
      result_ = *labels;
    } else {  // the ellipsis, then the labels that occur once, in alphabetical order
      for (std::size_t d = 0; d < ellipsis; ++d) result_.push_back(static_cast<int>(ellipsis - 1 - d));
      for (const auto& [label, count] : uses)
        if (label >= kMostEllipsis && count == 1) result_.push_back(label);
    }
    for (std::size_t i = 0; i < result_.size(); ++i) {
      if (uses.count(result_[i]) == 0) return Error{"the result has a label that no term has"};
      if (std::find(result_.begin(), result_.begin() + static_cast<std::ptrdiff_t>(i), result_[i]) !=
          result_.begin() + static_cast<std::ptrdiff_t>(i))
        return Error{"the result has a label twice"};
    }
    return Status();
  }

  // A label that a term has twice picks a diagonal: one element of each line of the repeated dimension.
  Status TakeDiagonal(Term& term) {
    Labels once;
    Shape whole;
    Shape part;
    for (const int label : term.labels) {
      const std::int64_t dim = term.extents.at(label);
      whole.dims.push_back(dim);
      part.dims.push_back(Contains(once, label) ? 1 : dim);
      if (!Contains(once, label)) once.push_back(label);
    }
    if (once.size() == term.labels.size()) return Status();
    term.source = region_.Add(Move(MovementKind::kSlice, term.type, whole, part), {term.source});
    term.constness = Constness::kVariable;
    term.labels = std::move(once);
    return Status();
  }

  // Of three terms and more the order from left to right that takes the fewest multiplications.
  void ChooseOrder() {
    constexpr std::size_t kMostTerms = 6;  // of whose orders all are tried
    if (terms_.size() < 3 || terms_.size() > kMostTerms) return;
    std::map<int, double> extents;
    for (const Term& term : terms_)
      for (const auto& [label, extent] : term.extents)
        extents[label] = std::max(extents[label], static_cast<double>(extent));
    const auto cost = [&](const std::vector<std::size_t>& order) {
      double all = 0;
      std::set<int> left(terms_[order[0]].labels.begin(), terms_[order[0]].labels.end());
      for (std::size_t i = 1; i < order.size(); ++i) {
        left.insert(terms_[order[i]].labels.begin(), terms_[order[i]].labels.end());
        double products = 1;
        for (const int label : left) products *= extents[label];
        all += products;
        std::erase_if(left, [&](int label) {
          return !Contains(result_, label) &&
                 std::none_of(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end(),
                              [&](std::size_t later) { return Contains(terms_[later].labels, label); });
        });
      }
      return all;
    };
    std::vector<std::size_t> order(terms_.size()), best;
    std::iota(order.begin(), order.end(), 0);
    best = order;
    do
      if (cost(order) < cost(best)) best = order;
    while (std::ranges::next_permutation(order).found);
    std::vector<Term> ordered;
    for (const std::size_t term : best) ordered.push_back(std::move(terms_[term]));
    terms_ = std::move(ordered);
  }

  // Sums a term over the labels that nothing else has.
  void SumOut(Term& term, const Labels& labels) {
    if (labels.empty()) return;
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < term.labels.size(); ++i)
      if (Contains(labels, term.labels[i])) axes.push_back(static_cast<std::int64_t>(i));
    if (ProductOver(term, labels) > 1) {
      term.source = region_.Add(
          MakeReduction(ReductionKind::kSum, {term.type, DataType::kNone, term.type}, ShapeOf(term, term.labels), axes),
          {term.source});
      term.constness = Constness::kVariable;
    }
    std::erase_if(term.labels, [&labels](int label) { return Contains(labels, label); });
    for (const int label : labels) term.extents.erase(label);
  }

  Result<Lowering> Single(Term& term) {
    Labels summed;
    for (const int label : term.labels)
      if (!Contains(result_, label)) summed.push_back(label);
    const bool reduces = ProductOver(term, summed) > 1;
    SumOut(term, summed);
    if (!reduces) {
      std::vector<std::int64_t> permutation;
      for (const int label : result_)
        permutation.push_back(std::find(term.labels.begin(), term.labels.end(), label) - term.labels.begin());
      const Shape shape = ShapeOf(term, term.labels);
      if (!KeepsOrder(shape, permutation))
        region_.Add(Transpose(term.type, shape, permutation), {term.source});
      else if (!term.source.is_member)
        return Free("changes the shape, not the elements");
    }
    return region_.Finish();
  }

  // The GEMM of two terms, summed over labels that neither the result nor a later term needs.
  Result<Term> Combine(Term left, Term right, std::size_t right_index) {
    const auto needed = [&](int label) {
      if (Contains(result_, label)) return true;
      for (std::size_t i = right_index + 1; i < terms_.size(); ++i)
        if (Contains(terms_[i].labels, label)) return true;
      return false;
    };
    Labels alone_left, alone_right, batch, rows, columns, inner;
    for (const int label : left.labels) {
      const bool both = Contains(right.labels, label);
      if (needed(label))
        (both ? batch : rows).push_back(label);
      else
        (both ? inner : alone_left).push_back(label);
    }
    for (const int label : right.labels)
      if (!Contains(left.labels, label)) (needed(label) ? columns : alone_right).push_back(label);
    SumOut(left, alone_left);
    SumOut(right, alone_right);
    Term product;
    for (const Labels* labels : {&batch, &rows, &columns})
      for (const int label : *labels) {
        const auto extent = [label](const Term& term) {
          const auto found = term.extents.find(label);
          return found == term.extents.end() ? std::int64_t{1} : found->second;
        };
        const std::int64_t l = extent(left), r = extent(right);
        if (l != r && l != 1 && r != 1) return Error{"two terms give one label different extents"};
        product.labels.push_back(label);
        product.extents[label] = std::max(l, r);
      }
    for (const int label : inner)
      if (left.extents.at(label) != right.extents.at(label)) return Error{"two terms give one label different extents"};
    INFIMUM_RETURN_IF_ERROR(CheckedElementCount(ShapeOf(product, product.labels)));
    product.type = output_type_;
    const OperandTypes types{left.type, right.type, output_type_};
    if (ProductOver(left, inner) == 1) {
      INFIMUM_ASSIGN_OR_RETURN(product.source,
                               region_.AddPointwise(PointwiseKind::kMultiply, types,
                                                    {ShapeOf(left, product.labels), ShapeOf(right, product.labels)},
                                                    {left.source, right.source}));
      return product;
    }
    Shape a = ShapeOf(left, batch);
    Shape b = ShapeOf(right, batch);
    a.dims.push_back(ProductOver(left, rows));
    a.dims.push_back(ProductOver(left, inner));
    b.dims.push_back(ProductOver(right, inner));
    b.dims.push_back(ProductOver(right, columns));
    INFIMUM_ASSIGN_OR_RETURN(const MatMulConfig config, MakeMatMul(types, a, b, MatMulBias::kNone, right.constness));
    product.source = region_.Add(config, {left.source, right.source});
    return product;
  }

  const NodeView& node_;
  RegionBuilder region_;
  std::vector<Term> terms_;
  Labels result_;
  DataType output_type_ = DataType::kNone;
};

Result<Lowering> LowerEinsum(const NodeView& node) { return Contraction(node).Run(); }

}  // namespace

std::span<const OperatorEntry> EinsumOperators() {
  static constexpr OperatorEntry kEntries[] = {{kOnnx, "Einsum", LowerEinsum}};
  return kEntries;
}

}  // namespace infimum::lowering
