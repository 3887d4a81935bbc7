#include "src/ingest/onnxruntime_threads.h"

namespace infimum::ingest {

std::optional<std::int64_t> OnnxRuntimeThreads(const Json& statistics) {
  constexpr std::size_t kMost = 1 << 20;
  if (statistics.is_string() && statistics.get_ref<const std::string&>().empty()) return 1;
  if (!statistics.is_object() || !statistics.contains("main_thread")) return std::nullopt;
  const auto others = statistics.find("sub_threads");
  if (others == statistics.end() || !others->is_object() || others->size() >= kMost) return std::nullopt;
  return static_cast<std::int64_t>(others->size()) + 1;
}

}  // namespace infimum::ingest
