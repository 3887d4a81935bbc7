#include "tests/readers/generated_profiles.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>
#include <vector>

namespace infimum::testing {
namespace {

using Json = nlohmann::ordered_json;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::int64_t Pick(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }

  // Names with everything that could be taken for the end of something.
  std::string Name() {
    static const std::vector<std::string> kParts = {"conv",   "gemm<float, 4>", "layer[3]", "}",  "]",
                                                    "]}]",    "},{\"ph\"",      "\\",       "\"", "\n",
                                                    "\u00e9", "void k(Params)", "x",        "/",  "[[1,3,8]]"};
    std::string name;
    for (std::int64_t i = Pick(1, 5); i > 0; --i)
      name += kParts[static_cast<std::size_t>(Pick(0, std::ssize(kParts) - 1))];
    return name + std::to_string(Pick(0, 300));
  }

  Json Shape() {
    Json shape = Json::array();
    for (std::int64_t i = Pick(0, 4); i > 0; --i) shape.push_back(Pick(1, 512));
    return shape;
  }

  Json Shapes() {
    Json shapes = Json::array();
    for (std::int64_t i = Pick(0, 5); i > 0; --i) shapes.push_back(Shape());
    return shapes;
  }

  // A call that launches a kernel, and now and then something that no reader keeps.
  void AddStep(std::vector<Json>& events, GeneratedProfile& profile) {
    clock_ += static_cast<double>(Pick(1, 90'000)) / 1000;
    const std::int64_t id = ++profile.calls;
    events.push_back({{"ph", "X"},
                      {"cat", "cpu_op"},
                      {"name", Name()},
                      {"pid", 19},
                      {"tid", 20},
                      {"ts", clock_},
                      {"dur", 20.5},
                      {"args", {{"External id", id}, {"Input Dims", Shapes()}, {"Concrete Inputs", Shapes()}}}});
    if (Pick(0, 9) == 0)
      events.push_back({{"ph", "i"}, {"name", Name()}, {"pid", ""}, {"tid", ""}, {"ts", clock_}, {"s", "g"}});
    if (Pick(0, 2) == 0) return;
    ++profile.kernels;
    events.push_back({{"ph", "X"},
                      {"cat", "kernel"},
                      {"name", Name()},
                      {"pid", 0},
                      {"tid", 7},
                      {"ts", clock_ + 5},
                      {"dur", 6.25},
                      {"args",
                       {{"External id", id},
                        {"device", 0},
                        {"stream", 7},
                        {"correlation", id},
                        {"grid", {Pick(1, 900), 1, 1}},
                        {"block", {Pick(1, 1024), 1, 1}}}}});
  }

  void AddInference(std::vector<Json>& events, GeneratedProfile& profile) {
    const std::int64_t start = ++microseconds_;
    for (std::int64_t node = Pick(5, 40); node > 0; --node) {
      const std::int64_t duration = Pick(0, 400);
      Json inputs = Json::array();
      for (std::int64_t i = Pick(0, 3); i > 0; --i) inputs.push_back({{"float", Shape()}});
      events.push_back({{"cat", "Node"},
                        {"pid", 33},
                        {"tid", 33},
                        {"dur", duration},
                        {"ts", microseconds_},
                        {"ph", "X"},
                        {"name", Name() + "_kernel_time"},
                        {"args",
                         {{"op_name", "Conv"},
                          {"provider", "CPUExecutionProvider"},
                          {"node_index", std::to_string(node)},
                          {"thread_scheduling_stats", ""},
                          {"input_type_shape", inputs},
                          {"output_type_shape", inputs}}}});
      microseconds_ += duration;
      ++profile.calls;
    }
    events.push_back({{"cat", "Session"},
                      {"pid", 33},
                      {"tid", 33},
                      {"dur", microseconds_ - start},
                      {"ts", start},
                      {"ph", "X"},
                      {"name", "model_run"},
                      {"args", Json::object()}});
  }

 private:
  std::mt19937_64 random_;
  double clock_ = 1'419'247'333.25;
  std::int64_t microseconds_ = 100;
};

}  // namespace

GeneratedProfile GenerateProfile(std::uint64_t seed) {
  Generator generator(seed);
  GeneratedProfile profile;
  profile.is_onnxruntime = seed % 2 == 0;
  profile.form = static_cast<ProfileForm>(seed / 2 % 3);
  const bool is_compact = profile.form == ProfileForm::kCompact;
  const auto wanted = static_cast<std::size_t>(generator.Pick(600'000, 1'500'000));
  std::string& text = profile.text;
  text = profile.is_onnxruntime ? "["
                                : R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100"}],)"
                                  R"("traceEvents":[)";
  for (const char* separator = is_compact ? "" : "\n"; text.size() < wanted;) {
    std::vector<Json> events;
    profile.is_onnxruntime ? generator.AddInference(events, profile) : generator.AddStep(events, profile);
    for (const Json& event : events) {
      text += separator + event.dump(profile.form == ProfileForm::kIndented ? 2 : -1);
      separator = is_compact ? "," : ",\n";
    }
  }
  text += is_compact ? "]" : "\n]";
  if (!profile.is_onnxruntime) text += R"(,"traceName":"t"})";
  if (!is_compact) text += "\n";
  return profile;
}

std::streamsize LitteringStream::xsgetn(char* into, std::streamsize count) {
  const std::size_t size = std::min(rest_.size(), static_cast<std::size_t>(count));
  std::copy_n(rest_.begin(), size, into);
  std::fill(into + size, into + count, spare_);
  rest_.remove_prefix(size);
  return static_cast<std::streamsize>(size);
}

}  // namespace infimum::testing
