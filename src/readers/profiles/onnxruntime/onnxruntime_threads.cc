#include "src/readers/profiles/onnxruntime/onnxruntime_threads.h"

#include "src/readers/profiles/events/event_field.h"

namespace infimum::ingest {

simdjson::error_code OnnxRuntimeThreads(simdjson::ondemand::value& statistics, std::optional<std::int64_t>& threads) {
  threads.reset();
  std::string_view text;
  if (statistics.get_string().get(text) == simdjson::SUCCESS) {
    if (text.empty()) threads = 1;
    return simdjson::SUCCESS;
  }
  constexpr std::int64_t kMost = 1 << 20;
  bool has_main = false;
  std::optional<std::int64_t> others;
  const auto code = ReadFields(statistics, {}, [&](std::string_view key, simdjson::ondemand::value& value) {
    has_main = has_main || key == "main_thread";
    simdjson::ondemand::object list;
    if (key != "sub_threads" || value.get_object().get(list) != simdjson::SUCCESS) return simdjson::SUCCESS;
    others = 0;
    return ReadFields(list, {}, [&](std::string_view, simdjson::ondemand::value&) {
      others = *others + 1;
      return simdjson::SUCCESS;
    });
  });
  if (has_main && others && *others < kMost) threads = *others + 1;
  return code;
}

}  // namespace infimum::ingest
