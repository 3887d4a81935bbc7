// From a layer to its benchmarks: every plan that cuDNN's graph has for it, under the name that infimum gives it.
//
//   cudnn-graph/eng62_k2=5_k13=1           engine 62 of this version of cuDNN with two of its knobs
//   cudnn-graph/eng62_k2=5_k13=1/acc=f16   the same with products added up in f16
//
// A source builds its layer's graph with NVIDIA's frontend, in one or several forms: how tensors lie in memory, what
// products are added up in, to which multiple channels are filled up.
#pragma once

#include <cudnn_frontend.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cudnn {

namespace fe = cudnn_frontend;
using TensorPointer = std::shared_ptr<fe::graph::Tensor_attributes>;
using Dims = std::vector<std::int64_t>;

// Strides of a packed tensor, in elements.
inline Dims RowMajor(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  return strides;
}

// Of batch, channels and image: the channels lie innermost.
inline Dims ChannelsLast(const Dims& dims) {
  Dims strides(dims.size(), 1);
  std::int64_t stride = dims[1];
  for (std::size_t i = dims.size(); i-- > 2; stride *= dims[i]) strides[i] = stride;
  strides[0] = stride;
  return strides;
}

// The last two dimensions exchanged in memory: a matrix by columns.
inline Dims Transposed(const Dims& dims) {
  Dims swapped = dims;
  std::swap(swapped[dims.size() - 1], swapped[dims.size() - 2]);
  Dims strides = RowMajor(swapped);
  std::swap(strides[dims.size() - 1], strides[dims.size() - 2]);
  return strides;
}

struct Form {
  std::string suffix{};                    // of the candidates' names
  std::string layouts{};                   // of inputs and output, for `infimum import`
  Dims (*layout)(const Dims&) = RowMajor;  // of tensors with channels; of a product: its second operand's
  fe::DataType_t sums = fe::DataType_t::FLOAT;
  std::int64_t channel_multiple = 1;

  // Tensor Cores want channels in multiples of 16 bytes.
  std::int64_t Filled(std::int64_t channels) const {
    return (channels + channel_multiple - 1) / channel_multiple * channel_multiple;
  }
};

// What a graph is given: random numbers, uniform in a range.
struct Input {
  TensorPointer tensor;
  double low = -1, high = 1;
};

struct Arguments {
  std::vector<Input> inputs;
  std::vector<TensorPointer> outputs;
};

struct Layer {
  std::string text;                    // the layer as infimum writes it
  std::vector<std::string> contracts;  // that candidates are to meet: "strict-f32", "tf32", "f16" ...
  std::vector<Form> forms;             // the usual one first
  Arguments (*build)(fe::graph::Graph&, const Form&);
  bool is_product = false;          // of products an engine's notes tell the arithmetic
  std::vector<std::string> only{};  // candidates; empty: all that cuDNN offers
};

// At namespace scope of a source: `const Registration kRegistered({...});`
struct Registration {
  explicit Registration(Layer layer);
};

}  // namespace cudnn
