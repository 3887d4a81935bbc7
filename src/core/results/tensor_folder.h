// Tensors in a folder: one raw little-endian file each, and an index that names them.
//
//   index.json  {"schema":"infimum.tensors/1","tensors":[{"name":"input","dtype":"f32","shape":[1,3,224,224],
//                "file":"0.bin"}, ...]}
//
// Elements are row-major; 8-bit and bool elements take a byte each. The model's expected outputs stand under their own
// names.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "infimum/base/result.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"

namespace infimum {

class TensorFolder {
 public:
  // Reads the index: names used once, files inside the folder.
  static Result<TensorFolder> Open(const std::filesystem::path& folder);

  // Reads the tensor of that name into `data`, which has room for all its elements. An error where there is none, or
  // where its type or element count is another.
  Status Read(const std::string& name, DataType type, const Shape& shape, void* data) const;

 private:
  struct Entry {
    DataType type = DataType::kNone;
    std::int64_t count = 0;
    std::filesystem::path file;
  };
  std::map<std::string, Entry> entries_;
  std::string folder_;
};

}  // namespace infimum
