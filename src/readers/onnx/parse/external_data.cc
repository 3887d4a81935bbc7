#include "src/readers/onnx/parse/external_data.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

// Whether `path` is below `folder`; both without links and dots.
bool LiesIn(const fs::path& path, const fs::path& folder) {
  const auto [rest, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end();
}

}  // namespace

Result<const MappedFile*> ExternalData::Find(const std::string& location) {
  if (const auto found = files_.find(location); found != files_.end()) return found->second.get();
  const std::string where = "external data " + Quoted(location);
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos) return Error{where + " names no file"};
  if (relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end())
    return Error{where + " lies outside the model's folder; move it there and name it relative to the model"};

  std::error_code error;
  const fs::path folder = model_.has_parent_path() ? model_.parent_path() : fs::path(".");
  const fs::path target = fs::canonical(folder / relative, error);
  if (error) return Error{where + " cannot be found beside the model: " + error.message()};
  const fs::path real_folder = fs::canonical(folder, error);
  // Where the model itself is a link into a store of files (the way download caches keep them), its data
  // may be a link into the same store.
  const fs::path store = fs::canonical(model_, error).parent_path();
  if (!LiesIn(target, real_folder) && (store.empty() || !LiesIn(target, store)))
    return Error{where + " is a link to a place outside the model's folder; copy the file there instead"};

  INFIMUM_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(target));
  return files_.emplace(location, std::make_unique<MappedFile>(std::move(mapped))).first->second.get();
}

Result<std::optional<Tensor>> ExternalData::Check(const onnx::TensorProto& tensor, const Shape& shape,
                                                  std::int64_t most_elements) {
  std::string location;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const std::optional<std::int64_t> number = ParseInteger(entry.value());
    if (!number || *number < 0)
      return Error{"external data has " + entry.key() + " " + Quoted(entry.value()) + ", not a number of bytes"};
    if (entry.key() == "offset")
      offset = *number;
    else
      length = *number;
  }
  INFIMUM_ASSIGN_OR_RETURN(const MappedFile* file, Find(location));

  const DataType type = DataTypeOf(tensor.data_type());
  if (type == DataType::kNone) return std::optional<Tensor>();
  const std::int64_t count = ElementCount(shape);
  const std::int64_t expected = SizeOf(type, count).value;
  if (length && *length != expected)
    return Error{"external data " + Quoted(location) + " has length " + std::to_string(*length) + " where the shape " +
                 Format(shape) + " takes " + std::to_string(expected) + " bytes"};
  const auto size = static_cast<std::int64_t>(file->bytes().size());
  if (expected > size || offset > size - expected)
    return Error{"external data " + Quoted(location) + " ends at byte " + std::to_string(size) + ", before the " +
                 std::to_string(expected) + " bytes at offset " + std::to_string(offset) +
                 "; the file is cut short, copy it again"};
  if (count > most_elements) return std::optional<Tensor>();
  const auto bytes = file->bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(expected));
  return std::optional<Tensor>(Tensor{type, shape, {bytes.begin(), bytes.end()}});
}

}  // namespace infimum
