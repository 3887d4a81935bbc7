#include "tests/reports/sample_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {
namespace {

// A fixed sequence in [0, 1): the same on every machine, unlike the standard library's distributions.
class Sequence {
 public:
  double Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 40) / static_cast<double>(1 << 24);
  }

 private:
  std::uint64_t state_ = 42;
};

constexpr double kPeak = 205e9;        // FLOP/s
constexpr double kBandwidth = 14.2e9;  // bytes/s

class Builder {
 public:
  explicit Builder(ReportModel& report) : report_(report) {}

  // Reads what the layer before it wrote, and so do the next ones until Read() says otherwise.
  void Convolution(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t kernel,
                   std::int64_t stride, bool relu) {
    std::int64_t output = size / stride;
    ReportLayer layer;
    layer.name = name;
    layer.op = "Conv";
    layer.family = "convolution";
    std::string pad = kernel == 3 ? "1,1,1,1" : kernel == 7 ? "3,3,3,3" : "0,0,0,0";
    std::string k = std::to_string(kernel);
    std::string s = std::to_string(stride);
    layer.config = "convolution dtype=f32:f32:f32 in=1x" + std::to_string(in) + "x" + std::to_string(size) + "x" +
                   std::to_string(size) + " out_channels=" + std::to_string(out) + " kernel=" + k + "x" + k +
                   " stride=" + s + "x" + s + " dilation=1x1 pad=" + pad + " groups=1 bias=yes weights=const";
    layer.flops = Flops{2 * in * out * kernel * kernel * output * output};
    layer.bytes = Bytes{4 * (in * size * size + out * output * output + in * out * kernel * kernel)};
    double efficiency = 0.72 + 0.22 * sequence_.Next() - (in < 8 ? 0.3 : 0);
    Measured(layer, static_cast<double>(layer.flops.value) / (kPeak * efficiency) * 1e6,
             kernel == 1 ? "onednn/brgconv_1x1:avx512_core" : "onednn/brgconv:avx512_core");
    std::size_t conv = Add(layer);
    double slowdown = 1.02 + 0.16 * sequence_.Next() + (kernel == 3 && size == 14 ? 0.35 : 0);
    EngineRow row{{conv}, {name + "_nchwc"}, *layer.latency * slowdown};
    std::size_t norm = Free(name + "/bn", "BatchNormalization", "folded into the weights of the convolution before it");
    row.layers.push_back(norm);
    if (relu) {
      std::size_t after = Pointwise(name + "/relu", "Relu", "relu", out * output * output, 1);
      row.layers.push_back(after);
      row.latency += *report_.layers[after].latency * 0.2;
    }
    rows_.push_back(row);
  }

  std::size_t Pointwise(const std::string& name, const std::string& op, const std::string& kind, std::int64_t elements,
                        std::int64_t inputs) {
    ReportLayer layer;
    layer.name = name;
    layer.op = op;
    layer.family = "pointwise";
    layer.config = "pointwise kind=" + kind + " dtype=f32:-:f32 in=" + std::to_string(elements);
    layer.flops = Flops{elements};
    layer.bytes = Bytes{4 * elements * (inputs + 1)};
    Measured(layer, static_cast<double>(layer.bytes.value) / 60e9 * 1e6, "onednn/jit_uni:avx512_core");
    return Add(layer);
  }

  std::size_t Free(const std::string& name, const std::string& op, const std::string& reason) {
    ReportLayer layer;
    layer.name = name;
    layer.op = op;
    layer.family = op;
    layer.status = RowStatus::kFree;
    layer.reason = reason;
    layer.latency = Latency(0);
    return Add(layer);
  }

  std::size_t Add(const ReportLayer& layer) {
    const std::size_t added = report_.layers.size();
    if (added > 0) report_.edges.push_back({last_, added});
    report_.layers.push_back(layer);
    report_.layers.back().conventional = layer.flops;
    return last_ = added;
  }

  std::size_t last() const { return last_; }
  void Read(std::size_t layer) { last_ = layer; }
  void AddEdge(std::size_t from, std::size_t to) { report_.edges.push_back({from, to}); }

  void Engine(EngineRow row) { rows_.push_back(std::move(row)); }
  std::vector<EngineRow> TakeRows() { return std::move(rows_); }

  void Measured(ReportLayer& layer, double us, const std::string& candidate) {
    layer.status = RowStatus::kMeasured;
    layer.candidate = candidate;
    layer.latency = Latency(us);
    layer.interval = Interval{Latency(us * 0.992), Latency(us * (1.01 + 0.02 * sequence_.Next()))};
    double arithmetic = layer.family == "convolution" ? 0 : static_cast<double>(layer.flops.value) / kPeak * 1e6;
    layer.floor = Latency(std::fmax(arithmetic, static_cast<double>(layer.bytes.value) / 95e9 * 1e6));
  }

 private:
  ReportModel& report_;
  Sequence sequence_;
  std::size_t last_ = 0;  // the layer that the next one reads
  std::vector<EngineRow> rows_;
};

void AddBlocks(Builder& builder, std::size_t repeat) {
  struct Stage {
    int blocks;
    std::int64_t in, middle, out, size;
  };
  const Stage stages[] = {
      {3, 64, 64, 256, 56}, {4, 256, 128, 512, 56}, {6, 512, 256, 1024, 28}, {3, 1024, 512, 2048, 14}};
  for (int s = 0; s < 4; ++s) {
    const Stage& stage = stages[s];
    for (int b = 0; b < stage.blocks; ++b) {
      std::int64_t stride = b == 0 && s > 0 ? 2 : 1;
      std::int64_t in = b == 0 ? stage.in : stage.out;
      std::int64_t size = b == 0 || s == 0 ? stage.size : stage.size / 2;
      std::int64_t after = size / stride;
      std::string name = "/layer" + std::to_string(s + 1) + "/layer" + std::to_string(s + 1) + "." + std::to_string(b);
      if (repeat > 0) name = "/repeat" + std::to_string(repeat) + name;
      const std::size_t input = builder.last();
      builder.Convolution(name + "/conv1/Conv", in, stage.middle, size, 1, 1, true);
      builder.Convolution(name + "/conv2/Conv", stage.middle, stage.middle, size, 3, stride, true);
      builder.Convolution(name + "/conv3/Conv", stage.middle, stage.out, after, 1, 1, false);
      const std::size_t main = builder.last();
      builder.Read(input);
      if (b == 0) builder.Convolution(name + "/downsample/Conv", in, stage.out, size, 1, stride, false);
      const std::size_t shortcut = builder.last();
      builder.Read(main);
      std::size_t add = builder.Pointwise(name + "/Add", "Add", "add", stage.out * after * after, 2);
      builder.AddEdge(shortcut, add);
      std::size_t relu = builder.Pointwise(name + "/relu_2/Relu", "Relu", "relu", stage.out * after * after, 1);
      double bytes = 4.0 * static_cast<double>(stage.out * after * after);
      builder.Engine({{add, relu}, {name + "/Add", name + "/relu_2/Relu"}, Latency(bytes * 5 / 42e9 * 1e6)});
    }
  }
}

void AddHead(Builder& builder, const SampleOptions& options) {
  ReportLayer pool;
  pool.name = "/avgpool/GlobalAveragePool";
  pool.op = "GlobalAveragePool";
  pool.family = "pooling";
  pool.config =
      "pooling kind=average dtype=f32:-:f32 in=1x2048x7x7 out=1x2048x1x1 kernel=7x7 stride=1x1 dilation=1x1 "
      "pad=0,0,0,0";
  pool.flops = Flops{100352};
  pool.bytes = Bytes{409600};
  builder.Measured(pool, 11.8, "onednn/jit:avx512_core");
  builder.Engine({{builder.Add(pool)}, {pool.name}, Latency(10.9)});
  builder.Free("/Flatten", "Flatten", "a view: the same bytes under another shape");

  ReportLayer product;
  product.name = "/fc/Gemm";
  product.op = "Gemm";
  product.family = "matmul";
  product.config = "matmul dtype=f32:f32:f32 a=1x1x2048 b=1x2048x1000 bias=column weights=const";
  product.flops = Flops{4096000};
  product.bytes = Bytes{8204192};
  builder.Measured(product, 430.2, "onednn/gemm:jit");
  builder.Engine({{builder.Add(product)}, {product.name}, Latency(588.4)});

  ReportLayer hostile;
  hostile.name = kHostileName;
  hostile.op = "Softmax";
  hostile.family = "softmax";
  hostile.config = "softmax kind=softmax dtype=f32:-:f32 in=1x1000x1 axis=1";
  hostile.bytes = Bytes{8000};
  hostile.flops = Flops{5000};
  builder.Measured(hostile, 1.42, "onednn/jit:avx512_core");
  builder.Engine({{builder.Add(hostile)}, {kHostileName}, Latency(2.2)});

  ReportLayer top;
  top.name = "/TopK";
  top.op = "TopK";
  top.family = "sort";
  top.config = "sort kind=topk dtype=f32:-:f32 in=1x1000x1 axis=1 k=5";
  top.bytes = Bytes{4040};
  top.status = RowStatus::kEstimated;
  top.latency = Latency(7.2);
  top.floor = Latency(0.043);
  builder.Engine({{builder.Add(top)}, {"/TopK"}, Latency(9.4)});
  if (!options.with_missing) return;
  ReportLayer resize;
  resize.name = "/heatmap/Resize";
  resize.op = "Resize";
  resize.family = "resample";
  resize.config = "resample kind=linear dtype=f32:-:f32 in=1x2048x7x7 out=1x2048x28x28";
  resize.bytes = Bytes{6823936};
  resize.status = RowStatus::kMissing;
  resize.reason = "not measured yet";
  resize.floor = Latency(71.8);
  builder.Engine({{builder.Add(resize)}, {"/heatmap/Resize"}, Latency(1210)});
  ReportLayer custom;
  custom.name = "/heatmap/Custom";
  custom.op = "com.acme.Blend";
  custom.family = "com.acme.Blend";
  custom.bytes = Bytes{12845056};
  custom.status = RowStatus::kUnknown;
  custom.reason = "no configuration is known for com.acme.Blend";
  custom.floor = Latency(135.2);
  builder.Engine({{builder.Add(custom)}, {"/heatmap/Custom"}, Latency(402)});
}

ReportCandidate Ran(const std::string& name, Latency latency) {
  return {name, Outcome::kMeasured, "", latency, Interval{latency * 0.99, latency * 1.015}, 3, {}, 1.25e-7};
}

// The best as the layer has it; of products a slower one that the library would choose; slow ones, and some that did
// not run.
ReportWorkload WorkloadOf(const std::string& config, const std::string& best, Latency latency,
                          const Interval& interval) {
  ReportWorkload workload;
  workload.config = config;
  workload.contract = "strict-f32";
  workload.candidates.push_back(Ran(best, latency));
  workload.candidates.back().interval = interval;
  workload.best = 0;
  const bool is_product = config.starts_with("convolution") || config.starts_with("region");
  if (is_product) {
    workload.candidates.push_back(Ran("onednn/jit:avx512_core", latency * 1.06));
    workload.library_choice = 1;
    workload.regret = latency * 0.055;
    workload.regret_is_validated = true;
    for (int i = 0; i < 9; ++i)
      workload.candidates.push_back(Ran("onednn/gemm:blocked_" + std::to_string(i), latency * (1.3 + 0.4 * i)));
    workload.candidates.back().flags = {"noisy"};
  }
  workload.candidates.push_back(
      {"onednn/<b>dw</b>:avx512_core", Outcome::kUnsupported, "depthwise <only>", {}, {}, 0, {}, {}});
  workload.candidates.push_back(
      {"onednn/ref:any", Outcome::kSkipped, "50 times slower than the best", {}, {}, 0, {}, {}});
  return workload;
}

std::size_t PlaceOf(ReportWorkload workload, ReportModel& report) {
  for (std::size_t i = 0; i < report.workloads.size(); ++i)
    if (report.workloads[i].config == workload.config) return i;
  report.workloads.push_back(std::move(workload));
  return report.workloads.size() - 1;
}

void AddCandidates(ReportModel& report) {
  for (ReportLayer& layer : report.layers) {
    if (layer.status != RowStatus::kMeasured) continue;
    const std::size_t place =
        PlaceOf(WorkloadOf(layer.config, layer.candidate, *layer.latency, *layer.interval), report);
    layer.workload = place;
    const ReportWorkload& workload = report.workloads[place];
    if (!workload.library_choice) continue;
    layer.library_choice = workload.candidates[*workload.library_choice].name;
    layer.regret = workload.regret;
  }
  for (ReportRegion& region : report.regions)
    region.workload = PlaceOf(
        WorkloadOf(region.config, region.candidate, region.latency, {region.latency * 0.99, region.latency * 1.02}),
        report);
  for (Finding& finding : report.findings) {
    for (FindingCase& one : finding.cases) {
      one.candidates = 13;
      one.measured_candidates = 11;
      one.interval = report.layers.front().interval;
      one.command = ReproductionCommand(one.workload);
      report.sources.push_back({one.workload, "onednn", "onednn_convolution_1d1f5f4e.cc",
                                "// </script><!-- a source\nint main() { return 0; }\n",
                                "infimum emit --layer " + ShellQuoted(one.workload) + " -o layer", ""});
    }
  }
}

void AddAbout(ReportModel& report) {
  report.title = "resnet50 on AMD EPYC";
  report.data_as_of = "2026-11-21T10:47:44Z";
  report.infimum_version = "0.1.0";
  report.model_name = "resnet50";
  report.model_sha256 = "5b1f0a3c8d7e6f2b9a4c1d0e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a";
  report.opset = 18;
  report.inputs = {{"x", "f32", "1x3x224x224"}};
  report.device_name = "AMD EPYC 9V74";
  report.device_key = "cpu/AuthenticAMD/25.17.1/avx2,avx512f,avx512_bf16,fma/l1=32K/l2=1M/l3=32M/cores=2";
  report.generation = "Zen 4";
  report.environment.libraries = {{"onednn", "3.2.0 gomp"}};
  report.environment.threads = 1;
  report.environment.evidence = {{evidence::kAffinity, "pinned:0"},
                                 {evidence::kClocks, "performance"},
                                 {evidence::kSystem, "Debian GNU/Linux 12, Linux 6.1"},
                                 {evidence::kInfimum, "0.1.0"}};
  report.selection = "1 thread, warm caches, min-of-medians, the model's own types, fullest, then newest libraries";
  report.contract = "strict-f32";
  report.passes = {{"fold-batch-normalization",
                    "scale and shift move into the weights of the convolution before",
                    {"/layer1/layer1.0/conv1/Conv/bn into /layer1/layer1.0/conv1/Conv", "and the others"}}};
  report.arithmetic_roofs = {{"f32 arithmetic", kPeak}, {"bf16 arithmetic", 390e9}};
  report.bandwidth_roofs = {{"memory", kBandwidth}, {"L2", 95e9}};
}

}  // namespace

void MarkLongestPath(ReportModel& report) {
  const std::size_t layers = report.layers.size();
  std::vector<Latency> until(layers, Latency(0));
  std::vector<std::size_t> before(layers, layers);
  std::size_t last = 0, next = 0;
  for (ReportLayer& layer : report.layers) layer.on_critical_path = false;
  std::sort(report.edges.begin(), report.edges.end(),
            [](const ReportEdge& a, const ReportEdge& b) { return std::tie(a.to, a.from) < std::tie(b.to, b.from); });
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (; next < report.edges.size() && report.edges[next].to == layer; ++next) {
      const std::size_t from = report.edges[next].from;
      if (before[layer] != layers && until[from] <= until[layer]) continue;
      until[layer] = until[from];
      before[layer] = from;
    }
    until[layer] += report.layers[layer].latency.value_or(Latency(0));
    if (until[layer] >= until[last]) last = layer;
  }
  for (std::size_t layer = last; layer < layers; layer = before[layer]) report.layers[layer].on_critical_path = true;
  std::sort(report.edges.begin(), report.edges.end());
}

ReportModel SampleReport(const SampleOptions& options) {
  ReportModel report;
  AddAbout(report);
  Builder builder(report);
  builder.Convolution("/conv1/Conv", 3, 64, 224, 7, 2, true);
  for (std::size_t repeat = 0; repeat < options.stages; ++repeat) AddBlocks(builder, repeat);
  AddHead(builder, options);
  MarkLongestPath(report);

  Latency sum{0};
  Latency measured{0};
  Latency estimated{0};
  Latency missing{0};
  for (const ReportLayer& layer : report.layers) {
    if (layer.latency) sum += *layer.latency;
    if (layer.status == RowStatus::kMeasured) measured += *layer.latency;
    if (layer.status == RowStatus::kEstimated) estimated += *layer.latency;
    if (!layer.latency) missing += layer.floor;
  }
  Latency all = measured + estimated + missing;
  report.coverage = {measured / all, estimated / all, 0, missing / all};
  report.floor = {sum * 0.21, "bandwidth memory", {"estimated"}};
  report.conventional_floor = {sum * 0.78, "arithmetic f32", {"estimated", "conventional-arithmetic"}};
  std::vector<std::string> tags = {"free-layouts", "warm-caches", "estimated-layers"};
  if (missing > Latency(0)) tags.push_back("missing-layers");
  report.bounds = {{BoundVariant::kSequential, sum, {sum * 0.993, sum * 1.012}, tags},
                   {BoundVariant::kParallel, sum * 0.991, {sum * 0.985, sum * 1.004}, tags}};
  Latency fused = sum;
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    const ReportLayer& product = report.layers[i];
    std::size_t last = i + 1;
    while (last < report.layers.size() && report.layers[last].status == RowStatus::kFree) ++last;
    const bool fits = last < report.layers.size() && product.family == "convolution" && product.latency &&
                      report.layers[last].family != "convolution" && report.layers[last].latency;
    if (!fits) continue;
    const Latency alone = *product.latency + *report.layers[last].latency;
    // Each third one is not worth it.
    const bool is_chosen = report.regions.size() % 3 != 2;
    ReportRegion region;
    for (std::size_t layer = i; layer <= last; ++layer) region.layers.push_back(layer);
    region.rule = "product-epilogue";
    const ReportLayer& after = report.layers[last];
    region.config =
        "region [" + product.config + "](in0,w0,w1) ; [" + after.config + "](%0" + (after.op == "Add" ? ",in1)" : ")");
    region.candidate = product.candidate;
    region.latency = alone * (is_chosen ? 0.9 : 1.1);
    region.unfused = alone;
    region.is_chosen = is_chosen;
    report.regions.push_back(std::move(region));
    if (is_chosen) fused -= alone * 0.1;
  }
  report.bounds.push_back({BoundVariant::kFusedSequential, fused, {fused * 1.004, fused * 1.021}, tags});
  report.bounds.push_back({BoundVariant::kHeuristic, sum * 1.07, {sum * 1.072, sum * 1.094}, tags});
  report.regret = AlgorithmRegret{sum * 0.05, report.layers.size() / 2, true};
  report.what_ifs = {
      {"free:op=<script>", 3, {{BoundVariant::kFusedSequential, fused * 0.8, fused * 0.2}}},
      {"contract:bf16",
       report.layers.size(),
       {{BoundVariant::kFusedSequential, fused * 0.3, fused * 0.7, Interval{fused * 0.29, fused * 0.31}}},
       Coverage{0.97, 0, 0, 0.03}},
      {"cache:cold-weights",
       report.layers.size(),
       {{BoundVariant::kFusedSequential, fused * 1.1, fused * -0.1, Interval{fused * 1.08, fused * 1.2}}},
       Coverage{1, 0, 0, 0}}};
  std::vector<EngineRow> rows = builder.TakeRows();
  rows.push_back({{}, {"ReorderInput", "ReorderOutput"}, Latency(131.5)});
  if (options.with_run) {
    Latency run{0};
    for (const EngineRow& row : rows) run += row.latency;
    run += Latency(212);  // what no layer accounts for
    report.demonstrated = sum * 1.018;
    report.composition = CompositionError{1.17, 1.04, 0};
    report.run = ReportRun{"onnxruntime",
                           "1.31.1",
                           run,
                           run * 0.991,
                           run * 1.004,
                           run * 1.037,
                           Interval{run * 0.999, run * 1.009},
                           5,
                           640,
                           {{"graph_optimization_level", "all"}, {"intra_op_threads", "1"}},
                           rows};
    Waterfall& waterfall = report.waterfall.emplace();
    waterfall.measured = run;
    waterfall.bound = fused;
    waterfall.variant = BoundVariant::kFusedParallel;
    waterfall.demonstrated = report.demonstrated;
    waterfall.floor = report.floor.latency;
    const Latency slower = run - sum - Latency(212 + 131.5) + Latency(40);
    waterfall.steps = {
        {GapCause::kHostGaps, Latency(212), {{"outside the layers", Latency(212), {}}}},
        {GapCause::kAlgorithmRegret, slower, {{"<b>\"fused\" & co", slower * 0.75, {}}, {"Conv_7", slower * 0.25, {}}}},
        {GapCause::kMissedFusion, sum - fused, {{"Conv_0 + Relu_1", sum - fused, {}}}},
        {GapCause::kLayoutChanges, Latency(131.5), {{"ReorderInput", Latency(131.5), {}}}},
        {GapCause::kUnexplained,
         Latency(-40),
         {{"the run without a profiler against the one with it", Latency(-40), {}}}},
        {GapCause::kAboveFloor,
         fused - report.floor.latency,
         {{"the bound against the floor", fused - report.floor.latency, {}}}}};
    report.findings = {
        {"slower-algorithm",
         slower,
         {"<script>alert('layer')</script>", "Conv_7"},
         "convolution: 51 of 53 rows take longer than the best candidates known",
         "set `cudnn_conv_algo_search` & <look> again",
         {{"<script>alert('layer')</script>", "sgemm_128x64", Latency(900), Latency(500), "onednn/brgconv:avx512_core",
           report.layers.front().config}}},
        {"layout-changes",
         Latency(131.5),
         {"ReorderInput"},
         "2 layers of the engine's own change the layout",
         "keep one layout",
         {}},
        {"under-bound", Latency(0), {"Conv_9"}, "1 row is faster than its best candidate", "nothing to change", {}}};
    report.advice = {{"The repetitions of the run differ by 3.7 %: another process may use this processor.", ""}};
  }
  AddCandidates(report);
  double flops = 1;
  for (const ReportLayer& layer : report.layers) flops += static_cast<double>(layer.conventional.value);
  for (const ReportLayer& layer : report.layers) {
    if (layer.latency) continue;
    report.missing.push_back({layer.config.empty() ? layer.name : layer.config, layer.reason, layer.floor / all,
                              static_cast<double>(layer.conventional.value) / flops,
                              layer.config.empty() ? "" : ReproductionCommand(layer.config)});
  }
  return report;
}

}  // namespace infimum
