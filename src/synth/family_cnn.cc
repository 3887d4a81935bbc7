#include "src/synth/family_table.h"

namespace infimum::synth {
namespace {

// Two convolutions of 3x3, or 1x1, 3x3 and 1x1 with four times the channels at the end, around a shortcut.
NetValue ResidualBlock(Net& net, NetValue x, std::int64_t filters, std::int64_t stride, bool is_bottleneck) {
  const std::int64_t channels = is_bottleneck ? 4 * filters : filters;
  NetValue y = x;
  if (is_bottleneck) {
    y = net.Relu(net.Convolution(y, filters, 1, 1));
    y = net.Relu(net.Convolution(y, filters, 3, stride));
    y = net.Convolution(y, channels, 1, 1);
  } else {
    y = net.Relu(net.Convolution(y, filters, 3, stride));
    y = net.Convolution(y, channels, 3, 1);
  }
  const bool is_same = stride == 1 && net.shape(x).dims[1] == channels;
  return net.Relu(net.Add(y, is_same ? x : net.Convolution(x, channels, 1, stride)));
}

}  // namespace

// As ParaDnn has it (arXiv 1907.10701): ResNet's four groups of blocks. The usual values are those of ResNet-50, with
// the normalizations in the convolutions.
Family Convolutional() {
  constexpr const char* kBlocks = "blocks of this group";
  return {"cnn",
          "convolutional: four groups of residual or bottleneck blocks, each with twice the filters and half the image",
          {{.name = "block",
            .what = "two 3x3 convolutions, or 1x1, 3x3 and 1x1",
            .usual = 1,
            .least = 0,
            .most = 1,
            .words = {"residual", "bottleneck"}},
           {.name = "blocks-1", .what = kBlocks, .usual = 3, .most = 1 << 12},
           {.name = "blocks-2", .what = kBlocks, .usual = 4, .most = 1 << 12},
           {.name = "blocks-3", .what = kBlocks, .usual = 6, .most = 1 << 12},
           {.name = "blocks-4", .what = kBlocks, .usual = 3, .most = 1 << 12},
           {.name = "filters", .what = "of the first group", .usual = 64, .most = 1 << 16},
           {.name = "image", .what = "height and width", .usual = 224, .least = 32, .most = 1 << 14},
           {.name = "classes", .what = "elements of an output", .usual = 1000}},
          [](const Point& point, Net& net) {
            const bool is_bottleneck = point.at("block") == 1;
            const std::int64_t image = point.at("image");
            std::int64_t filters = point.at("filters");
            NetValue x = net.Input("image", {point.at("batch"), 3, image, image}, net.floats());
            x = net.MaxPool(net.Relu(net.Convolution(x, filters, 7, 2)), 3, 2);
            std::int64_t stride = 1;
            for (const std::string_view group : {"blocks-1", "blocks-2", "blocks-3", "blocks-4"}) {
              x = ResidualBlock(net, x, filters, stride, is_bottleneck);
              x = net.Repeat(point.at(group) - 1, x,
                             [&](NetValue y) { return ResidualBlock(net, y, filters, 1, is_bottleneck); });
              filters *= 2;
              stride = 2;
            }
            net.Output("output", net.Gemm(net.MeanOfImage(x), point.at("classes")));
          }};
}

}  // namespace infimum::synth
