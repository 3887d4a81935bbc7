#include "src/readers/onnx/parse/model_file.h"

#include <climits>
#include <string_view>
#include <utility>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "src/readers/onnx/parse/library_message.h"
#include "src/readers/onnx/parse/mapped_file.h"

namespace infimum {
namespace {

constexpr std::size_t kParseWhole = std::size_t{1} << 20;      // smaller files are not worth a second pass
constexpr std::size_t kLargestPayload = std::size_t{1} << 14;  // more than any constant whose value is kept
constexpr int kDeepest = 100;                                  // protobuf's own limit
constexpr std::string_view kElided = "infimum: elements left out, bytes=";

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

bool CopyWithoutPayloads(std::string_view in, Message message, std::size_t largest, int depth, std::string& out) {
  if (depth > kDeepest) return false;
  std::uint64_t elided = 0;
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
          elided += length;
          in.remove_prefix(length);
          continue;
        }
        if (child != Message::kOther) {
          std::string smaller;
          if (!CopyWithoutPayloads(payload, child, largest, depth + 1, smaller)) return false;
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
  if (elided > 0) AppendText(out, 12, std::string(kElided) + std::to_string(elided));
  return true;
}

}  // namespace

std::optional<std::string> WithoutPayloads(std::span<const std::byte> model, std::size_t largest) {
  std::string out;
  const std::string_view in(reinterpret_cast<const char*>(model.data()), model.size());
  if (!CopyWithoutPayloads(in, Message::kModel, largest, 0, out)) return std::nullopt;
  return out;
}

std::optional<std::int64_t> ElidedBytes(const onnx::TensorProto& tensor) {
  const std::string_view text = tensor.doc_string();
  if (!text.starts_with(kElided)) return std::nullopt;
  return ParseInteger(text.substr(kElided.size()));
}

Result<ModelFile> ModelFile::Open(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Open(path));
  const std::span<const std::byte> bytes = mapped.bytes();
  const std::string name = path.string();
  if (bytes.empty()) return Error{name + ": is empty, not an ONNX file; export or copy it again"};
  if (bytes.size() > static_cast<std::size_t>(INT_MAX))
    return Error{name +
                 ": is larger than 2 GB, which no ONNX file may be: save the model with its weights as external data"};

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
    if (!parsed) return Error{name + ": not an ONNX file, or cut short; export or copy it again"};
  } catch (const std::exception& problem) {
    return Error{name + ": cannot be parsed: " + MessageLine(problem.what())};
  }
  if (!file.model_->has_graph()) return Error{name + ": not an ONNX file: it has no graph"};
  file.sha256_ = Sha256(bytes);
  return file;
}

}  // namespace infimum
