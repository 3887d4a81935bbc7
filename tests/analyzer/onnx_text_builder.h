// ONNX's text form written node by node, with names that its identifiers cannot have.
//
//   OnnxTextBuilder model;
//   const std::string w = model.Weight({10, 20});
//   const std::string y = model.Node("net/fc", "net/fc:0", "MatMul (x, " + w + ")");
//   OnnxTextBuilder::Unescaped(ModelOf("g (float[8, 10] x) => (float[8, 20] " + y + ") {" + model.text() + "}"))
#pragma once

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>
#include <vector>

namespace infimum {

class OnnxTextBuilder {
 public:
  // `call`: "Relu (x)". Gives the name of the output, as other calls write it.
  std::string Node(const std::string& name, const std::string& output, const std::string& call) {
    text_ += fmt::format("  [{}] {} = {}\n", Escaped(name), Escaped(output), call);
    return Escaped(output);
  }

  // A ConstantOfShape.
  std::string Weight(const std::vector<int>& dims) {
    const std::string name = fmt::format("weight_{}", weights_++);
    text_ +=
        fmt::format("  {0}_shape = Constant <value = int64[{1}] {{{2}}}> ()\n  {0} = ConstantOfShape ({0}_shape)\n",
                    name, dims.size(), fmt::join(dims, ", "));
    return name;
  }

  const std::string& text() const { return text_; }

  static onnx::ModelProto Unescaped(onnx::ModelProto model) {
    const auto restore = [](std::string& name) { name = Replaced(Replaced(name, kSlash, "/"), kColon, ":"); };
    for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
      restore(*node.mutable_name());
      for (std::string& name : *node.mutable_input()) restore(name);
      for (std::string& name : *node.mutable_output()) restore(name);
    }
    for (onnx::ValueInfoProto& output : *model.mutable_graph()->mutable_output()) restore(*output.mutable_name());
    return model;
  }

 private:
  static constexpr std::string_view kSlash = "SLASH", kColon = "COLON";

  static std::string Replaced(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  }
  static std::string Escaped(const std::string& name) { return Replaced(Replaced(name, "/", kSlash), ":", kColon); }

  std::string text_;
  int weights_ = 0;
};

}  // namespace infimum
