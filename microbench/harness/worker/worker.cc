#include "microbench/harness/worker/worker.h"

#include <exception>
#include <nlohmann/json.hpp>

#include "infimum/base/text.h"

namespace infimum {

std::string FormatSetup(const WorkerSetup& setup) {
  const nlohmann::json object = {{"threads", setup.backend.threads},
                                 {"cores", setup.backend.cores},
                                 {"seed", setup.backend.seed},
                                 {"process", setup.backend.process},
                                 {"settings", setup.backend.settings},
                                 {"most_memory", setup.most_memory.value},
                                 {"most_device_memory", setup.backend.most_device_memory.value},
                                 {"limits_address_space", setup.limits_address_space}};
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<WorkerSetup> ParseSetup(std::string_view text) {
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    WorkerSetup setup;
    object.at("threads").get_to(setup.backend.threads);
    object.at("cores").get_to(setup.backend.cores);
    object.at("seed").get_to(setup.backend.seed);
    object.at("process").get_to(setup.backend.process);
    object.at("settings").get_to(setup.backend.settings);
    object.at("most_memory").get_to(setup.most_memory.value);
    object.at("most_device_memory").get_to(setup.backend.most_device_memory.value);
    object.at("limits_address_space").get_to(setup.limits_address_space);
    return setup;
  } catch (const std::exception& exception) {
    return Error{"--worker is for the runner's own use: " + Quoted(exception.what())};
  }
}

}  // namespace infimum
