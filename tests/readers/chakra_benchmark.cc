// How fast a trace of Chakra becomes a timeline or layers, and in how much memory.
//
//   benchmarks chakra trace.json                   the time of an existing trace, three times
//   benchmarks chakra --generate 500 execution     500 MB of operators and kernels with times, made in the temporary
//   folder benchmarks chakra --generate 500 untimed       the same operators as they were observed, without times
//   benchmarks chakra --generate 500 workload      of a graph for simulators: each operator in two pieces, a kernel
//   each
//
// Fails where the memory at its highest is more than twice what is kept and 16 MB; of a trace of 100 MB or more also
// where reading takes over three times as long as a plain pass of simdjson over the same bytes in the same process.
// Short traces are not judged by that, nor are those over simdjson's 4 GiB (shown as 0).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "src/readers/profiles/chakra/chakra_trace.h"
#include "tests/readers/reading_cost.h"
#include "tests/support/benchmark.h"
#include "tests/support/temporary_folder.h"

namespace {

constexpr double kMostPlainPasses = 3;

using Trace = std::variant<infimum::RunProfile, infimum::Timeline>;

std::string ExecutionOf(long i, bool is_timed) {
  char line[4096];
  const long start = 1000 + 30 * i;
  const auto of_node = [&](long id, const char* name, long caller, const char* times) {
    const int size = std::snprintf(
        line, sizeof line,
        "    {\n      \"id\": %ld, \"name\": \"%s\", \"ctrl_deps\": %ld,\n      \"inputs\": {\"values\": "
        "[[52,53,0,4194304,4,\"cuda:0\"],[54,55,0,262144,4,\"cuda:0\"],1],\"shapes\": [[%ld,64],[64,64],[]],\"types\": "
        "[\"Tensor(float)\",\"Tensor(float)\",\"Int\"]},\n      \"outputs\": {\"values\": "
        "[[56,57,0,4194304,4,\"cuda:0\"]],\"shapes\": [[512,64]],\"types\": [\"Tensor(float)\"]},\n      \"attrs\": "
        "[{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": %ld},{\"name\": \"tid\", \"type\": \"uint64\", "
        "\"value\": 1},{\"name\": \"op_schema\", \"type\": \"string\", \"value\": \"aten::mm(Tensor self, Tensor mat2) "
        "-> Tensor\"}]%s\n    }",
        id, name, caller, 8 + id % 32, id, times);
    return std::string(line, static_cast<std::size_t>(size));
  };
  if (!is_timed) return of_node(i + 1, "aten::mm", 1, "");
  char times[200];
  std::snprintf(times, sizeof times, ", \"ts\": %ld.25, \"inclusive_dur\": 20", start);
  std::string text = of_node(2 * i, "aten::mm", 1, times);
  std::snprintf(times, sizeof times, ", \"cat\": \"kernel\", \"stream\": 7, \"ts\": %ld.125, \"inclusive_dur\": 11.104",
                start + 9);
  return text + ",\n" + of_node(2 * i + 1, "ampere_sgemm_32x128_tn", 2 * i, times);
}

std::string WorkloadOf(long i) {
  char line[4096];
  std::string text;
  for (int piece = 0; piece < 2; ++piece) {
    const long id = 4 * i + 2 * piece;
    const int size = std::snprintf(
        line, sizeof line,
        "%s        {\n            \"Id\": %ld,\n            \"Name\": \"aten::mm(%d)\",\n            \"NodeType\": 4,\n"
        "            \"runtime\": 30,\n            \"data_deps\": [\n                %ld\n            ],\n"
        "            \"is_cpu_op\": true\n        },\n        {\n            \"Id\": %ld,\n            \"Name\": "
        "\"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_f16_%ld>\",\n            \"NodeType\": 4,\n"
        "            \"runtime\": %ld,\n            \"data_deps\": [\n                %ld,\n                1\n"
        "            ],\n            \"is_cpu_op\": false\n        }",
        piece == 0 ? "" : ",\n", id, piece, id - 2, id + 1, i % 200, 5 + i % 50, id);
    text.append(line, static_cast<std::size_t>(size));
  }
  return text;
}

void Generate(const std::string& path, double megabytes, const std::string& kind) {
  const bool is_workload = kind == "workload";
  std::ofstream file(path);
  file << (is_workload ? "{\n    \"workload_graph\": [\n" : "{\"schema\": \"1.1.1-chakra.0.0.4\", \"nodes\": [\n");
  std::size_t written = 0;
  for (long i = 1; static_cast<double>(written) < megabytes * 1e6; ++i) {
    std::string text = i > 1 ? ",\n" : "";
    text += is_workload ? WorkloadOf(i) : ExecutionOf(i, kind == "execution");
    file << text;
    written += text.size();
  }
  file << "\n]}\n";
}

double MegabytesOf(const Trace& trace) {
  std::size_t bytes = 0;
  if (const auto* timeline = std::get_if<infimum::Timeline>(&trace)) {
    bytes = timeline->host_calls.size() * sizeof(infimum::HostCall) +
            timeline->device_work.size() * sizeof(infimum::DeviceWork);
    for (std::size_t i = 0; i < timeline->names.size(); ++i)
      bytes += timeline->names.text(static_cast<infimum::NameId>(i)).size();
  } else {
    for (const infimum::ProfiledLayer& layer : std::get<infimum::RunProfile>(trace).layers) {
      bytes += sizeof layer + layer.name.size() + layer.op.size() + layer.algorithm.size() +
               layer.samples.size() * sizeof(infimum::Latency);
      for (const auto* const tensors : {&layer.input_tensors, &layer.output_tensors})
        for (const infimum::ProfiledTensor& tensor : *tensors)
          bytes += sizeof tensor + tensor.dims.size() * sizeof(std::int64_t);
    }
  }
  return static_cast<double>(bytes) / 1e6;
}

}  // namespace

INFIMUM_BENCHMARK(chakra, "TRACE | --generate MEGABYTES execution|untimed|workload") {
  const bool generates = argc == 4 && std::strcmp(argv[1], "--generate") == 0;
  if (!generates && argc != 2) {
    return 2;
  }
  const infimum::testing::TemporaryFolder folder;
  std::string path = argv[1];
  if (generates) {
    path = folder.File("trace.json");
    Generate(path, std::atof(argv[2]), argv[3]);
  }
  const double size = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  double reading = 1e30, plain = 1e30, kept = 0, peak = 0;
  for (int i = 0; i < 3; ++i) {
    {
      std::ifstream file(path, std::ios::binary);
      const double begin = infimum::ProcessorSeconds();
      const infimum::Result<Trace> trace = infimum::ReadChakraTrace(file, path);
      reading = std::min(reading, infimum::ProcessorSeconds() - begin);
      if (!trace.ok()) {
        std::fprintf(stderr, "%s\n", trace.error().message.c_str());
        return 1;
      }
      if (i == 0) peak = infimum::PeakMegabytes();
      kept = MegabytesOf(*trace);
    }
    plain = std::min(plain, infimum::SecondsOfPlainPass(path));
  }
  std::printf(
      "%.1f MB in %.3f s: %.0f MB/s, %.2f times as long as a plain pass; %.1f MB kept, %.1f MB at the highest\n", size,
      reading, size / reading, plain == 0 ? 0.0 : reading / plain, kept, peak);
  return (size < 100 || plain == 0 || reading <= kMostPlainPasses * plain) && peak <= 2 * kept + 16 ? 0 : 1;
}
