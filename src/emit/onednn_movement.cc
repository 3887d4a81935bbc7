// What moves elements: concatenation, transposition, changes of layout.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "src/emit/onednn_attributes.h"
#include "src/emit/onednn_source.h"
#include "src/emit/onednn_types.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

// Any type of an element's size will do; kNone where oneDNN has none.
DataType Carrier(DataType type) {
  switch (BitsPerElement(type)) {
    case 8:
      return DataType::kU8;
    case 16:
      return DataType::kBF16;
    case 32:
      return DataType::kF32;
    default:
      return DataType::kNone;
  }
}

// The tags of oneDNN that a reorder may name, with the rank of their tensors.
struct Tag {
  std::string_view name;
  std::size_t rank;
};
constexpr Tag kTags[] = {
    {"nchw", 4},  {"nhwc", 4},   {"chwn", 4},     {"nChw4c", 4},     {"nChw8c", 4},  {"nChw16c", 4}, {"ncw", 3},
    {"nwc", 3},   {"nCw8c", 3},  {"nCw16c", 3},   {"ncdhw", 5},      {"ndhwc", 5},   {"nCdhw8c", 5}, {"nCdhw16c", 5},
    {"nc", 2},    {"cn", 2},     {"a", 1},        {"ab", 2},         {"ba", 2},      {"abc", 3},     {"acb", 3},
    {"bac", 3},   {"bca", 3},    {"cab", 3},      {"cba", 3},        {"abcd", 4},    {"acdb", 4},    {"abdc", 4},
    {"acbd", 4},  {"bacd", 4},   {"bcda", 4},     {"cdba", 4},       {"dcab", 4},    {"abcde", 5},   {"acdeb", 5},
    {"aBc8b", 3}, {"aBc16b", 3}, {"aBcd4b", 4},   {"aBcd8b", 4},     {"aBcd16b", 4}, {"aBcde8b", 5}, {"aBcde16b", 5},
    {"oihw", 4},  {"hwio", 4},   {"OIhw8i8o", 4}, {"OIhw16i16o", 4}, {"Ohwi8o", 4},  {"Ohwi16o", 4},
};

bool IsTag(std::string_view name, std::size_t rank) {
  return std::any_of(std::begin(kTags), std::end(kTags),
                     [&](const Tag& tag) { return tag.name == name && tag.rank == rank; });
}

std::string ReorderFunction(const std::string& from, const std::string& to) {
  return fmt::format("reorder::primitive_desc Describe() {{\n  return {};\n}}\n",
                     BrokenCall("reorder::primitive_desc", {"Cpu()", from, "Cpu()", to, "Attributes()"}, 2, 8));
}

Result<OneDnnSource> DescribeConcat(const MovementConfig& config) {
  const DataType type = Carrier(config.types.input);
  const Shape& output = config.outputs[0];
  if (type == DataType::kNone)
    return Error{
        fmt::format("oneDNN has no type of {}'s size; infimum measures kernels of its own", Name(config.types.input))};
  if (output.rank() == 0 || output.rank() > 6 || config.inputs.size() > 64)
    return Error{"oneDNN concatenates up to 64 tensors of one to six dimensions"};
  OneDnnSource source;
  source.constants.push_back({"using Tag = memory::format_tag;", ""});
  std::string inputs;
  for (const Shape& shape : config.inputs) inputs += "\n    " + Braced(shape) + ",";
  source.constants.push_back({"const std::vector<memory::dims> kInputs{" + inputs + "\n};", ""});
  source.Dims("kOutput", output);
  source.constants.push_back({fmt::format("constexpr int kAxis = {};", config.axis), ""});
  source.constants.push_back({fmt::format("constexpr type kType = {};", TypeText(type)),
                              type == config.types.input ? "" : "elements are moved: any type of their size will do"});
  AddPlainAttributes(source);
  source.functions.push_back(
      "concat::primitive_desc Describe(Tag tag) {\n"
      "  std::vector<memory::desc> inputs;\n"
      "  for (const memory::dims& dims : kInputs) inputs.emplace_back(dims, kType, tag);\n"
      "  return concat::primitive_desc(Cpu(), memory::desc(kOutput, kType, tag), kAxis, inputs, Attributes());\n"
      "}\n");
  source.forms = {{"*", fmt::format("Describe(Tag::{})", PlainLayout(output))}};
  if (output.rank() == 3 && config.axis == 1) {
    const auto fills = [&](std::int64_t block) {
      return std::all_of(config.inputs.begin(), config.inputs.end(),
                         [&](const Shape& shape) { return shape.dims[1] % block == 0; });
    };
    source.forms.push_back({"*/channels-last", "Describe(Tag::acb)"});
    if (fills(16)) source.forms.push_back({"*/blocked16", "Describe(Tag::aBc16b)"});
    if (fills(8)) source.forms.push_back({"*/blocked8", "Describe(Tag::aBc8b)"});
  }
  for (std::size_t i = 0; i < config.inputs.size(); ++i)
    source.arguments.push_back(InputText(fmt::format("DNNL_ARG_MULTIPLE_SRC + {}", i), RangeOf(type)));
  source.arguments.push_back(OutputText("DNNL_ARG_DST"));
  return source;
}

Result<OneDnnSource> DescribeTranspose(const MovementConfig& config) {
  const DataType type = Carrier(config.types.input);
  const Shape& shape = config.inputs[0];
  if (type == DataType::kNone)
    return Error{
        fmt::format("oneDNN has no type of {}'s size; infimum measures kernels of its own", Name(config.types.input))};
  if (shape.rank() == 0 || shape.rank() > 6) return Error{"oneDNN transposes one to six dimensions"};
  Shape strides, seen;
  strides.dims.assign(shape.rank(), 1);
  for (std::size_t i = shape.rank(); i-- > 1;) strides.dims[i - 1] = strides.dims[i] * shape.dims[i];
  for (const std::int64_t from : config.permutation) seen.dims.push_back(strides.dims[static_cast<std::size_t>(from)]);
  OneDnnSource source;
  source.Dims("kOutput", config.outputs[0]);
  source.Dims("kInputStrides", seen, "of the input, with its dimensions in the output's order");
  AddPlainAttributes(source);
  source.functions.push_back(ReorderFunction(fmt::format("memory::desc(kOutput, {}, kInputStrides)", TypeText(type)),
                                             Desc("Plain", "kOutput", type)));
  source.forms = {{"reorder/*", "Describe()"}};
  source.arguments = {InputText("DNNL_ARG_FROM", RangeOf(type)), OutputText("DNNL_ARG_TO")};
  source.layouts.clear();
  return source;
}

}  // namespace

Result<OneDnnSource> DescribeMovement(const MovementConfig& config) {
  if (config.kind == MovementKind::kConcat) return DescribeConcat(config);
  if (config.kind == MovementKind::kTranspose) return DescribeTranspose(config);
  return Error{"oneDNN has no primitive for this movement; infimum measures kernels of its own"};
}

Result<OneDnnSource> DescribeReorder(const ReorderConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes({config.types.input, config.types.output}));
  for (const std::string& layout : {config.from, config.to})
    if (!IsTag(layout, config.input.rank()))
      return Error{fmt::format("{} is no layout of oneDNN for {} dimensions", layout, config.input.rank())};
  OneDnnSource source;
  source.Dims("kTensor", config.input);
  AddPlainAttributes(source);
  const auto desc = [&](DataType type, const std::string& tag) {
    return fmt::format("memory::desc(kTensor, {}, memory::format_tag::{})", TypeText(type), tag);
  };
  source.functions.push_back(
      ReorderFunction(desc(config.types.input, config.from), desc(config.types.output, config.to)));
  source.forms = {{"*", "Describe()"}};
  source.arguments = {InputText("DNNL_ARG_FROM", RangeOf(config.types.input)), OutputText("DNNL_ARG_TO")};
  return source;
}

}  // namespace infimum::emit
