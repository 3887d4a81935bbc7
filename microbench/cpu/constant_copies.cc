#include "microbench/cpu/constant_copies.h"

#include <cstring>
#include <string>

namespace infimum::cpu {

Bytes ConstantCopies::bytes() const {
  Bytes sum;
  for (const ConstantBlock& block : blocks_) sum += Bytes{static_cast<std::int64_t>(block.bytes)};
  return sum;
}

Status ConstantCopies::Make(std::size_t copies) {
  place_ = 0;
  Use();
  for (const std::vector<AlignedBuffer>& copy : copies_)
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].forget) blocks_[i].forget(copy[i].data());
  copies_.clear();
  if (copies <= 1) return {};
  if (blocks_.empty()) return Error{"unsupported: its constant operands cannot be moved"};
  for (const ConstantBlock& block : blocks_) {
    if (copies > block.most_copies)
      return Error{"unsupported: of its constants it prepares " + std::to_string(block.most_copies) +
                   " copies at most, not " + std::to_string(copies)};
  }
  copies_.reserve(copies - 1);
  for (std::size_t copy = 1; copy < copies; ++copy) {
    std::vector<AlignedBuffer> buffers;
    buffers.reserve(blocks_.size());
    for (const ConstantBlock& block : blocks_) {
      // One by one as programs allocate them, so that pages are as large as theirs.
      Result<AlignedBuffer> buffer = AlignedBuffer::Make(block.bytes);
      if (!buffer.ok()) {
        copies_.clear();
        return buffer.error();
      }
      std::memcpy(buffer->data(), block.data, block.bytes);
      buffers.push_back(*std::move(buffer));
    }
    copies_.push_back(std::move(buffers));
  }
  // What a program prepares for each copy it prepares here and not in a run.
  for (place_ = copies_.size(); place_ > 0; --place_) Use();
  Use();
  return {};
}

void ConstantCopies::Use() {
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i].use(place_ == 0 ? blocks_[i].data : copies_[place_ - 1][i].data());
}

}  // namespace infimum::cpu
