// A file as read-only memory, so that a model of gigabytes is neither copied nor read where nobody looks.
//
//   Result<MappedFile> file = MappedFile::Open("model.onnx");
//   file->bytes().size()
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "infimum/base/result.h"

namespace infimum {

class MappedFile {
 public:
  // Errors say what the file is instead ("is a folder", "no such file"). The file must not shrink while
  // it is mapped: like every reader of mapped files, we would be stopped by the system.
  static Result<MappedFile> Open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace infimum
