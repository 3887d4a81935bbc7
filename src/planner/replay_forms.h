// Operators of which candidates compute one form out of several that a model may ask for: whether a layer asks for
// that.
#pragma once

#include "infimum/graph/model_graph.h"

namespace infimum {

// Interpolation at half-pixel coordinates, clamped at the edges; the nearest element where all the ways of rounding
// agree (a tensor made larger by whole numbers).
Status CheckResize(const ModelGraph& graph, const Layer& layer);

// LSTM, GRU and RNN from front to back (and back to front) over whole sequences, with the usual activations. Whether
// the state that they start from is zero, as candidates have it, only the runner sees.
Status CheckRecurrent(const ModelGraph& graph, const Layer& layer);

}  // namespace infimum
