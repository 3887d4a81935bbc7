// How long ReadModel takes against ONNX's own parse and strict shape inference of the same file, as a
// ratio in one process: the promise is at most 1.5.
//
//   benchmarks read_model [--limit RATIO] MODEL[:NAME=N,...]...
//
// Prints a table; exits with 1 where a model is over the limit. Both are warmed up, run in turns, and the
// smallest time of each counts.
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/onnx/read_model.h"
#include "tests/support/benchmark.h"

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;
constexpr int kLeastRounds = 15;
constexpr Milliseconds kLeastTime{300};

// What a user of ONNX's library does: read, parse, bind the symbols, drop stale shapes, infer.
bool ParseAndInfer(const std::string& path, const std::map<std::string, std::int64_t>& dims) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) return false;
  model.mutable_graph()->clear_value_info();
  for (onnx::ValueInfoProto& input : *model.mutable_graph()->mutable_input())
    for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (const auto found = dims.find(dim.dim_param()); dim.has_dim_param() && found != dims.end())
        dim.set_dim_value(found->second);
  for (onnx::ValueInfoProto& output : *model.mutable_graph()->mutable_output())
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                     onnx::ShapeInferenceOptions(true, 1, true));
  return true;
}

template <class Function>
Milliseconds Time(Function&& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::steady_clock::now() - start;
}

}  // namespace

INFIMUM_BENCHMARK(read_model, "[--limit RATIO] MODEL[:NAME=N,...]...") {
  double limit = 1.5;
  bool held = true;
  std::printf("%-28s %12s %12s %8s\n", "model", "onnx (ms)", "ours (ms)", "ratio");
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--limit" && i + 1 < argc) {
      limit = infimum::ParseNumber(argv[++i]).value_or(limit);
      continue;
    }
    const std::size_t colon = argument.find(':');
    const std::string path = argument.substr(0, colon);
    infimum::ReadOptions options;
    if (colon != std::string::npos) {
      for (const std::string_view binding : infimum::Split(std::string_view(argument).substr(colon + 1), ',')) {
        const std::size_t equals = binding.find('=');
        if (equals == std::string_view::npos) continue;
        options.dims[std::string(binding.substr(0, equals))] =
            infimum::ParseInteger(binding.substr(equals + 1)).value_or(1);
      }
    }
    // Once, with the result looked at: a failure is fast, too.
    if (const auto graph = infimum::ReadModel(path, options); !graph.ok()) {
      std::fprintf(stderr, "benchmarks read_model: %s\n", graph.error().message.c_str());
      return 2;
    }
    if (!ParseAndInfer(path, options.dims)) return 2;
    Milliseconds theirs = Milliseconds::max();
    Milliseconds ours = Milliseconds::max();
    Milliseconds spent{0};
    for (int round = 0; round < kLeastRounds || spent < kLeastTime; ++round) {
      const Milliseconds a = Time([&] { ParseAndInfer(path, options.dims); });
      const Milliseconds b = Time([&] { static_cast<void>(infimum::ReadModel(path, options).ok()); });
      theirs = std::min(theirs, a);
      ours = std::min(ours, b);
      spent += a + b;
    }
    const double ratio = ours / theirs;
    held = held && ratio <= limit;
    std::printf("%-28s %12.3f %12.3f %8.2f%s\n", path.substr(path.rfind('/') + 1).c_str(), theirs.count(), ours.count(),
                ratio, ratio > limit ? "  over the limit" : "");
  }
  return held ? 0 : 1;
}
