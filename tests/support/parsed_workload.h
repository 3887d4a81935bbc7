// A workload from its text, for tests that are about something else: a text that is wrong fails the test.
//
//   const Workload relu = testing::ParsedWorkload("pointwise kind=relu dtype=f32:-:f32 in=64");
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "infimum/layer/workload.h"

namespace infimum::testing {

inline Workload ParsedWorkload(const std::string& text) {
  Result<Workload> workload = ParseWorkload(text);
  if (!workload.ok()) ADD_FAILURE() << text << ": " << workload.error().message;
  return workload.ok() ? *std::move(workload) : Workload{};
}

}  // namespace infimum::testing
