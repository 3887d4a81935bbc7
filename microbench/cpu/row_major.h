// Programs between row-major buffers, whatever layouts they prefer inside: what is needed where one
// program's result is another's operand.
//
//   INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> product, FastestRowMajor(problem));
//   RunRowMajor(*product);   // reads the problem's operands, writes its outputs
#pragma once

#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

// Pack, run, unpack.
Status RunRowMajor(Program& program);

// Of all candidates of the engine tier the one that was fastest when tried a few times. An error where none runs.
MadeProgram FastestRowMajor(const Problem& problem, const LayerValues& values = {});

}  // namespace infimum::cpu
