#include "tests/reports/sample_site.h"

#include <fmt/format.h>

namespace infimum {
namespace {

constexpr const char* kHostile = "<img src=x onerror=alert(1)>\"'&</script><!-- @@SECTIONS@@";

std::string ConvolutionText(std::size_t number) {
  return fmt::format(
      "convolution dtype=f32:f32:f32 in=1x{}x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=1 bias=no weights=const",
      number + 1);
}

}  // namespace

SiteReport SampleSite(std::size_t models, std::size_t devices) {
  SiteReport report{.models = {},
                    .devices = {},
                    .places = {},
                    .upgrades = {},
                    .holes = {},
                    .changes = {{"bound is lower", "model-1 on GPU 2", "2.00 ms", "1.50 ms"},
                                {"run is slower", kHostile, "", kHostile}},
                    .since = "2026-10-01T00:00:00Z",
                    .address = "team's.db",
                    .data_as_of = "2026-11-20T08:00:00Z",
                    .infimum_version = "0.0.0"};
  for (std::size_t i = 0; i < devices; ++i) {
    SiteDevice device;
    device.name = i == 0 ? kHostile : fmt::format("GPU {}", i + 1);
    device.asked = device.name;
    device.is_gpu = i != 1;
    device.path = fmt::format("devices/device-{}.html", i + 1);
    device.generation = i == 0 ? kHostile : "Hopper";
    if (i > 0) device.year = 2018 + static_cast<std::int64_t>(i);
    device.libraries = {{"cudnn 9.2", "2026-09-01T00:00:00Z", "2026-11-20T08:00:00Z", 1200},
                        {"cudnn 9.1", "2026-08-01T00:00:00Z", "2026-08-02T00:00:00Z", 600}};
    device.peaks = {{"read", "", "measured", 1, 3.1e12}, {"arithmetic", "f16", "data sheet", 1, 9.9e14}};
    for (std::size_t layer = 0; layer < 25; ++layer)
      device.regrets.push_back({ConvolutionText(layer), "strict-f32", "cudnn/a", "cudnn/b",
                                Latency(30.0 + static_cast<double>(layer)), Latency(20)});
    report.devices.push_back(std::move(device));
  }
  for (std::size_t i = 0; i < models; ++i) {
    SiteModel model;
    model.name = i == 0 ? kHostile : fmt::format("model-{}", i);
    model.dims = "batch=1 sequence=128";
    model.bindings = {"batch=1", "sequence=128"};
    model.contract = "strict-f32";
    model.path = fmt::format("models/model-{}.html", i);
    model.layers = 60;
    model.unknown = i == 2 ? 1 : 0;
    model.flops = Flops{4'000'000'000};
    model.bytes = Bytes{90'000'000};
    for (std::size_t number = 0; number < 30; ++number) {
      SiteLayer& layer = model.most.emplace_back();
      layer = {ConvolutionText(number), 2, {}};
      for (std::size_t device = 0; device < devices; ++device)
        layer.times.push_back(device == 2 && number % 5 == 0 ? std::nullopt
                                                             : std::optional(Latency(20.0 * (1.0 + device) + number)));
    }
    report.models.push_back(std::move(model));
  }
  for (std::size_t model = 0; model < models; ++model)
    for (std::size_t device = 0; device < devices; ++device) {
      if ((model + device) % 5 == 4) continue;
      for (std::int64_t threads = 1; threads <= (report.devices[device].is_gpu ? 1 : 2); ++threads) {
        SitePlace place;
        place.model = model, place.device = device, place.threads = threads;
        place.bound = Latency(1000.0 * (1.0 + static_cast<double>(device)) / static_cast<double>(threads));
        place.interval = {place.bound * 0.99, place.bound * 1.01};
        place.is_complete = report.models[model].unknown == 0 && device != 2;
        place.measured = device == 2 ? 45 : 60;
        place.libraries = device == 3 ? "cudnn 9.1" : "cudnn 9.2";
        place.newest = device == 3 ? "2026-08-02T00:00:00Z" : "2026-11-20T08:00:00Z";
        if (device == 3) place.newer = "cudnn 9.2";
        const double gap = 0.9 + 0.4 * static_cast<double>(model);
        if (model % 7 < 3)
          place.run =
              SiteRun{"onnxruntime 1.31", place.bound * gap, {place.bound * gap * 0.99, place.bound * gap * 1.01}};
        report.places.push_back(std::move(place));
      }
      if (device == 2) report.holes.push_back({model, device, 1, 10, 3, 2});
    }
  SiteUpgrade upgrade{.library = "cudnn", .from = "9.1", .to = "9.2", .path = "upgrades/cudnn.html", .layers = {}};
  for (std::size_t i = 0; i < 40; ++i)
    upgrade.layers.push_back(
        {i % devices, ConvolutionText(i), "strict-f32", "warm", 1, Latency(100), Latency(160.0 - 3.0 * i)});
  report.upgrades.push_back(std::move(upgrade));
  return report;
}

}  // namespace infimum
