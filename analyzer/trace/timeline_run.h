// A timeline as a run with layers, so that it can be aligned with a model like an engine's (run_alignment.h).
//
//   ProfilerStep#5, #6, #7, in each  aten::conv2d [[8,3,224,224],[64,3,7,7]] > 2 kernels, 90 and 8 us;  aten::relu > 1
//   kernel
//     -> layers "aten::conv2d#1" with samples {98, 97} us, its input shapes, and its longest kernel as algorithm, and
//        "aten::relu#1"; profiled spans {.., ..}, what the device idled for; the first step is left out as the warm-up
//
// - A layer is an operator that started work on the device, lifted to the one that stands for a layer (aten::conv2d
// over
//   aten::cudnn_convolution); a kernel that no operator started is a layer by itself, called by its function. In a
//   trace without a device layers are operators, and their time is the host's.
// - The trace is divided into inferences by ProfilerStep ranges, else by ranges of one name that hold nearly all of the
//   time, else where the operators and their shapes repeat. Of several the first is the warm-up. Inferences that ran
//   other operators than most are left out.
// - A layer's sample is the sum of its work in an inference; work that ran at once counts fully in both layers, and
//   `idle.overlapped` is what that is.
// - An inference lasts from its first work to the first work of the next one, with the gap between them; the last, to
//   the end of its last work. `profiled` and `idle` are of the device with the most work, as are the layers.
//
// `warnings` say what was taken, and what was left out.
#pragma once

#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"

namespace infimum {

// Without layers where the timeline has neither device work nor operators.
RunProfile RunOf(const Timeline& timeline);

}  // namespace infimum
