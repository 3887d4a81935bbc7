#include "src/emit/cudnn_graph_writer.h"

#include <fmt/format.h>

#include "infimum/base/text.h"
#include "src/core/measurement/cudnn_shapes.h"
#include "src/emit/cudnn_words.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

std::string TensorInputText(const std::string& name, const Range& range) {
  const Range usual;
  if (range.low == usual.low && range.high == usual.high) return "{" + name + "}";
  return fmt::format("{{{}, {}, {}}}", name, FormatNumber(range.low), FormatNumber(range.high));
}

// A call whose last argument is built by a chain of setters: on one line, on the next, or a setter a line.
std::string BrokenChain(const std::string& head, const std::string& arguments, const std::string& start,
                        const std::vector<std::string>& links, const std::string& tail) {
  const std::string chain = start + Join(links, "");
  const std::string whole = head + arguments + (arguments.empty() || chain.empty() ? "" : ", ") + chain + tail;
  if (2 + whole.size() <= kColumns) return "  " + whole + "\n";
  const std::string below = whole.substr(head.size());
  if (6 + below.size() <= kColumns) return "  " + head + "\n      " + below + "\n";
  std::string text = "  " + head + "\n      " + (arguments.empty() ? "" : arguments + ",\n      ") + start;
  for (const std::string& link : links) text += "\n          " + link;
  return text + tail + "\n";
}

// "convolution", "pointwise kind=add": what a comment has to say of a member.
std::string KindOf(const LayerConfig& config) {
  const std::string text = Format(config);
  const std::vector<std::string_view> words = Split(text, ' ');
  std::string kind(words[0]);
  if (words.size() > 1 && words[1].starts_with("kind=")) kind += fmt::format(" {}", words[1]);
  return kind;
}

struct Adder {
  CudnnGraphWriter& writer;
  template <class Config>
  Result<CudnnTensor> operator()(const Config& config) const {
    if constexpr (requires { AddToGraph(config, writer); }) {
      return AddToGraph(config, writer);
    } else {
      return Error{fmt::format("cuDNN's graph has no operation for {} layers", Config::kName)};
    }
  }
};

}  // namespace

CudnnGraphWriter::CudnnGraphWriter(const Region& region, const CudnnForms& forms)
    : region_(region), forms_(forms), shapes_(cuda::MemberShapes(region)) {
  const LayerConfig& lead = region.members.front().config;
  has_channels_ = cuda::LeadsWithChannels(lead);
  has_rows_ = std::holds_alternative<MatMulConfig>(lead) || std::holds_alternative<AttentionConfig>(lead);
}

Status CudnnGraphWriter::AddMembers() {
  for (; member_ < region_.members.size(); ++member_) {
    names_ = 0;
    if (member_ > 0) body_ += "\n";
    if (region_.members.size() > 1) Line(fmt::format("// %{}: {}", member_, KindOf(region_.members[member_].config)));
    INFIMUM_ASSIGN_OR_RETURN(CudnnTensor tensor, std::visit(Adder{*this}, region_.members[member_].config));
    made_.push_back(std::move(tensor));
  }
  body_ += "\n";
  for (const std::int64_t output : region_.outputs) {
    const CudnnTensor& tensor = made_[static_cast<std::size_t>(output)];
    const DataType type = OutputsOf(region_.members[static_cast<std::size_t>(output)].config)[0].type;
    INFIMUM_ASSIGN_OR_RETURN(const std::string word, CudnnType(type));
    Line(fmt::format("{}->set_output(true).set_data_type({});", tensor.name, word));
    outputs_.push_back(tensor.name);
  }
  return {};
}

std::string CudnnGraphWriter::Text() const {
  const std::string inputs = Join(inputs_, ", "), outputs = Join(outputs_, ", ");
  std::string result = fmt::format("  return {{.inputs = {{{}}}, .outputs = {{{}}}}};\n", inputs, outputs);
  if (result.size() > kColumns) {
    result = fmt::format("  return {{\n      .inputs = {{{}}},\n      .outputs = {{{}}},\n  }};\n",
                         Join(inputs_, ",\n                 "), outputs);
  }
  const bool asks = body_.find("form.") != std::string::npos;
  return fmt::format("Arguments BuildGraph(fe::graph::Graph& graph, const Form&{}) {{\n{}{}}}\n", asks ? " form" : "",
                     body_, result);
}

Result<CudnnTensor> CudnnGraphWriter::Operand(std::size_t index, const Shape& shape, std::string_view layout,
                                              std::optional<Range> range, const std::string& dims) {
  const RegionMember& member = region_.members[member_];
  const RegionOperand& source = member.operands[index];
  if (source.source == RegionOperand::Source::kMember) return made_[static_cast<std::size_t>(source.index)];
  if (const auto known = outside_.find(source); known != outside_.end()) {
    if (known->second.shape == shape) return known->second;
    return Error{"an operand of the region is read in two shapes"};
  }
  const DataType type = OperandsOf(member.config)[index].type;
  INFIMUM_ASSIGN_OR_RETURN(const std::string word, CudnnType(type));
  CudnnTensor tensor{fmt::format("{}{}", source.source == RegionOperand::Source::kInput ? "in" : "w", source.index),
                     shape, std::string(layout)};
  Line(fmt::format("const Dims {}_dims{};", tensor.name, dims.empty() ? Braced(shape) : dims));
  body_ += BrokenChain(
      fmt::format("const TensorPointer {} = graph.tensor(", tensor.name), "", "fe::graph::Tensor_attributes()",
      {fmt::format(".set_name(\"{}\")", tensor.name), fmt::format(".set_dim({}_dims)", tensor.name),
       fmt::format(".set_stride({}({}_dims))", layout, tensor.name), fmt::format(".set_data_type({})", word)},
      ");");
  inputs_.push_back(TensorInputText(tensor.name, range.value_or(RangeOf(type))));
  return outside_.emplace(source, std::move(tensor)).first->second;
}

CudnnTensor CudnnGraphWriter::Scale(std::size_t rank) {
  CudnnTensor scale{fmt::format("scale{}", member_), {std::vector<std::int64_t>(rank, 1)}, "RowMajor"};
  Line(fmt::format("const Dims {}_dims{};", scale.name, Braced(scale.shape)));
  body_ += BrokenChain(
      fmt::format("const TensorPointer {} = graph.tensor(", scale.name), "", "fe::graph::Tensor_attributes()",
      {fmt::format(".set_name(\"{}\")", scale.name), fmt::format(".set_dim({}_dims)", scale.name),
       fmt::format(".set_stride(RowMajor({}_dims))", scale.name), ".set_data_type(fe::DataType_t::FLOAT)"},
      ");");
  inputs_.push_back(TensorInputText(scale.name, {0.001, 0.001}));
  return scale;
}

std::string CudnnGraphWriter::Call(std::string_view call, const std::vector<std::string>& arguments,
                                   std::string_view attributes, const std::vector<std::string>& links,
                                   std::string_view behind) {
  const std::string name = names_ == 0 ? fmt::format("y{}", member_) : fmt::format("y{}_{}", member_, names_);
  ++names_;
  body_ += BrokenChain(fmt::format("const TensorPointer {} = graph.{}(", name, call), Join(arguments, ", "),
                       std::string(attributes), links, fmt::format("){};", behind));
  return name;
}

void CudnnGraphWriter::Place(const CudnnTensor& tensor, const std::string& dims) {
  Line(fmt::format("const Dims {}_dims{};", tensor.name, dims.empty() ? Braced(tensor.shape) : dims));
  Line(fmt::format("{0}->set_dim({0}_dims).set_stride({1}({0}_dims));", tensor.name, tensor.layout));
}

CudnnTensor CudnnGraphWriter::Combined(const CudnnTensor& first, const CudnnTensor& second, std::string_view mode) {
  const std::string name = Call("pointwise", {first.name, second.name}, "fe::graph::Pointwise_attributes()",
                                {fmt::format(".set_mode(fe::PointwiseMode_t::{})", mode)});
  return {name, first.shape, first.layout};
}

void CudnnGraphWriter::Line(std::string_view text) { body_ += fmt::format("  {}\n", text); }

const CudnnTensor* CudnnGraphWriter::MadeOperand(std::size_t index) const {
  const RegionOperand& source = region_.members[member_].operands[index];
  return source.source == RegionOperand::Source::kMember ? &made_[static_cast<std::size_t>(source.index)] : nullptr;
}

std::string CudnnGraphWriter::FormLayout() const {
  return forms_.layouts_vary ? "form.layout" : forms_.forms[0].layout;
}

std::string CudnnGraphWriter::Sums(DataType input) const {
  return forms_.sums_vary ? "form.sums" : CudnnSumType(input);
}

}  // namespace infimum::emit
