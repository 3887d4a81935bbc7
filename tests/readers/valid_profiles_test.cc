// No valid profile is refused, whatever its form and length, and whatever stands in the memory behind the text. The
// ordinary run reads some; with INFIMUM_LONG (scripts/test long) it is 2,000.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "src/readers/profiles/kineto/kineto_trace.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_events.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"
#include "tests/readers/generated_profiles.h"

namespace infimum {
namespace {

using testing::GeneratedProfile;
using testing::GenerateProfile;
using testing::LitteringStream;

// What is wrong with what was read of it; empty where it is what was generated.
std::string Difference(const GeneratedProfile& profile, std::istream& input) {
  if (profile.is_onnxruntime) {
    const Result<ingest::OnnxRuntimeEvents> events = ingest::ReadOnnxRuntimeEvents(input, "profile.json");
    if (!events.ok()) return events.error().message;
    if (std::ssize(events->executions) != profile.calls) return "executions are missing";
    return events->remarks.empty() ? "" : events->remarks.front();
  }
  const Result<Timeline> timeline = ReadKinetoTrace(input, "trace.json");
  if (!timeline.ok()) return timeline.error().message;
  if (std::ssize(timeline->host_calls) != profile.calls) return "calls are missing";
  if (std::ssize(timeline->device_work) != profile.kernels) return "kernels are missing";
  for (const std::string& remark : timeline->remarks)
    if (!remark.starts_with("instants ignored")) return remark;
  return "";
}

std::uint64_t Profiles() { return std::getenv("INFIMUM_LONG") == nullptr ? 18 : 2000; }

// Spare bytes are what a window before left there, brackets that would close the text or an event that a window cuts,
// what opens others, the end of a text.
TEST(ValidProfiles, NoneIsRefusedWhateverFollowsItsText) {
  // Nine, each met once by both kinds in the first eighteen, and in the end by every form.
  const std::string_view spare_bytes = "}[{,:\"\\0 ";
  for (std::uint64_t seed = 0; seed < Profiles(); ++seed) {
    const GeneratedProfile profile = GenerateProfile(seed);
    std::istringstream input(profile.text);
    EXPECT_EQ(Difference(profile, input), "") << "seed " << seed;
    for (const char spare : {']', spare_bytes[(seed / 2 + seed / 18) % spare_bytes.size()]}) {
      LitteringStream littering(profile.text, spare);
      EXPECT_EQ(Difference(profile, littering), "") << "seed " << seed << ", spare bytes " << spare;
    }
  }
}

}  // namespace
}  // namespace infimum
