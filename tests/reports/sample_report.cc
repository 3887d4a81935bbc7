#include "tests/reports/sample_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "infimum/base/text.h"
#include "reports/text/layer_words.h"

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
    std::string pad = kernel == 3 ? "1,1,1,1" : kernel == 7 ? "3,3,3,3" : "0,0,0,0";
    std::string k = std::to_string(kernel);
    std::string s = std::to_string(stride);
    SampleLayer layer =
        MakeLayer(name, "Conv",
                  "convolution dtype=f32:f32:f32 in=1x" + std::to_string(in) + "x" + std::to_string(size) + "x" +
                      std::to_string(size) + " out_channels=" + std::to_string(out) + " kernel=" + k + "x" + k +
                      " stride=" + s + "x" + s + " dilation=1x1 pad=" + pad + " groups=1 bias=yes weights=const",
                  Flops{2 * in * out * kernel * kernel * output * output},
                  Bytes{4 * (in * size * size + out * output * output + in * out * kernel * kernel)});
    double efficiency = 0.72 + 0.22 * sequence_.Next() - (in < 8 ? 0.3 : 0);
    Measure(layer, static_cast<double>(layer.layer.work.direct.value) / (kPeak * efficiency) * 1e6,
            kernel == 1 ? "onednn/brgconv_1x1:avx512_core" : "onednn/brgconv:avx512_core");
    Latency took = *layer.latency.latency;
    std::vector<LayerId> row{Add(std::move(layer))};
    double slowdown = 1.02 + 0.16 * sequence_.Next() + (kernel == 3 && size == 14 ? 0.35 : 0);
    took *= slowdown;
    row.push_back(Free(name + "/bn", "BatchNormalization", "folded into the weights of the convolution before it"));
    if (relu) {
      const LayerId after = Pointwise(name + "/relu", "Relu", "relu", out * output * output, 1);
      row.push_back(after);
      took += *report_.bracket.layers[after.index()].latency * 0.2;
    }
    Engine(std::move(row), {name + "_nchwc"}, took);
  }

  LayerId Pointwise(const std::string& name, const std::string& op, const std::string& kind, std::int64_t elements,
                    std::int64_t inputs) {
    const std::string in = std::to_string(elements);
    const std::string config = "pointwise kind=" + kind + " dtype=f32:" + (inputs > 1 ? "f32" : "-") + ":f32 in=" + in +
                               (inputs > 1 ? "," + in : "");
    SampleLayer layer = MakeLayer(name, op, config, Flops{elements}, Bytes{4 * elements * (inputs + 1)});
    Measure(layer, static_cast<double>(layer.layer.work.written.value) / 60e9 * 1e6, "onednn/jit_uni:avx512_core");
    return Add(std::move(layer));
  }

  LayerId Free(const std::string& name, const std::string& op, const std::string& reason) {
    SampleLayer layer = MakeLayer(name, op, "", Flops{}, Bytes{});
    layer.layer.status = LayerStatus::kFree;
    layer.layer.reason = reason;
    layer.latency.status = LatencyStatus::kFree;
    layer.latency.latency = Latency(0);
    return Add(std::move(layer));
  }

  LayerId Add(SampleLayer layer) {
    const LayerId added = AddLayer(std::move(layer), report_);
    if (added.index() > 0) report_.edges.push_back({last_.index(), added.index()});
    return last_ = added;
  }

  LayerId last() const { return last_; }
  void Read(LayerId layer) { last_ = layer; }
  void AddEdge(LayerId from, LayerId to) { report_.edges.push_back({from.index(), to.index()}); }

  // Kept until there is a run.
  void Engine(std::vector<LayerId> layers, std::vector<std::string> engine_layers, Latency took) {
    AddEngineRow(std::move(layers), std::move(engine_layers), took, run_);
  }
  ReportRun TakeRun() { return std::move(run_); }

  void Measure(SampleLayer& layer, double us, const std::string& candidate) {
    layer.latency.status = LatencyStatus::kMeasured;
    layer.latency.candidate = NamedCandidate(candidate);
    layer.latency.latency = Latency(us);
    layer.latency.interval = Interval{Latency(us * 0.992), Latency(us * (1.01 + 0.02 * sequence_.Next()))};
    const Work& work = layer.layer.work;
    const bool is_convolution = FamilyOf(layer.layer) == "convolution";
    double arithmetic = is_convolution ? 0 : static_cast<double>(work.direct.value) / kPeak * 1e6;
    layer.latency.floor = Latency(std::fmax(arithmetic, static_cast<double>(work.written.value) / 95e9 * 1e6));
  }

 private:
  ReportModel& report_;
  Sequence sequence_;
  LayerId last_;  // the layer that the next one reads
  ReportRun run_;
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
      const LayerId input = builder.last();
      builder.Convolution(name + "/conv1/Conv", in, stage.middle, size, 1, 1, true);
      builder.Convolution(name + "/conv2/Conv", stage.middle, stage.middle, size, 3, stride, true);
      builder.Convolution(name + "/conv3/Conv", stage.middle, stage.out, after, 1, 1, false);
      const LayerId main = builder.last();
      builder.Read(input);
      if (b == 0) builder.Convolution(name + "/downsample/Conv", in, stage.out, size, 1, stride, false);
      const LayerId shortcut = builder.last();
      builder.Read(main);
      const LayerId add = builder.Pointwise(name + "/Add", "Add", "add", stage.out * after * after, 2);
      builder.AddEdge(shortcut, add);
      const LayerId relu = builder.Pointwise(name + "/relu_2/Relu", "Relu", "relu", stage.out * after * after, 1);
      double bytes = 4.0 * static_cast<double>(stage.out * after * after);
      builder.Engine({add, relu}, {name + "/Add", name + "/relu_2/Relu"}, Latency(bytes * 5 / 42e9 * 1e6));
    }
  }
}

void AddHead(Builder& builder, const SampleOptions& options) {
  const auto engine = [&](SampleLayer layer, Latency took) {
    const std::string name = layer.layer.name;
    builder.Engine({builder.Add(std::move(layer))}, {name}, took);
  };
  SampleLayer pool = MakeLayer("/avgpool/GlobalAveragePool", "GlobalAveragePool",
                               "pooling kind=average dtype=f32:-:f32 in=1x2048x7x7 out=1x2048x1x1 kernel=7x7 "
                               "stride=1x1 dilation=1x1 pad=0,0,0,0",
                               Flops{100352}, Bytes{409600});
  builder.Measure(pool, 11.8, "onednn/jit:avx512_core");
  engine(std::move(pool), Latency(10.9));
  builder.Free("/Flatten", "Flatten", "a view: the same bytes under another shape");

  SampleLayer product =
      MakeLayer("/fc/Gemm", "Gemm", "matmul dtype=f32:f32:f32 a=1x1x2048 b=1x2048x1000 bias=column weights=const",
                Flops{4096000}, Bytes{8204192});
  builder.Measure(product, 430.2, "onednn/gemm:jit");
  engine(std::move(product), Latency(588.4));

  SampleLayer hostile = MakeLayer(kHostileName, "Softmax", "softmax kind=softmax dtype=f32:-:f32 in=1x1000x1 axis=1",
                                  Flops{5000}, Bytes{8000});
  builder.Measure(hostile, 1.42, "onednn/jit:avx512_core");
  engine(std::move(hostile), Latency(2.2));

  SampleLayer top =
      MakeLayer("/TopK", "TopK", "sort kind=topk dtype=f32:-:f32 in=1x1000x1 axis=1 k=5", Flops{}, Bytes{4040});
  top.latency.status = LatencyStatus::kEstimated;
  top.latency.latency = Latency(7.2);
  top.latency.floor = Latency(0.043);
  engine(std::move(top), Latency(9.4));
  if (!options.with_missing) return;
  SampleLayer resize =
      MakeLayer("/heatmap/Resize", "Resize", "resample kind=linear dtype=f32:-:f32 in=1x2048x7x7 out=1x2048x28x28",
                Flops{}, Bytes{6823936});
  resize.latency.floor = Latency(71.8);
  engine(std::move(resize), Latency(1210));
  SampleLayer custom = MakeLayer("/heatmap/Custom", "com.acme.Blend", "", Flops{}, Bytes{12845056});
  custom.layer.reason = "no configuration is known for com.acme.Blend";
  custom.latency.floor = Latency(135.2);
  engine(std::move(custom), Latency(402));
}

KnownCandidate Ran(const std::string& name, Latency latency) {
  KnownCandidate known;
  known.row.candidate = NamedCandidate(name);
  known.row.repetitions.resize(3);
  known.row.numeric_error = 1.25e-7;
  known.latency = latency;
  known.interval = Interval{latency * 0.99, latency * 1.015};
  return known;
}

KnownCandidate DidNotRun(const std::string& name, Outcome outcome, const std::string& reason) {
  KnownCandidate known;
  known.row.candidate = NamedCandidate(name);
  known.row.outcome = outcome;
  known.row.reason = reason;
  return known;
}

// The best as the layer has it; of products a slower one that the library would choose; slow ones, and some that did
// not run.
WorkloadCandidates CandidatesFor(const std::string& config, const std::string& best, Latency latency,
                                 const Interval& interval) {
  WorkloadCandidates workload;
  workload.workload.text = config;
  workload.candidates.push_back(Ran(best, latency));
  workload.candidates.back().interval = interval;
  workload.best = 0;
  const bool is_product = config.starts_with("convolution") || config.starts_with("region");
  if (is_product) {
    workload.candidates.push_back(Ran("onednn/jit:avx512_core", latency * 1.06));
    workload.choice = 1;
    workload.regret = latency * 0.055;
    workload.regret_is_validated = true;
    for (int i = 0; i < 9; ++i)
      workload.candidates.push_back(Ran("onednn/gemm:blocked_" + std::to_string(i), latency * (1.3 + 0.4 * i)));
    workload.candidates.back().row.flags = {"noisy"};
  }
  workload.candidates.push_back(DidNotRun("onednn/<b>dw</b>:avx512_core", Outcome::kUnsupported, "depthwise <only>"));
  workload.candidates.push_back(DidNotRun("onednn/ref:any", Outcome::kSkipped, "50 times slower than the best"));
  return workload;
}

std::size_t PlaceOf(WorkloadCandidates workload, ReportModel& report) {
  for (std::size_t i = 0; i < report.workloads.size(); ++i)
    if (report.workloads[i].workload == workload.workload) return i;
  report.workloads.push_back(std::move(workload));
  return report.workloads.size() - 1;
}

void AddCandidates(ReportModel& report) {
  for (std::size_t i = 0; i < report.graph.layers.size(); ++i) {
    LayerLatency& layer = report.bracket.layers[i];
    if (layer.status != LatencyStatus::kMeasured) continue;
    const std::size_t place = PlaceOf(
        CandidatesFor(ConfigOf(report.graph.layers[i]), layer.candidate->name(), *layer.latency, *layer.interval),
        report);
    report.layer_workloads[i] = place;
    const WorkloadCandidates& workload = report.workloads[place];
    if (!workload.choice) continue;
    const KnownCandidate& chosen = workload.candidates[*workload.choice];
    layer.choice = LibraryChoice{chosen.row.candidate, *chosen.latency, *workload.regret, true};
  }
  for (const RegionLatency& region : report.bracket.regions)
    report.region_workloads.push_back(PlaceOf(CandidatesFor(ConfigOf(region), region.candidate.name(), region.latency,
                                                            {region.latency * 0.99, region.latency * 1.02}),
                                              report));
  for (Finding& finding : report.findings) {
    for (FindingCase& one : finding.cases) {
      one.candidates = 13;
      one.measured_candidates = 11;
      one.interval = report.bracket.layers.front().interval;
      one.command = ReproductionCommand(one.workload);
      report.sources.push_back({one.workload, "onednn", "onednn_convolution_1d1f5f4e.cc",
                                "// </script><!-- a source\nint main() { return 0; }\n",
                                "infimum emit --layer " + ShellQuoted(one.workload) + " -o layer", ""});
    }
  }
}

// Each convolution with the element-wise layer after it; what the chosen ones win.
Latency AddRegions(ReportModel& report) {
  const std::vector<Layer>& layers = report.graph.layers;
  Bracket& bracket = report.bracket;
  Latency won{0};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::size_t last = i + 1;
    while (last < layers.size() && layers[last].status == LayerStatus::kFree) ++last;
    const bool fits = last < layers.size() && FamilyOf(layers[i]) == "convolution" && bracket.layers[i].latency &&
                      FamilyOf(layers[last]) != "convolution" && bracket.layers[last].latency;
    if (!fits) continue;
    const Latency alone = *bracket.layers[i].latency + *bracket.layers[last].latency;
    // Each third one is not worth it.
    const bool is_chosen = bracket.regions.size() % 3 != 2;
    RegionLatency region;
    for (std::size_t layer = i; layer <= last; ++layer) region.layers.push_back(LayerId(layer));
    region.rule = "product-epilogue";
    region.region.emplace().workload =
        ParseWorkload("region [" + ConfigOf(layers[i]) + "](in0,w0,w1) ; [" + ConfigOf(layers[last]) + "](%0" +
                      (layers[last].op == "Add" ? ",in1)" : ")"))
            .value();
    region.candidate = *bracket.layers[i].candidate;
    region.latency = alone * (is_chosen ? 0.9 : 1.1);
    region.unfused = alone;
    region.is_chosen = is_chosen;
    bracket.regions.push_back(std::move(region));
    if (is_chosen) won += alone * 0.1;
  }
  return won;
}

void AddAbout(ReportModel& report) {
  report.title = "resnet50 on AMD EPYC";
  report.data_as_of = "2026-11-21T10:47:44Z";
  report.infimum_version = "0.1.0";
  report.model_name = "resnet50";
  report.graph.sha256 = "5b1f0a3c8d7e6f2b9a4c1d0e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a";
  report.graph.opset = 18;
  Value input;
  input.name = "x";
  input.type = DataType::kF32;
  input.shape = Shape{{1, 3, 224, 224}};
  report.graph.values = {input};
  report.graph.inputs = {ValueId(0)};
  report.device_name = "AMD EPYC 9V74";
  report.device_key = "cpu/AuthenticAMD/25.17.1/avx2,avx512f,avx512_bf16,fma/l1=32K/l2=1M/l3=32M/cores=2";
  report.generation = "Zen 4";
  report.environment.libraries = {{"onednn", "3.2.0 gomp"}};
  report.environment.threads = 1;
  report.environment.evidence = {{evidence::kAffinity, "pinned:0"},
                                 {evidence::kClocks, "performance"},
                                 {evidence::kSystem, "Debian GNU/Linux 12, Linux 6.1"},
                                 {evidence::kInfimum, "0.1.0"}};
  report.graph.passes = {{"fold-channel-constants",
                          "scale and shift move into the weights of the convolution before",
                          {"/layer1/layer1.0/conv1/Conv/bn into /layer1/layer1.0/conv1/Conv", "and the others"}}};
  report.arithmetic_roofs = {{"f32 arithmetic", kPeak}, {"bf16 arithmetic", 390e9}};
  report.bandwidth_roofs = {{"memory", kBandwidth}, {"L2", 95e9}};
}

}  // namespace

Candidate NamedCandidate(const std::string& name) {
  Candidate candidate;
  candidate.library = name.substr(0, name.find('/'));
  candidate.algorithm = name.substr(name.find('/') + 1);
  return candidate;
}

SampleLayer MakeLayer(const std::string& name, const std::string& op, const std::string& config, Flops flops,
                      Bytes bytes) {
  SampleLayer made;
  made.layer.name = name;
  made.layer.op = op;
  if (!config.empty()) {
    made.layer.workload = ParseWorkload(config).value();
    made.layer.status = LayerStatus::kMeasurable;
  }
  made.layer.work.direct = made.layer.work.conventional = flops;
  made.layer.work.written = bytes;
  return made;
}

LayerId AddLayer(SampleLayer layer, ReportModel& report) {
  const LayerId added(report.graph.layers.size());
  layer.latency.layer = added;
  report.graph.layers.push_back(std::move(layer.layer));
  report.bracket.layers.push_back(std::move(layer.latency));
  report.layer_workloads.emplace_back();
  return added;
}

void AddEngineRow(std::vector<LayerId> layers, std::vector<std::string> engine_layers, Latency took, ReportRun& run) {
  AlignedRow row;
  row.layers = std::move(layers);
  row.measured = took;
  for (std::string& name : engine_layers) {
    row.engine_layers.push_back(run.profile.layers.size());
    run.profile.layers.emplace_back().name = std::move(name);
  }
  run.rows.push_back(std::move(row));
}

void MarkLongestPath(ReportModel& report) {
  const std::size_t layers = report.bracket.layers.size();
  std::vector<Latency> until(layers, Latency(0));
  std::vector<std::size_t> before(layers, layers);
  std::size_t last = 0, next = 0;
  for (LayerLatency& layer : report.bracket.layers) layer.on_critical_path = false;
  std::sort(report.edges.begin(), report.edges.end(),
            [](const ReportEdge& a, const ReportEdge& b) { return std::tie(a.to, a.from) < std::tie(b.to, b.from); });
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (; next < report.edges.size() && report.edges[next].to == layer; ++next) {
      const std::size_t from = report.edges[next].from;
      if (before[layer] != layers && until[from] <= until[layer]) continue;
      until[layer] = until[from];
      before[layer] = from;
    }
    until[layer] += report.bracket.layers[layer].latency.value_or(Latency(0));
    if (until[layer] >= until[last]) last = layer;
  }
  for (std::size_t layer = last; layer < layers; layer = before[layer])
    report.bracket.layers[layer].on_critical_path = true;
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

  Bracket& bracket = report.bracket;
  Latency sum{0};
  Latency measured{0};
  Latency estimated{0};
  Latency missing{0};
  for (const LayerLatency& layer : bracket.layers) {
    if (layer.latency) sum += *layer.latency;
    if (layer.status == LatencyStatus::kMeasured) measured += *layer.latency;
    if (layer.status == LatencyStatus::kEstimated) estimated += *layer.latency;
    if (!layer.latency) missing += layer.floor;
  }
  Latency all = measured + estimated + missing;
  bracket.coverage = {measured / all, estimated / all, 0, missing / all};
  bracket.floors = {{ProgramClass::kAny, Latency(0), "", {}},
                    {ProgramClass::kDenseRead, sum * 0.21, "bandwidth memory", {"estimated"}},
                    {ProgramClass::kWinograd, sum * 0.42, "arithmetic f32", {"estimated"}},
                    {ProgramClass::kTextbook, sum * 0.78, "arithmetic f32", {"estimated"}}};
  std::vector<std::string> tags = {"free-layouts", "warm-caches", "estimated-layers"};
  if (missing > Latency(0)) tags.push_back("missing-layers");
  bracket.bounds = {{BoundVariant::kSequential, sum, {sum * 0.993, sum * 1.012}, tags},
                    {BoundVariant::kParallel, sum * 0.991, {sum * 0.985, sum * 1.004}, tags}};
  const Latency fused = sum - AddRegions(report);
  bracket.bounds.push_back({BoundVariant::kFusedSequential, fused, {fused * 1.004, fused * 1.021}, tags});
  bracket.bounds.push_back({BoundVariant::kHeuristic, sum * 1.07, {sum * 1.072, sum * 1.094}, tags});
  bracket.regret = AlgorithmRegret{sum * 0.05, bracket.layers.size() / 2, true};
  bracket.what_ifs = {
      {"free:op=<script>", 3, {{BoundVariant::kFusedSequential, fused * 0.8, fused * 0.2}}},
      {"contract:bf16",
       bracket.layers.size(),
       {{BoundVariant::kFusedSequential, fused * 0.3, fused * 0.7, Interval{fused * 0.29, fused * 0.31}}},
       Coverage{0.97, 0, 0, 0.03}},
      {"cache:cold-weights",
       bracket.layers.size(),
       {{BoundVariant::kFusedSequential, fused * 1.1, fused * -0.1, Interval{fused * 1.08, fused * 1.2}}},
       Coverage{1, 0, 0, 0}}};
  ReportRun run_rows = builder.TakeRun();
  AddEngineRow({}, {"ReorderInput", "ReorderOutput"}, Latency(131.5), run_rows);
  if (options.with_run) {
    Latency run{0};
    for (const AlignedRow& row : run_rows.rows) run += *row.measured;
    run += Latency(212);  // what no layer accounts for
    bracket.demonstrated = sum * 1.018;
    bracket.upper.push_back({std::string(kDemonstratedName), sum * 1.018, {sum * 1.01, sum * 1.03}});
    bracket.composition = CompositionError{1.17, 1.04, 0};
    ReportRun& shown = report.run.emplace(std::move(run_rows));
    shown.profile.framework = "onnxruntime";
    shown.profile.framework_version = "1.31.1";
    shown.profile.settings = {{"graph_optimization_level", "all"}, {"intra_op_threads", "1"}};
    shown.latency = run;
    shown.minimum = run * 0.991;
    shown.median = run * 1.004;
    shown.p95 = run * 1.037;
    shown.interval = Interval{run * 0.999, run * 1.009};
    shown.repetitions = 5;
    shown.samples = 640;
    Waterfall& waterfall = report.waterfall.emplace();
    waterfall.measured = run;
    waterfall.bound = fused;
    waterfall.variant = BoundVariant::kFusedParallel;
    waterfall.demonstrated = bracket.demonstrated;
    waterfall.floor = bracket.dense_read().latency;
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
         fused - bracket.dense_read().latency,
         {{"the bound against the floor", fused - bracket.dense_read().latency, {}}}}};
    report.findings = {
        {"slower-algorithm",
         slower,
         {"<script>alert('layer')</script>", "Conv_7"},
         "convolution: 51 of 53 rows take longer than the best candidates known",
         "set `cudnn_conv_algo_search` & <look> again",
         {{"<script>alert('layer')</script>", "sgemm_128x64", Latency(900), Latency(500), "onednn/brgconv:avx512_core",
           ConfigOf(report.graph.layers.front())}}},
        {"layout-changes",
         Latency(131.5),
         {"ReorderInput"},
         "2 layers of the engine's own change the layout",
         "keep one layout",
         {}},
        {"under-bound", Latency(0), {"Conv_9"}, "1 row is faster than its best candidate", "nothing to change", {}}};
    report.findings[0].known = Known::kObserved;
    report.findings[0].gain_interval = Interval{slower * 0.95, slower * 1.05};
    report.findings[1].known = Known::kBounded;
    report.advice = {{"The repetitions of the run differ by 3.7 %: another process may use this processor.", ""}};
  }
  AddCandidates(report);
  double flops = 1;
  for (const Layer& layer : report.graph.layers) flops += static_cast<double>(layer.work.conventional.value);
  for (const LayerLatency& latency : bracket.layers) {
    if (latency.latency) continue;
    const Layer& layer = report.graph.layer(latency.layer);
    const std::string config = ConfigOf(layer);
    report.missing.push_back({config.empty() ? layer.name : config, ShownReasonOf(layer, latency), latency.floor / all,
                              static_cast<double>(layer.work.conventional.value) / flops,
                              config.empty() ? "" : ReproductionCommand(config)});
  }
  return report;
}

ReportModel SampleFloors() {
  ReportModel report = SampleReport({1, false, true});
  report.device_key = "gpu/NVIDIA/compute_capability=9.0";
  report.bench_options.reset();
  report.workloads.clear();
  report.layer_workloads.clear();
  report.region_workloads.clear();
  Bracket& bracket = report.bracket;
  bracket.bounds.clear();
  bracket.regions.clear();
  bracket.upper.clear();
  bracket.what_ifs.clear();
  bracket.regret.reset();
  bracket.demonstrated.reset();
  bracket.roofline = Latency(0);
  for (LayerLatency& layer : bracket.layers) {
    if (layer.status != LatencyStatus::kFree) {
      LayerLatency least;
      least.layer = layer.layer;
      least.floor = layer.floor;
      layer = least;
    }
    if (layer.floor > Latency(0)) layer.floor_by = "bandwidth memory";
    bracket.roofline += layer.floor;
  }
  report.advice = {{"To be measured: 37 workloads", "infimum plan " + std::string(100, 'm') + ".onnx"}};
  return report;
}

}  // namespace infimum
