// Which part of each layer's arithmetic every execution needs.
//
//   logits = MatMul(x[4096, 2048], head) -> Slice of the last row     1/4096 of the product, and of the norm before it
//   scores + a mask made of positions alone, keys up to the query's   half of both products of an attention and its
//   softmax
//
// Rows: a part of a result is followed backwards through layers that make each row of one row (element-wise layers,
// products with weights, normalizations, reductions, softmax along a row), of an attention to its queries, through
// movements and windows as far as these show, and no further: whatever mixes rows counts whole. What is computed twice
// from the same values counts once.
//
// Keys: a mask that is the same in every execution may be known to a program, which then leaves out what it hides.
// Where its elements are kept they are counted. Of one that is made of comparisons the least that such a mask leaves
// is taken: of one comparison of positions, or a triangle, the keys up to the query's, and of any number that is
// compared or added no more than it says as a window's length, or as its beginning; of several comparisons without a
// number, and of all else, one key a query. What depends on an input hides nothing: the input may be the one that takes
// longest.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

class NeededWork {
 public:
  // `is_body`: what it neither makes nor is handed is its surroundings', of which nothing is known.
  explicit NeededWork(const ModelGraph& graph, bool is_body = false);

  // Of a layer of the graph, not of its bodies.
  double of(std::size_t layer) const { return rows_[layer] * keys_[layer]; }
  // Of the bytes of an operand that the layer reads otherwise: keys and values that a mask hides from all queries.
  double of_operand(std::size_t layer, std::size_t operand) const {
    const auto found = operands_.find({layer, operand});
    return found == operands_.end() ? 1 : found->second;
  }

 private:
  void FindRows(const ModelGraph& graph);
  void FindKeys(const ModelGraph& graph, bool is_body);

  std::vector<double> rows_, keys_;
  std::map<std::pair<std::size_t, std::size_t>, double> operands_;
};

}  // namespace infimum
