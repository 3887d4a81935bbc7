// How fast a trace of PyTorch's profiler becomes a timeline, and in how much memory.
//
//   benchmarks kineto trace.json          the time of an existing trace, three times
//   benchmarks kineto --generate 5000     a trace of 5,000 MB made in the temporary folder
//   benchmarks kineto --write t.json 200  a trace of 200 MB and nothing else, for hta_benchmark.py
//
// Fails where the memory at its highest is more than twice the timeline's and 16 MB; of a trace of 1,000 MB or more
// also below 500 MB/s on one core (of processor time; reading from the page cache is in it). Short traces are not
// judged by speed, so that no test depends on the machine's.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "src/readers/profiles/kineto/kineto_trace.h"
#include "tests/readers/reading_cost.h"
#include "tests/support/benchmark.h"
#include "tests/support/temporary_folder.h"

namespace {

double MegabytesOf(const infimum::Timeline& timeline) {
  double bytes = static_cast<double>(timeline.host_calls.size()) * sizeof(infimum::HostCall) +
                 static_cast<double>(timeline.device_work.size()) * sizeof(infimum::DeviceWork);
  for (std::size_t i = 0; i < timeline.names.size(); ++i)
    bytes += static_cast<double>(timeline.names.text(static_cast<infimum::NameId>(i)).size());
  return bytes / 1e6;
}

// Steps of a training as Kineto writes them: an operator in two others, the call that launches, the kernel, the arrows.
void Generate(const std::string& path, double megabytes) {
  std::ofstream file(path);
  file << "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\", \"numSms\": "
          "132}],\n"
          "  \"traceEvents\": [\n";
  const char* const operators[] = {"aten::linear", "aten::addmm", "aten::convolution", "aten::batch_norm",
                                   "aten::relu_"};
  std::string text;
  double written = 0;
  char line[4096];
  for (long i = 1; written < megabytes * 1e6; ++i) {
    const double start = 1419247333291.708 + static_cast<double>(i) * 23.5;
    const auto add = [&](int size) { text.append(line, static_cast<std::size_t>(size)); };
    for (int depth = 0; depth < 2; ++depth)
      add(std::snprintf(
          line, sizeof line,
          "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 19392, \"tid\": 19392,\n"
          "    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      \"External id\": %ld,\"Record function id\": 0, "
          "\"Concrete Inputs\": [\"\", \"\", \"\", \"1\", \"1\"], \"Input type\": [\"c10::BFloat16\", "
          "\"c10::BFloat16\", \"c10::BFloat16\", \"Scalar\", \"Scalar\"], \"Input Strides\": [[1], [%ld, 1], [1, "
          "512], [], []], \"Input Dims\": [[512], [%ld, 512], [512, 512], [], []], \"Ev Idx\": %ld\n    }\n  },\n",
          operators[(i + depth) % 5], start + depth, 20.5 - depth * 2, 2 * i + depth, 512L, 8 + i % 32, i));
    add(std::snprintf(
        line, sizeof line,
        "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 19392, "
        "\"tid\": 19392,\n    \"ts\": %.3f, \"dur\": 4.25,\n    \"args\": {\n      \"External id\": %ld, \"cbid\": "
        "211, \"correlation\": %ld\n    }\n  },\n",
        start + 3, 2 * i + 1, i));
    add(std::snprintf(
        line, sizeof line,
        "  {\n    \"ph\": \"s\", \"id\": %ld, \"pid\": 19392, \"tid\": 19392, \"ts\": %.3f,\n    \"cat\": "
        "\"ac2g\", \"name\": \"ac2g\"\n  },\n",
        i, start + 3));
    add(std::snprintf(
        line, sizeof line,
        "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void cutlass::Kernel2<cutlass_80_wmma_tensorop_"
        "bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(cutlass_80_wmma_tensorop_bf16_%ld::Params)\", \"pid\": 0, "
        "\"tid\": 7,\n    \"ts\": %.3f, \"dur\": 11.104,\n    \"args\": {\n      \"External id\": %ld, \"queued\": "
        "0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %ld, \"registers per thread\": 128, "
        "\"shared memory\": 49152, \"blocks per SM\": 1.939394, \"warps per SM\": 7.757576, \"grid\": [16, 16, "
        "1], \"block\": [128, 1, 1], \"est. achieved occupancy %%\": 12\n    }\n  },\n",
        i % 200, start + 9, 2 * i + 1, i));
    add(std::snprintf(
        line, sizeof line,
        "  {\n    \"ph\": \"f\", \"id\": %ld, \"pid\": 0, \"tid\": 7, \"ts\": %.3f,\n    \"cat\": \"ac2g\", "
        "\"name\": \"ac2g\", \"bp\": \"e\"\n  },\n",
        i, start + 9));
    if (text.size() > (1u << 20)) {
      file << text;
      written += static_cast<double>(text.size());
      text.clear();
    }
  }
  file << text
       << "  {\n    \"ph\": \"i\", \"name\": \"Record Window End\", \"pid\": \"\", \"tid\": \"\", \"ts\": 1, \"s\": "
          "\"g\"\n  }\n"
       << "  ],\n  \"traceName\": \"generated.json\"\n}\n";
}

}  // namespace

INFIMUM_BENCHMARK(kineto, "TRACE | --generate MEGABYTES | --write TRACE MEGABYTES") {
  if (argc == 4 && std::strcmp(argv[1], "--write") == 0) {
    Generate(argv[2], std::atof(argv[3]));
    return 0;
  }
  if (argc != 2 && !(argc == 3 && std::strcmp(argv[1], "--generate") == 0)) {
    return 2;
  }
  const infimum::testing::TemporaryFolder folder;
  std::string path = argv[1];
  if (argc == 3) {
    path = folder.File("trace.json");
    Generate(path, std::atof(argv[2]));
  }
  const double size = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  double least = 1e30, kept = 0, peak = 0;
  long entries = 0;
  for (int i = 0; i < (size > 1000 ? 1 : 3); ++i) {
    std::ifstream file(path, std::ios::binary);
    const double begin = infimum::ProcessorSeconds();
    const infimum::Result<infimum::Timeline> timeline = infimum::ReadKinetoTrace(file, path);
    least = std::min(least, infimum::ProcessorSeconds() - begin);
    if (!timeline.ok()) {
      std::fprintf(stderr, "%s\n", timeline.error().message.c_str());
      return 1;
    }
    if (i > 0) continue;
    peak = infimum::PeakMegabytes();
    kept = MegabytesOf(*timeline);
    entries = static_cast<long>(timeline->host_calls.size() + timeline->device_work.size());
  }
  std::printf(
      "%.1f MB in %.3f s: %.0f MB/s; %ld calls and pieces of work, %.1f MB of timeline, %.1f MB at the highest\n", size,
      least, size / least, entries, kept, peak);
  return (size < 1000 || size / least >= 500) && peak <= 2 * kept + 16 ? 0 : 1;
}
