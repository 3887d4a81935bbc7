#include "src/core/results/tensor_folder.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "src/core/results/record_json.h"

namespace infimum {
namespace {

constexpr std::string_view kFolderSchema = "infimum.tensors/1";

// A plain name: nothing in an index can lead out of its folder.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// An entry of the index.
struct TensorFile {
  std::string name;
  DataType type = DataType::kNone;
  Shape shape;
  std::string file;
};

}  // namespace

static void VisitFields(auto& visit, Like<TensorFile> auto& tensor) {
  visit("name", tensor.name);
  visit("dtype", tensor.type);
  visit("shape", tensor.shape.dims, {0, static_cast<double>(kMaxElements)});
  visit("file", tensor.file);
}

Result<TensorFolder> TensorFolder::Open(const std::filesystem::path& folder) {
  const std::filesystem::path index = folder / "index.json";
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, ReadFile(index));
  const auto parse = [&]() -> Result<TensorFolder> {
    INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseJson(text));
    INFIMUM_RETURN_IF_ERROR(CheckSchema(document, kFolderSchema));
    INFIMUM_ASSIGN_OR_RETURN(const auto tensors, FieldOf<std::vector<TensorFile>>(document, "tensors"));
    TensorFolder result;
    result.folder_ = folder.string();
    for (const auto& [name, type, shape, path] : tensors) {
      if (type == DataType::kNone || BitsPerElement(type) % 8 != 0)
        return Error{Quoted(name) + ": " + Quoted(Name(type)) + " is no type of whole bytes"};
      if (!IsPlainName(path)) return Error{Quoted(name) + ": " + Quoted(path) + " is no file of this folder"};
      INFIMUM_ASSIGN_OR_RETURN(const std::int64_t count, CheckedElementCount(shape));
      if (!result.entries_.emplace(name, Entry{type, count, folder / path}).second)
        return Error{Quoted(name) + " is listed twice"};
    }
    return result;
  };
  return Within(index.string(), parse());
}

Status TensorFolder::Read(const std::string& name, DataType type, const Shape& shape, void* data) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return Error{folder_ + ": has no tensor " + Quoted(name)};
  const Entry& entry = found->second;
  const std::int64_t count = ElementCount(shape);
  if (entry.type != type || entry.count != count) {
    return Error{folder_ + ": " + Quoted(name) + " has " + std::to_string(entry.count) + " elements of " +
                 std::string(Name(entry.type)) + ", the schedule says " + std::to_string(count) + " of " +
                 std::string(Name(type))};
  }
  std::ifstream file(entry.file, std::ios::binary);
  if (!file) return Error{entry.file.string() + ": cannot be read: " + std::strerror(errno)};
  const std::int64_t bytes = SizeOf(type, count).value;
  if (!file.read(static_cast<char*>(data), bytes) || file.peek() != std::ifstream::traits_type::eof()) {
    return Error{entry.file.string() + ": is not of " + std::to_string(bytes) + " bytes"};
  }
  return {};
}

}  // namespace infimum
