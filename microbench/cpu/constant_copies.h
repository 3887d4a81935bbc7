// Copies of a program's constants, used in turn, so that a run reads weights that were not read for long.
//
//   ConstantCopies copies(*program);         // copies.bytes() of packed weights and bias
//   copies.Make(8);                          // seven more, each in memory of its own, as the program would take it
//   copies.Next();  program->Run();          // with the second
//   copies.Next();  program->Run();          // with the third
//   copies.Make(1);                          // with the program's own again; the others' memory is for the next
//   program
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {

class ConstantCopies {
 public:
  ConstantCopies() = default;
  explicit ConstantCopies(Program& program) : blocks_(program.Constants()) {}
  ConstantCopies(ConstantCopies&&) = default;
  ConstantCopies& operator=(ConstantCopies&&) = default;
  ~ConstantCopies() { GiveBack(); }

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
  // By AlignedBuffer::Pages.
  using Memory = std::array<AlignedBuffer, 2>;

  // What no copies are in: where caches are large, the system takes longer to hand out as many pages than filling them
  // takes. Of one thread.
  static Memory& Idle();
  Status TakeMemory(std::size_t copies);
  void GiveBack();
  void Use();

  std::vector<ConstantBlock> blocks_;
  Memory memory_;
  std::vector<std::vector<std::byte*>> copies_;  // by copy, then by block
  std::size_t place_ = 0;                        // 0: the program's own
};

}  // namespace infimum::cpu
