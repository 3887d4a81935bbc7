// A small network to replay, with its tensors in a folder: a value that two steps read, a residual, a concatenation, a
// slice and a normalisation with an epsilon of its own.
//
//   a = relu(conv 3x3(x));  b = conv 1x1(a) + a;  c = concat(b, x);  d = c[:, 8:24];  y = layer_norm(d)
//
//   ReplayNetwork network;
//   const TensorFolder folder = *TensorFolder::Open(network.folder());
//   backend.PrepareReplay(ReplayNetwork::Schedule(), &folder);
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "tests/support/temporary_folder.h"

namespace infimum::testing {

class ReplayNetwork {
 public:
  using Numbers = std::vector<float>;

  // Its two convolutions.
  static constexpr char kFirst[] =
      "convolution dtype=f32:f32:f32 in=1x16x6x6 out_channels=16 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=1 bias=yes weights=const";
  static constexpr char kSecond[] =
      "convolution dtype=f32:f32:f32 in=1x16x6x6 out_channels=16 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
      "groups=1 bias=no weights=const";

  // Tensors in a folder of their own, which is removed with it: y computed by plain loops.
  ReplayNetwork();

  const std::filesystem::path& folder() const { return folder_; }
  std::map<std::string, Numbers>& given() { return given_; }
  void WriteTensors() const;

  // Steps conv1, relu, conv2, residual, concat, cut, norm; `first` and `second` run the convolutions.
  static ReplaySchedule Schedule(const ReplayCandidate& first = {}, const ReplayCandidate& second = {});
  static ReplayStep Step(const std::string& name, const std::string& workload, const ReplayCandidate& candidate,
                         std::vector<std::size_t> operands, std::vector<std::size_t> outputs, ReplayValues values = {});

 private:
  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
  std::map<std::string, Numbers> given_;
};

}  // namespace infimum::testing
