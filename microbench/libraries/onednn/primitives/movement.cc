#include "movement.h"

#include <algorithm>
#include <optional>

namespace onednn {
namespace {

using tag = memory::format_tag;

std::vector<Form> ConcatForms(const Movement& layer) {
  const memory::dims& result = layer.out[0];
  if (result.empty() || result.size() > 6 || layer.in.size() > 64) return {};
  const memory::data_type type = layer.dtype.input;
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < layer.in.size(); ++i)
    arguments.push_back(Input(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), i, Plain(layer.in[i], type)));
  arguments.push_back(Output(DNNL_ARG_DST, Plain(result, type)));
  std::vector<Form> forms;
  const auto add = [&](const char* name, std::optional<tag> layout) {
    forms.push_back(MakeForm("", name, arguments, [layer, type, layout] {
      const auto desc = [&](const memory::dims& dims) {
        return layout ? memory::desc(dims, type, *layout) : Plain(dims, type);
      };
      std::vector<memory::desc> sources;
      for (const memory::dims& dims : layer.in) sources.push_back(desc(dims));
      return dnnl::concat::primitive_desc(Cpu(), desc(layer.out[0]), static_cast<int>(layer.axis), sources,
                                          PlainAttributes());
    }));
  };
  add("", std::nullopt);
  // Batch, channels, image: what convolutions on both sides leave and want.
  if (result.size() == 3 && layer.axis == 1) {
    add("channels-last", tag::acb);
    const auto fills = [&](memory::dim block) {
      return std::all_of(layer.in.begin(), layer.in.end(),
                         [&](const memory::dims& dims) { return dims[1] % block == 0; });
    };
    if (fills(16)) add("blocked16", tag::aBc16b);
    if (fills(8)) add("blocked8", tag::aBc8b);
  }
  return forms;
}

std::vector<Form> TransposeForms(const Movement& layer) {
  const memory::dims& dims = layer.in[0];
  if (dims.empty() || dims.size() > 6) return {};
  // The input seen with its dimensions in the output's order: the same memory, other strides.
  memory::dims strides(dims.size(), 1), seen;
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  for (const memory::dim source : layer.perm) seen.push_back(strides[static_cast<std::size_t>(source)]);
  const memory::desc from(layer.out[0], layer.dtype.input, seen), to = Plain(layer.out[0], layer.dtype.input);
  return {MakeForm("reorder/", "", {Input(DNNL_ARG_FROM, 0, from), Output(DNNL_ARG_TO, to)},
                   [from, to] { return dnnl::reorder::primitive_desc(Cpu(), from, Cpu(), to, PlainAttributes()); })};
}

struct NamedTag {
  const char* name;
  tag value;
  std::size_t rank;
};

constexpr NamedTag kTags[] = {
    {"nchw", tag::nchw, 4},
    {"nhwc", tag::nhwc, 4},
    {"chwn", tag::chwn, 4},
    {"nChw4c", tag::nChw4c, 4},
    {"nChw8c", tag::nChw8c, 4},
    {"nChw16c", tag::nChw16c, 4},
    {"ncw", tag::ncw, 3},
    {"nwc", tag::nwc, 3},
    {"nCw8c", tag::nCw8c, 3},
    {"nCw16c", tag::nCw16c, 3},
    {"ncdhw", tag::ncdhw, 5},
    {"ndhwc", tag::ndhwc, 5},
    {"nCdhw8c", tag::nCdhw8c, 5},
    {"nCdhw16c", tag::nCdhw16c, 5},
    {"nc", tag::nc, 2},
    {"cn", tag::cn, 2},
    {"a", tag::a, 1},
    {"ab", tag::ab, 2},
    {"ba", tag::ba, 2},
    {"abc", tag::abc, 3},
    {"acb", tag::acb, 3},
    {"bac", tag::bac, 3},
    {"bca", tag::bca, 3},
    {"cab", tag::cab, 3},
    {"cba", tag::cba, 3},
    {"abcd", tag::abcd, 4},
    {"acdb", tag::acdb, 4},
    {"abdc", tag::abdc, 4},
    {"acbd", tag::acbd, 4},
    {"bacd", tag::bacd, 4},
    {"bcda", tag::bcda, 4},
    {"cdba", tag::cdba, 4},
    {"dcab", tag::dcab, 4},
    {"abcde", tag::abcde, 5},
    {"acdeb", tag::acdeb, 5},
    {"aBc8b", tag::aBc8b, 3},
    {"aBc16b", tag::aBc16b, 3},
    {"aBcd4b", tag::aBcd4b, 4},
    {"aBcd8b", tag::aBcd8b, 4},
    {"aBcd16b", tag::aBcd16b, 4},
    {"aBcde8b", tag::aBcde8b, 5},
    {"aBcde16b", tag::aBcde16b, 5},
    {"oihw", tag::oihw, 4},
    {"hwio", tag::hwio, 4},
    {"OIhw8i8o", tag::OIhw8i8o, 4},
    {"OIhw16i16o", tag::OIhw16i16o, 4},
    {"Ohwi8o", tag::Ohwi8o, 4},
    {"Ohwi16o", tag::Ohwi16o, 4},
};

std::optional<memory::desc> Named(const std::string& name, const memory::dims& dims, memory::data_type type) {
  for (const NamedTag& known : kTags)
    if (name == known.name && known.rank == dims.size()) return memory::desc(dims, type, known.value);
  return std::nullopt;
}

}  // namespace

std::vector<Form> FormsOf(const Movement& layer) {
  if (layer.kind == "concat") return ConcatForms(layer);
  if (layer.kind == "transpose") return TransposeForms(layer);
  return {};
}

std::vector<Form> FormsOf(const Reorder& layer) {
  const auto from = Named(layer.from, layer.in, layer.dtype.input);
  const auto to = Named(layer.to, layer.in, layer.dtype.output);
  if (!from || !to) return {};
  return {MakeForm(
      "", "",
      {Input(DNNL_ARG_FROM, 0, Plain(layer.in, layer.dtype.input)),
       Output(DNNL_ARG_TO, Plain(layer.in, layer.dtype.output))},
      [from = *from, to = *to] { return dnnl::reorder::primitive_desc(Cpu(), from, Cpu(), to, PlainAttributes()); })};
}

}  // namespace onednn
