// Graphs that layouts are tried on, and timed: edges only, ascending, each from a lower index to a higher one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

std::vector<ReportEdge> ChainGraph(std::size_t nodes);
// Blocks of 24 layers after DenseNet: every other layer of a block is read by all later even ones of it.
std::vector<ReportEdge> DenseGraph(std::size_t nodes);
// Layers of 20 after BERT: three projections side by side, two skips, and a mask that all of them read.
std::vector<ReportEdge> TransformerGraph(std::size_t nodes);
// An encoder and a decoder, each step of which reads that of the encoder on its level as well.
std::vector<ReportEdge> UNetGraph(std::size_t nodes);
// About `degree` edges a node, to nodes at most `reach` on.
std::vector<ReportEdge> RandomDag(std::size_t nodes, double degree, std::size_t reach, std::uint64_t seed);

}  // namespace infimum
