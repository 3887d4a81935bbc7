#include "microbench/cpu/constant_copies.h"

#include <cstring>
#include <string>

namespace infimum::cpu {

Bytes ConstantCopies::bytes() const {
  Bytes sum;
  for (const ConstantBlock& block : blocks_) sum += Bytes{static_cast<std::int64_t>(block.bytes)};
  return sum;
}

ConstantCopies::Memory& ConstantCopies::Idle() {
  static Memory idle;
  return idle;
}

Status ConstantCopies::TakeMemory(std::size_t copies) {
  std::array<std::size_t, 2> bytes = {};
  for (const ConstantBlock& block : blocks_) {
    const AlignedBuffer::Pages pages = AlignedBuffer::PagesOf(block.bytes);
    bytes[static_cast<std::size_t>(pages)] += copies * AlignedBuffer::Rounded(block.bytes, pages);
  }
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (bytes[i] == 0) continue;
    memory_[i] = std::move(Idle()[i]);
    if (memory_[i].data() != nullptr && memory_[i].size() >= bytes[i]) continue;
    memory_[i] = {};  // before there is more
    Result<AlignedBuffer> made = AlignedBuffer::Make(bytes[i], static_cast<AlignedBuffer::Pages>(i));
    if (!made.ok()) {
      Idle() = {};
      made = AlignedBuffer::Make(bytes[i], static_cast<AlignedBuffer::Pages>(i));
    }
    INFIMUM_ASSIGN_OR_RETURN(memory_[i], std::move(made));
  }
  return {};
}

void ConstantCopies::GiveBack() {
  for (std::size_t i = 0; i < memory_.size(); ++i)
    if (memory_[i].data() != nullptr && (Idle()[i].data() == nullptr || Idle()[i].size() < memory_[i].size()))
      Idle()[i] = std::move(memory_[i]);
  memory_ = {};
}

Status ConstantCopies::Make(std::size_t copies) {
  place_ = 0;
  Use();
  for (const std::vector<std::byte*>& copy : copies_)
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].forget) blocks_[i].forget(copy[i]);
  copies_.clear();
  GiveBack();
  if (copies <= 1) return {};
  if (blocks_.empty()) return Error{"unsupported: its constant operands cannot be moved"};
  for (const ConstantBlock& block : blocks_) {
    if (copies > block.most_copies)
      return Error{"unsupported: of its constants it prepares " + std::to_string(block.most_copies) +
                   " copies at most, not " + std::to_string(copies)};
  }
  INFIMUM_RETURN_IF_ERROR(TakeMemory(copies - 1));
  std::array<std::byte*, 2> free = {static_cast<std::byte*>(memory_[0].data()),
                                    static_cast<std::byte*>(memory_[1].data())};
  for (std::size_t copy = 1; copy < copies; ++copy) {
    std::vector<std::byte*>& places = copies_.emplace_back();
    for (const ConstantBlock& block : blocks_) {
      // On pages as large as the program's own are.
      const AlignedBuffer::Pages pages = AlignedBuffer::PagesOf(block.bytes);
      std::byte*& place = free[static_cast<std::size_t>(pages)];
      std::memcpy(place, block.data, block.bytes);
      std::memset(place + block.bytes, 0, AlignedBuffer::kBehind);
      places.push_back(place);
      place += AlignedBuffer::Rounded(block.bytes, pages);
    }
  }
  // What a program prepares for each copy it prepares here and not in a run.
  for (place_ = copies_.size(); place_ > 0; --place_) Use();
  Use();
  return {};
}

void ConstantCopies::Use() {
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i].use(place_ == 0 ? blocks_[i].data : copies_[place_ - 1][i]);
}

}  // namespace infimum::cpu
