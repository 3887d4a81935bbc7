// Valid profiles of random layers and lengths, in the forms that writers give them: an event a line, all in one line,
// indented. What is in each is known, so that a test can say that all of it was read.
#pragma once

#include <cstdint>
#include <istream>
#include <streambuf>
#include <string>

namespace infimum::testing {

enum class ProfileForm { kLines, kCompact, kIndented };

struct GeneratedProfile {
  std::string text;
  bool is_onnxruntime = false;  // else a trace of PyTorch's profiler
  ProfileForm form = ProfileForm::kLines;
  std::int64_t kernels = 0, calls = 0;  // of a trace; of ONNX Runtime `calls` are executions of nodes
};

// 0.6 to 1.5 MB, so that a reader has several windows of it. The same seed gives the same profile.
GeneratedProfile GenerateProfile(std::uint64_t seed);

// A text as the stream of it that leaves `spare` in all of the buffer that a reader gives it and the text does not
// fill: std::istream::read() promises nothing about those bytes.
class LitteringStream : private std::streambuf, public std::istream {
 public:
  LitteringStream(const std::string& text, char spare) : std::istream(this), rest_(text), spare_(spare) {}

 private:
  std::streamsize xsgetn(char* into, std::streamsize count) override;

  std::string_view rest_;
  char spare_;
};

}  // namespace infimum::testing
