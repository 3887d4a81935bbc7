#include "src/readers/onnx/parse/model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  const std::string name = path.string();
  // O_NONBLOCK: opening a pipe must not wait for its writer; for files it changes nothing.
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Error{name + ": cannot be opened: " + std::strerror(errno)};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int code = errno;
    ::close(descriptor);
    return Error{name + ": cannot be read: " + std::strerror(code)};
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return Error{name + (S_ISDIR(status.st_mode) ? ": is a folder; name the file in it" : ": is not a regular file")};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    ::close(descriptor);
    return MappedFile({});
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int code = errno;
  ::close(descriptor);
  if (address == MAP_FAILED) return Error{name + ": cannot be read: " + std::strerror(code)};
  return MappedFile({static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string MessageLine(std::string_view message) {
  std::string line;
  for (const char c : message) {
    if (c == '\n' || c == '\r' || c == '\t')
      line += line.empty() || line.back() == ' ' ? "" : " ";
    else if (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f')
      line += c;
  }
  if (line.starts_with('[')) line = line.substr(std::min(line.find(']') + 1, line.size()));
  const std::string_view trimmed = TrimSpace(line);
  return std::string(trimmed.ends_with('.') ? trimmed.substr(0, trimmed.size() - 1) : trimmed);
}

namespace {

constexpr std::size_t kParseWhole = std::size_t{1} << 20;      // smaller files are not worth a second pass
constexpr std::size_t kLargestPayload = std::size_t{1} << 14;  // more than any constant that something is folded from
constexpr int kDeepest = 100;                                  // protobuf's own limit
constexpr std::string_view kElided = "infimum: elements left out, bytes, field, offset=";

// The messages on the way to a tensor, by the field numbers of onnx.proto.
enum class Message { kOther, kModel, kGraph, kNode, kAttribute, kFunction, kSparseTensor, kTensor };

Message ChildOf(Message parent, std::uint64_t field) {
  switch (parent) {
    case Message::kModel:
      return field == 7 ? Message::kGraph : field == 25 ? Message::kFunction : Message::kOther;
    case Message::kGraph:
      return field == 1    ? Message::kNode
             : field == 5  ? Message::kTensor
             : field == 15 ? Message::kSparseTensor
                           : Message::kOther;
    case Message::kFunction:
      return field == 7 ? Message::kNode : Message::kOther;
    case Message::kNode:
      return field == 5 ? Message::kAttribute : Message::kOther;
    case Message::kAttribute:
      return field == 5 || field == 10    ? Message::kTensor
             : field == 6 || field == 11  ? Message::kGraph
             : field == 22 || field == 23 ? Message::kSparseTensor
                                          : Message::kOther;
    case Message::kSparseTensor:
      return field == 1 || field == 2 ? Message::kTensor : Message::kOther;
    default:
      return Message::kOther;
  }
}

// float_data, int32_data, int64_data, raw_data, double_data, uint64_data
bool IsPayload(std::uint64_t field) {
  return field == 4 || field == 5 || field == 7 || field == 9 || field == 10 || field == 11;
}

// Protobuf's wire format: base-128 numbers, low group first.
std::optional<std::uint64_t> TakeNumber(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 127u) << shift;
    if (byte < 128) return number;
  }
  return std::nullopt;
}

void AppendNumber(std::string& out, std::uint64_t number) {
  for (; number >= 128; number >>= 7) out += static_cast<char>((number & 127u) | 128u);
  out += static_cast<char>(number);
}

void AppendText(std::string& out, std::uint64_t field, std::string_view text) {
  AppendNumber(out, field << 3 | 2);
  AppendNumber(out, text.size());
  out += text;
}

// `model` is the start of the file that `in` is a part of.
bool CopyWithoutPayloads(std::string_view in, Message message, const char* model, std::size_t largest, int depth,
                         std::string& out) {
  if (depth > kDeepest) return false;
  Elided elided;
  while (!in.empty()) {
    const std::string_view start = in;
    const std::optional<std::uint64_t> tag = TakeNumber(in);
    if (!tag) return false;
    const std::uint64_t field = *tag >> 3;
    std::uint64_t length = 0;
    switch (*tag & 7) {
      case 0:
        if (!TakeNumber(in)) return false;
        break;
      case 1:
        length = 8;
        break;
      case 5:
        length = 4;
        break;
      case 2: {
        const std::optional<std::uint64_t> claimed = TakeNumber(in);
        if (!claimed || *claimed > in.size()) return false;
        length = *claimed;
        const std::string_view payload = in.substr(0, length);
        const Message child = ChildOf(message, field);
        if (message == Message::kTensor && IsPayload(field) && length > largest) {
          elided.field = elided.bytes == 0 ? static_cast<std::int64_t>(field) : 0;
          elided.offset = payload.data() - model;
          elided.bytes += static_cast<std::int64_t>(length);
          in.remove_prefix(length);
          continue;
        }
        if (child != Message::kOther) {
          std::string smaller;
          if (!CopyWithoutPayloads(payload, child, model, largest, depth + 1, smaller)) return false;
          AppendText(out, field, smaller);
          in.remove_prefix(length);
          continue;
        }
        break;
      }
      default:
        return false;  // groups are no part of ONNX
    }
    if (length > in.size()) return false;
    in.remove_prefix(length);
    out += start.substr(0, start.size() - in.size());
  }
  // In the tensor's doc_string: a later value of a field replaces an earlier one.
  if (elided.bytes > 0)
    AppendText(out, 12,
               std::string(kElided) + std::to_string(elided.bytes) + "," + std::to_string(elided.field) + "," +
                   std::to_string(elided.offset));
  return true;
}

}  // namespace

std::optional<std::string> WithoutPayloads(std::span<const std::byte> model, std::size_t largest) {
  std::string out;
  const std::string_view in(reinterpret_cast<const char*>(model.data()), model.size());
  if (!CopyWithoutPayloads(in, Message::kModel, in.data(), largest, 0, out)) return std::nullopt;
  return out;
}

std::optional<Elided> ElidedOf(const onnx::TensorProto& tensor) {
  const std::string_view text = tensor.doc_string();
  if (!text.starts_with(kElided)) return std::nullopt;
  const std::vector<std::string_view> numbers = Split(text.substr(kElided.size()), ',');
  if (numbers.size() != 3) return std::nullopt;
  const auto bytes = ParseInteger(numbers[0]), field = ParseInteger(numbers[1]), offset = ParseInteger(numbers[2]);
  if (!bytes || !field || !offset) return std::nullopt;
  return Elided{*bytes, *field, *offset};
}

StoredElements ModelFile::ElementsOf(const onnx::TensorProto& tensor) const {
  const std::optional<Elided> elided = ElidedOf(tensor);
  const auto size = static_cast<std::int64_t>(mapped_->bytes().size());
  if (!elided || elided->field <= 0 || elided->field > INT_MAX || elided->offset < 0 || elided->bytes < 0 ||
      elided->bytes > size || elided->offset > size - elided->bytes)
    return {};
  return {mapped_->bytes().subspan(static_cast<std::size_t>(elided->offset), static_cast<std::size_t>(elided->bytes)),
          static_cast<int>(elided->field)};
}

Result<ModelFile> ModelFile::Open(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  const std::span<const std::byte> bytes = mapped.bytes();
  const std::string name = path.string();
  if (bytes.empty()) return Error{name + ": is empty, not an ONNX file; export or copy it again"};
  if (bytes.size() > static_cast<std::size_t>(INT_MAX))
    return Error{name +
                 ": is larger than 2 GB, the limit of an ONNX file: save the model with its weights as external data"};

  ModelFile file;
  file.path_ = path;
  google::protobuf::ArenaOptions arena;
  arena.start_block_size = 64 << 10;  // a model has thousands of small messages
  arena.max_block_size = 1 << 20;
  file.arena_ = std::make_unique<google::protobuf::Arena>(arena);
  file.model_ = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(file.arena_.get());
  try {
    std::optional<std::string> smaller;
    if (bytes.size() > kParseWhole) smaller = WithoutPayloads(bytes, kLargestPayload);
    const bool parsed = smaller ? file.model_->ParsePartialFromString(*smaller)
                                : file.model_->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
    if (!parsed) return Error{name + ": not an ONNX file, or truncated; export or copy it again"};
  } catch (const std::exception& problem) {
    return Error{name + ": cannot be parsed: " + MessageLine(problem.what())};
  }
  if (!file.model_->has_graph()) return Error{name + ": not an ONNX file: it has no graph"};
  file.sha256_ = Sha256(bytes);
  file.mapped_ = std::move(mapped);
  return file;
}

namespace {

namespace fs = std::filesystem;

// Whether `path` is below `folder`; both without links and dots.
bool LiesIn(const fs::path& path, const fs::path& folder) {
  const auto [rest, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end();
}

}  // namespace

Result<fs::path> ExternalData::PathOf(const std::string& location) const {
  const std::string where = "external data " + Quoted(location);
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos) return Error{where + " does not name a file"};
  if (relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end())
    return Error{where + " is outside the model's folder; move it there and name it relative to the model"};

  std::error_code error;
  const fs::path folder = model_.has_parent_path() ? model_.parent_path() : fs::path(".");
  const fs::path target = fs::canonical(folder / relative, error);
  if (error == std::errc::no_such_file_or_directory && may_be_absent_) return fs::path();
  if (error) return Error{where + " cannot be found beside the model: " + error.message()};
  const fs::path real_folder = fs::canonical(folder, error);
  // Where the model itself is a link into a store of files (the way download caches keep them), its data
  // may be a link into the same store.
  const fs::path store = fs::canonical(model_, error).parent_path();
  if (!LiesIn(target, real_folder) && (store.empty() || !LiesIn(target, store)))
    return Error{where + " is a link that leaves the model's folder; copy the file there instead"};
  return target;
}

Result<const MappedFile*> ExternalData::Find(const std::string& location) {
  if (const auto found = files_.find(location); found != files_.end()) return found->second.get();
  INFIMUM_ASSIGN_OR_RETURN(const fs::path target, PathOf(location));
  if (target.empty()) return nullptr;
  INFIMUM_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(target));
  return files_.emplace(location, std::make_unique<MappedFile>(std::move(mapped))).first->second.get();
}

std::string ExternalEntry(const onnx::TensorProto& tensor, std::string_view key) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return "";
  const auto found = std::ranges::find(tensor.external_data(), key, &onnx::StringStringEntryProto::key);
  return found == tensor.external_data().end() ? "" : found->value();
}

Result<std::span<const std::byte>> ExternalData::Check(const onnx::TensorProto& tensor, const Shape& shape) {
  const std::string location = ExternalEntry(tensor, "location");
  std::optional<std::int64_t> length, start;
  for (const auto& [key, number] : {std::pair("offset", &start), std::pair("length", &length)}) {
    const std::string text = ExternalEntry(tensor, key);
    if (text.empty()) continue;
    *number = ParseInteger(text);
    if (!*number || **number < 0)
      return Error{std::string("external data has ") + key + " " + Quoted(text) + ", expected a number of bytes"};
  }
  const std::int64_t offset = start.value_or(0);
  INFIMUM_ASSIGN_OR_RETURN(const MappedFile* file, Find(location));
  if (file == nullptr) return std::span<const std::byte>();

  const DataType type = DataTypeOf(tensor.data_type());
  if (type == DataType::kNone) return std::span<const std::byte>();
  const std::int64_t expected = SizeOf(type, ElementCount(shape)).value;
  if (length && *length != expected)
    return Error{"external data " + Quoted(location) + " has length " + std::to_string(*length) + " where the shape " +
                 Format(shape) + " takes " + std::to_string(expected) + " bytes"};
  const auto size = static_cast<std::int64_t>(file->bytes().size());
  if (expected > size || offset > size - expected)
    return Error{"external data " + Quoted(location) + " ends at byte " + std::to_string(size) + ", before the " +
                 std::to_string(expected) + " bytes at offset " + std::to_string(offset) +
                 "; the file is truncated: copy it again"};
  return file->bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(expected));
}

}  // namespace infimum
