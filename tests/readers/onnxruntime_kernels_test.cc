// Profiles of ONNX Runtime on a GPU. No such file with a clear licence is public, so these are written after its
// sources: include/onnxruntime/core/common/gpu_profiler_common.h (GPUProfilerBase::MergeEvents puts a node's kernels
// behind its event and writes op_name and parent_name), core/providers/cuda/cupti_manager.cc (names, arguments, whole
// microseconds; kernels' starts are on no clock of the host's), core/providers/cuda/plugin/cuda_profiler_plugin.cc and
// core/session/plugin_ep (ort_correlation_id; those events stand at the end), and, for versions until 1.13,
// https://github.com/microsoft/onnxruntime/pull/8406.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"

namespace infimum::onnxruntime_kernels_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string Node(const std::string& event, int start, int microseconds, const std::string& op = "Conv",
                 const std::string& provider = "CUDAExecutionProvider") {
  return R"({"cat" : "Node","pid" :9,"tid" :9,"dur" :)" + std::to_string(microseconds) + R"(,"ts" :)" +
         std::to_string(start) + R"(,"ph" : "X","name" :")" + event + R"(","args" : {"op_name" : ")" + op +
         R"(","provider" : ")" + provider + R"(","node_index" : "3"}},)" + "\n";
}

// `links` are the arguments that say whose kernel it is.
std::string Kernel(const std::string& name, int microseconds, const std::string& links) {
  return R"({"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :)" + std::to_string(microseconds) +
         R"(,"ts" :-1724500000000000,"ph" : "X","name" :")" + name +
         R"(","args" : {"stream" : "13","grid_x" : "1","block_x" : "256")" + links + R"(}},)" + "\n";
}

std::string Of(const std::string& parent, const std::string& op = "Conv") {
  return R"(,"op_name" : ")" + op + R"(","parent_name" : ")" + parent + R"(")";
}

std::string Session(const std::string& name, int start, int microseconds) {
  return R"({"cat" : "Session","pid" :9,"tid" :9,"dur" :)" + std::to_string(microseconds) + R"(,"ts" :)" +
         std::to_string(start) + R"(,"ph" : "X","name" :")" + name + R"(","args" : {}},)" + "\n";
}

Result<RunProfile> Parse(std::string events) {
  events.resize(events.rfind(','));
  std::istringstream input("[\n" + events + "\n]");
  return ReadOnnxRuntimeProfile(input, "profile.json");
}

const ProfiledLayer& LayerOf(const RunProfile& run, std::string_view name) {
  for (const ProfiledLayer& layer : run.layers)
    if (layer.name == name) return layer;
  ADD_FAILURE() << "no layer " << name;
  return run.layers.front();
}

// One inference, from `start`: copied input, two kernels of a convolution, a node that starts none, one on the CPU.
std::string Inference(int start, int longer) {
  return Session("model_run", start, 500) + Kernel("MemcpyHostToDevice", 21, Of("model_run", "")) +
         Session("SequentialExecutor::Execute", start + 30, 400) + Node("conv_kernel_time", start + 40, 9) +
         Kernel("im2col", 30, Of("conv_kernel_time")) + Kernel("sgemm", 100 + longer, Of("conv_kernel_time")) +
         Node("view_kernel_time", start + 60, 2, "Reshape") +
         Node("shape_kernel_time", start + 70, 4, "Shape", "CPUExecutionProvider") +
         Node("out_kernel_time", start + 80, 200, "MemcpyToHost") +
         Kernel("MemcpyDeviceToHost", 6, Of("out_kernel_time", "MemcpyToHost"));
}

TEST(OnnxRuntimeKernels, ALayersTimeIsThatOfItsKernelsNotOfStartingThem) {
  const Result<RunProfile> run = Parse(Inference(1000, 0) + Inference(2000, 1) + Inference(3000, 2));
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(run->layers, SizeIs(4));
  EXPECT_THAT(LayerOf(*run, "conv").samples, ElementsAre(Latency(131), Latency(132)));
  EXPECT_EQ(LayerOf(*run, "conv").algorithm, "sgemm");
  EXPECT_THAT(LayerOf(*run, "out").samples, Each(Latency(6)));
  EXPECT_EQ(LayerOf(*run, "out").algorithm, "MemcpyDeviceToHost");
  EXPECT_THAT(run->profiled, ElementsAre(Latency(500), Latency(500)));
}

TEST(OnnxRuntimeKernels, ANodeWithoutKernelsTakesNothingAndOneOfTheCpuItsOwnTime) {
  const Result<RunProfile> run = Parse(Inference(1000, 0) + Inference(2000, 1));
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(LayerOf(*run, "view").samples, ElementsAre(Latency(0), Latency(0)));
  EXPECT_THAT(LayerOf(*run, "view").algorithm, IsEmpty());
  EXPECT_THAT(LayerOf(*run, "shape").samples, ElementsAre(Latency(4), Latency(4)));
  EXPECT_THAT(run->warnings, Contains(HasSubstr("1 of 3 layers on the GPU started no kernel")));
  EXPECT_THAT(run->warnings,
              Contains(HasSubstr("2 kernels and copies (42.0 µs of the whole profile) belong to no layer")));
}

TEST(OnnxRuntimeKernels, WithoutKernelsLaunchTimesAreNotLayerTimes) {
  const Result<RunProfile> run =
      Parse(Node("conv_kernel_time", 10, 9) + Node("shape_kernel_time", 20, 4, "Shape", "CPUExecutionProvider") +
            Session("model_run", 5, 300));
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(LayerOf(*run, "conv").samples, IsEmpty());
  EXPECT_THAT(LayerOf(*run, "shape").samples, ElementsAre(Latency(4)));
  EXPECT_THAT(run->profiled, ElementsAre(Latency(300)));
  EXPECT_THAT(run->warnings, ElementsAre(HasSubstr("--enable_cuda_profiling")));
}

TEST(OnnxRuntimeKernels, NodesOfTensorRtWaitForTheirKernels) {
  const std::string node = Node("engine_kernel_time", 10, 90, "TRTKernel", "TensorrtExecutionProvider");
  const Result<RunProfile> without = Parse(node + Session("model_run", 5, 300));
  ASSERT_TRUE(without.ok());
  EXPECT_THAT(without->layers[0].samples, ElementsAre(Latency(90)));
  const Result<RunProfile> with =
      Parse(node + Kernel("trt_gemm", 70, Of("engine_kernel_time", "TRTKernel")) + Session("model_run", 5, 300));
  ASSERT_TRUE(with.ok());
  EXPECT_THAT(with->layers[0].samples, ElementsAre(Latency(70)));
}

TEST(OnnxRuntimeKernels, CopiesOfACpuNodeArePartOfItsTime) {
  const Result<RunProfile> run =
      Parse(Node("if_kernel_time", 10, 40, "If", "CPUExecutionProvider") +
            Kernel("MemcpyDeviceToHost", 3, Of("if_kernel_time", "If")) + Session("model_run", 5, 300));
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(40)));
  EXPECT_THAT(run->layers[0].algorithm, IsEmpty());
}

TEST(OnnxRuntimeKernels, UntilVersion113KernelsHaveAnOperatorAlone) {
  // Behind the event of their node with their start: its own, or the one before it where both began at once.
  const std::string op = R"(,"op_name" : "Conv")";
  const Result<RunProfile> run =
      Parse(Node("a_fence_before", 10, 1) + Kernel("sgemm", 50, op) + Node("a_kernel_time", 10, 9) +
            Node("a_fence_after", 19, 1) + Node("b_fence_before", 20, 1) + Node("b_kernel_time", 22, 9) +
            Kernel("winograd", 70, op) + Kernel("stray", 5, R"(,"op_name" : "Relu")") + Session("model_run", 5, 300));
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers, SizeIs(2));
  EXPECT_THAT(LayerOf(*run, "a").samples, ElementsAre(Latency(50)));
  EXPECT_THAT(LayerOf(*run, "b").samples, ElementsAre(Latency(70)));
  EXPECT_EQ(LayerOf(*run, "b").algorithm, "winograd");
  EXPECT_THAT(run->warnings, ElementsAre(HasSubstr("1 kernels and copies (5.00 µs")));
}

// The plug-in's correlation is the start of the node's event plus microseconds since 1970 when profiling began.
std::string Correlated(const std::string& name, int microseconds, int start) {
  return Kernel(name, microseconds,
                R"(,"ort_correlation_id" : ")" + std::to_string(1'724'500'000'000'000 + start) +
                    R"(","ort_event_name" : "conv_kernel_time","ort_op_name" : "Conv","ort_node_index" : "3")");
}

TEST(OnnxRuntimeKernels, KernelsOfAPluginAtTheEndAreJoinedByTheirStart) {
  const std::string provider = "CudaPluginExecutionProvider";
  std::string events;
  for (const int start : {1000, 2000, 3500})
    events += Node("conv_kernel_time", start + 10, 9, "Conv", provider) + Session("model_run", start, 300);
  const Result<RunProfile> run = Parse(events + Correlated("sgemm", 41, 1010) + Correlated("sgemm", 52, 2010) +
                                       Correlated("bias", 1, 2010) + Correlated("sgemm", 63, 3510));
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(53), Latency(63)));
  EXPECT_EQ(run->layers[0].algorithm, "sgemm");
  // With a kernel of an execution that is not there no origin fits.
  const Result<RunProfile> wrong = Parse(events + Correlated("sgemm", 41, 1010) + Correlated("sgemm", 52, 7777));
  ASSERT_TRUE(wrong.ok());
  EXPECT_THAT(wrong->layers[0].samples, IsEmpty());
  EXPECT_THAT(wrong->warnings, Contains(HasSubstr("2 kernels and copies (93.0 µs")));
}

TEST(OnnxRuntimeKernels, AKernelOfAnInferenceWithoutNodesAddsToNone) {
  const Result<RunProfile> run =
      Parse(Inference(1000, 0) + Session("model_run", 2000, 50) + Kernel("graph_sgemm", 40, Of("model_run", "")));
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(LayerOf(*run, "conv").samples, ElementsAre(Latency(130)));
  EXPECT_THAT(run->warnings, Contains(HasSubstr("1 of 2 inferences ran no node")));
  EXPECT_THAT(run->warnings, Not(Contains(HasSubstr("--enable_cuda_profiling"))));
}

}  // namespace
}  // namespace infimum::onnxruntime_kernels_test
