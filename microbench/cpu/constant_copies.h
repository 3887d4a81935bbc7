// Copies of a program's constants, used in turn, so that a run reads weights that were not read for long.
//
//   ConstantCopies copies(*program);         // copies.bytes() of packed weights and bias
//   copies.Make(8);                          // seven more, each in memory of its own, as the program would take it
//   copies.Next();  program->Run();          // with the second
//   copies.Next();  program->Run();          // with the third
//   copies.Make(1);                          // with the program's own again; the others are freed
#pragma once

#include <cstddef>
#include <vector>

#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {

class ConstantCopies {
 public:
  ConstantCopies() = default;
  explicit ConstantCopies(Program& program) : blocks_(program.Constants()) {}

  Bytes bytes() const;  // of one copy

  // How many there are in all, the program's own among them.
  Status Make(std::size_t copies);

  // What comes before each run.
  void Next() {
    if (copies_.empty()) return;
    place_ = place_ == copies_.size() ? 0 : place_ + 1;
    Use();
  }

 private:
  void Use();

  std::vector<ConstantBlock> blocks_;
  std::vector<std::vector<AlignedBuffer>> copies_;  // by copy, then by block
  std::size_t place_ = 0;                           // 0: the program's own
};

}  // namespace infimum::cpu
