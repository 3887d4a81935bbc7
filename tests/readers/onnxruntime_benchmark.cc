// How fast a profile of ONNX Runtime becomes a run, and in how much memory.
//
//   benchmarks onnxruntime profile.json        the time of an existing profile, three times
//   benchmarks onnxruntime --generate 500      a profile of 500 MB made in the temporary folder
//   benchmarks onnxruntime --generate 500 gpu  of a GPU: two kernels behind each node
//
// Fails where the memory at its highest is more than twice what is kept and 16 MB; of a profile of 100 MB or more also
// where reading takes over three times as long as a plain pass of simdjson over the same bytes in the same process.
// Short profiles are not judged by that, nor are those over simdjson's 4 GiB (shown as 0).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "src/readers/profiles/onnxruntime/onnxruntime_events.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"
#include "tests/readers/reading_cost.h"
#include "tests/support/benchmark.h"
#include "tests/support/temporary_folder.h"

namespace {

constexpr double kMostPlainPasses = 3;

// Inferences of a model of 200 nodes, as ONNX Runtime 1.31 writes them: an inference's event behind those of its nodes.
void Generate(const std::string& path, double megabytes, bool on_gpu) {
  std::ofstream file(path);
  file << "[\n"
          "{\"cat\" : \"Session\",\"pid\" :14762,\"tid\" :14762,\"dur\" :2943,\"ts\" :2,\"ph\" : \"X\",\"name\" "
          ":\"model_loading_uri\",\"args\" : {}},\n";
  std::string text;
  double written = 0;
  char line[4096];
  long clock = 500'000;
  const char* const provider = on_gpu ? "CUDAExecutionProvider" : "CPUExecutionProvider";
  const auto add = [&](int size) { text.append(line, static_cast<std::size_t>(size)); };
  for (long inference = 0; written < megabytes * 1e6; ++inference) {
    const long begin = clock;
    for (int node = 0; node < 200; ++node) {
      const long duration = 20 + node % 7 + inference % 5;
      add(std::snprintf(
          line, sizeof line,
          "{\"cat\" : \"Node\",\"pid\" :14762,\"tid\" :14762,\"dur\" :%ld,\"ts\" :%ld,\"ph\" : \"X\",\"name\" "
          ":\"/encoder/layer.%d/attention/MatMul_kernel_time\",\"args\" : {\"op_name\" : \"MatMul\",\"provider\" : "
          "\"%s\",\"mem_in_use_delta\" : \"4194304\",\"parameter_size\" : \"37888\",\"mem_arena_held\" : "
          "\"12451856\",\"node_index\" : \"%d\",\"output_type_shape\" : [{\"float\":[1,128,768]}],\"output_size\" : "
          "\"3211264\",\"input_type_shape\" : "
          "[{\"float\":[1,128,768]},{\"float\":[768,768]}],\"activation_size\" : \"602112\"}},\n",
          duration, clock, node, provider, 400 + node));
      for (int kernel = 0; on_gpu && kernel < 2; ++kernel) {
        add(std::snprintf(
            line, sizeof line,
            "{\"cat\" : \"Kernel\",\"pid\" :-1,\"tid\" :-1,\"dur\" :%ld,\"ts\" :-1724500000000000,\"ph\" : "
            "\"X\",\"name\" :\"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_%d>\",\"args\" : {\"stream\" "
            ": \"13\",\"grid_x\" : \"16\",\"block_x\" : \"256\",\"op_name\" : \"MatMul\",\"parent_name\" : "
            "\"/encoder/layer.%d/attention/MatMul_kernel_time\"}},\n",
            10 + inference % 3, kernel, node));
      }
      clock += duration + 1;
    }
    add(std::snprintf(line, sizeof line,
                      "{\"cat\" : \"Session\",\"pid\" :14762,\"tid\" :14762,\"dur\" :%ld,\"ts\" :%ld,\"ph\" : "
                      "\"X\",\"name\" :\"model_run\",\"args\" : {}},\n",
                      clock - begin + 4, begin - 2));
    clock += 50;
    if (text.size() > (1u << 20)) {
      file << text;
      written += static_cast<double>(text.size());
      text.clear();
    }
  }
  file << text << "{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :1,\"dur\" :1,\"ts\" :1,\"name\" :\"end\"}\n]\n";
}

double SecondsToRead(const std::string& path, infimum::Result<infimum::RunProfile>& run) {
  std::ifstream file(path, std::ios::binary);
  const double begin = infimum::ProcessorSeconds();
  run = infimum::ReadOnnxRuntimeProfile(file, path);
  return infimum::ProcessorSeconds() - begin;
}

// What has to be kept to know which inference an execution or kernel belongs to, and the samples.
double MegabytesKept(const std::string& path, const infimum::RunProfile& run) {
  std::ifstream file(path, std::ios::binary);
  const auto events = infimum::ingest::ReadOnnxRuntimeEvents(file, path);
  if (!events.ok()) return 0;
  std::size_t bytes = events->executions.size() * sizeof(infimum::ingest::OnnxRuntimeExecution) +
                      events->kernels.size() * sizeof(infimum::ingest::OnnxRuntimeKernel) +
                      events->inferences.size() * sizeof(infimum::ingest::OnnxRuntimeInference);
  for (const infimum::ProfiledLayer& layer : run.layers)
    bytes += sizeof layer + layer.samples.size() * sizeof(infimum::Latency);
  return static_cast<double>(bytes) / 1e6;
}

}  // namespace

INFIMUM_BENCHMARK(onnxruntime, "PROFILE | --generate MEGABYTES [gpu]") {
  const bool generates = argc >= 3 && std::strcmp(argv[1], "--generate") == 0;
  const bool on_gpu = generates && argc == 4 && std::strcmp(argv[3], "gpu") == 0;
  if (argc != (generates ? (on_gpu ? 4 : 3) : 2)) {
    return 2;
  }
  const infimum::testing::TemporaryFolder folder;
  std::string path = argv[1];
  if (generates) {
    path = folder.File("profile.json");
    Generate(path, std::atof(argv[2]), on_gpu);
  }
  const double size = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  double plain = 1e30, reading = 1e30, kept = 0, peak = 0;
  std::size_t samples = 0;
  for (int i = 0; i < 3; ++i) {
    infimum::Result<infimum::RunProfile> run = infimum::Error{"not read"};
    reading = std::min(reading, SecondsToRead(path, run));
    if (!run.ok()) {
      std::fprintf(stderr, "%s\n", run.error().message.c_str());
      return 1;
    }
    if (i == 0) {
      peak = infimum::PeakMegabytes();
      kept = MegabytesKept(path, *run);
      for (const infimum::ProfiledLayer& layer : run->layers) samples += layer.samples.size();
    }
    plain = std::min(plain, infimum::SecondsOfPlainPass(path));
  }
  std::printf(
      "%.1f MB in %.3f s: %.0f MB/s, %.2f times as long as a plain pass; %zu samples of layers, %.1f MB kept, %.1f MB "
      "at the highest\n",
      size, reading, size / reading, plain == 0 ? 0.0 : reading / plain, samples, kept, peak);
  return (size < 100 || plain == 0 || reading <= kMostPlainPasses * plain) && peak <= 2 * kept + 16 ? 0 : 1;
}
