// What a worker must know before its first request; travels as one argument of its command line.
//
//   infimum-microbench-onednn --worker '{"cores":[7],"threads":1,...}'
#pragma once

#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/microbench/runner_main.h"

namespace infimum {

inline constexpr std::string_view kWorkerFlag = "--worker";

// File descriptors of a worker: requests come in on the one, answers leave on the other. Its standard
// output goes where its standard error goes, so that a library which prints disturbs nothing.
inline constexpr int kRequestDescriptor = 3;
inline constexpr int kAnswerDescriptor = 4;

struct WorkerSetup {
  BackendOptions backend;
  Bytes most_memory;  // 0: no limit
  // By the kernel too, whose limit counts what was asked for; else by what is resident alone.
  bool limits_address_space = true;

  friend bool operator==(const WorkerSetup& a, const WorkerSetup& b) {
    return a.backend.threads == b.backend.threads && a.backend.cores == b.backend.cores &&
           a.backend.seed == b.backend.seed && a.backend.process == b.backend.process &&
           a.backend.settings == b.backend.settings && a.backend.most_device_memory == b.backend.most_device_memory &&
           a.most_memory == b.most_memory && a.limits_address_space == b.limits_address_space;
  }
};

std::string FormatSetup(const WorkerSetup& setup);
Result<WorkerSetup> ParseSetup(std::string_view text);

}  // namespace infimum
