#include "src/readers/profiles/nsys/nsys_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/readers/nsys_files.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Process 100, threads 100 and 101; process 200. globalTid is process << 24 | thread.
constexpr const char* kRows = R"sql(
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1250, 0, 1, 7, 77, 100<<24, 12, 13, 50, 1, 1, 256, 1, 1, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 940, 100<<24 | 101, 77, 30);
)sql";

class NsysExport : public testing::NsysFiles {
 protected:
  // Of kNsysTables and these statements; an empty timeline where that fails.
  Timeline Read(const std::string& sql) {
    Result<Timeline> read = ReadNsysExport(Make(testing::kNsysTables + sql));
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read.ok() ? std::move(read).value() : Timeline();
  }
};

TEST_F(NsysExport, AKernelAndTheCallThatStartedIt) {
  const Timeline timeline = Read(kRows);
  EXPECT_EQ(timeline.profiler, "nsys");
  ASSERT_THAT(timeline.device_work, SizeIs(1));
  const DeviceWork& kernel = timeline.device_work[0];
  EXPECT_EQ(kernel.start_ns, 1000);
  EXPECT_EQ(kernel.duration_ns, 250);
  EXPECT_EQ(kernel.correlation, 77);
  EXPECT_EQ(kernel.external_id, -1);
  EXPECT_EQ(kernel.kind, DeviceWorkKind::kKernel);
  EXPECT_EQ(timeline.names.text(kernel.name), "gemm<float>(float*)");
  EXPECT_EQ(timeline.names.text(kernel.launch), "grid [50,1,1] block [256,1,1]");
  EXPECT_THAT(timeline.streams, ElementsAre(TimelineStream{0, 7}));
  ASSERT_THAT(timeline.host_calls, SizeIs(1));
  const HostCall& call = timeline.host_calls[0];
  EXPECT_EQ(call.start_ns, 900);
  EXPECT_EQ(call.duration_ns, 40);
  EXPECT_EQ(call.correlation, 77);
  EXPECT_EQ(call.kind, HostCallKind::kRuntime);
  EXPECT_EQ(timeline.names.text(call.name), "cudaLaunchKernel");
  EXPECT_THAT(timeline.threads, ElementsAre(TimelineThread{100, 101}));
  EXPECT_EQ(timeline.first_ns, 900);
  EXPECT_EQ(timeline.last_ns, 1250);
  EXPECT_EQ(timeline.events, 2);
  ASSERT_THAT(timeline.devices, SizeIs(1));
  EXPECT_THAT(timeline.remarks, ElementsAre("the names of its GPUs are not in the file (TARGET_INFO_GPU)"));
}

// As in a real trace of two processes: each counts its own.
TEST_F(NsysExport, CorrelationsOfTwoProcessesDoNotMix) {
  const Timeline timeline = Read(std::string(kRows) + R"sql(
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (910, 920, 200<<24 | 200, 77, 30);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (950, 960, 0, 1, 7, 77, 200<<24, 12, 13, 1, 1, 1, 1, 1, 1, NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (970, 980, 0, 1, 7, 0, 200<<24, 12, 13, 1, 1, 1, 1, 1, 1, NULL);)sql");
  ASSERT_THAT(timeline.device_work, SizeIs(3));
  ASSERT_THAT(timeline.host_calls, SizeIs(2));
  EXPECT_EQ(timeline.device_work[0].correlation, timeline.host_calls[1].correlation);
  EXPECT_EQ(timeline.device_work[1].correlation, -1);
  EXPECT_EQ(timeline.device_work[2].correlation, timeline.host_calls[0].correlation);
  EXPECT_NE(timeline.host_calls[0].correlation, timeline.host_calls[1].correlation);
  // Nor do their streams, which are both number 7.
  EXPECT_THAT(timeline.streams, ElementsAre(TimelineStream{0, 7}, TimelineStream{0, 7}));
  EXPECT_NE(timeline.device_work[0].stream, timeline.device_work[2].stream);
  EXPECT_EQ(timeline.device_work[0].stream, timeline.device_work[1].stream);
}

// CUDA_VISIBLE_DEVICES: both processes call their GPU device 0.
TEST_F(NsysExport, DevicesAreTheGpusOfTheMachine) {
  const Timeline timeline = Read(std::string(kRows) + R"sql(
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A', 10), (3, 'NVIDIA H100', 132);
    CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
    INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 100), (3, 0, 200);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (950, 960, 0, 1, 9, 77, 200<<24, 12, 13, 1, 1, 1, 1, 1, 1, NULL);)sql");
  EXPECT_THAT(timeline.streams, ElementsAre(TimelineStream{0, 7}, TimelineStream{3, 9}));
  ASSERT_THAT(timeline.devices, SizeIs(2));
  EXPECT_EQ(timeline.devices[1].number, 3);
  EXPECT_EQ(timeline.devices[1].name, "NVIDIA H100");
  EXPECT_EQ(timeline.devices[1].multiprocessors, 132);
  EXPECT_TRUE(timeline.remarks.empty());
}

TEST_F(NsysExport, CopiesAndSetsAreCalledAsKinetoCallsThem) {
  const Timeline timeline = Read(R"sql(
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, copyKind, srcKind, dstKind);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, correlationId, memKind);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 3, 0, 7, 5, 1, 1, 2), (4, 4, 0, 7, 6, 8, NULL, NULL),
      (5, 6, 0, 7, 8, 99, -1, 2);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (10, 11, 0, 7, 7, 2), (0, 0, 0, 7, 8, 2);)sql");
  std::vector<std::string> names;
  for (const DeviceWork& work : timeline.device_work) names.emplace_back(timeline.names.text(work.name));
  EXPECT_THAT(names, ElementsAre("Memcpy HtoD (Pinned -> Device)", "Memcpy DtoD", "Memcpy Unknown (Unknown -> Device)",
                                 "Memset (Device)"));
  EXPECT_EQ(timeline.device_work[0].kind, DeviceWorkKind::kCopy);
  EXPECT_EQ(timeline.device_work[3].kind, DeviceWorkKind::kSet);
  EXPECT_EQ(timeline.events, 5);
  EXPECT_THAT(timeline.remarks, ::testing::Contains("1 kernels, copies or sets without times ignored"));
}

TEST_F(NsysExport, RangesWithoutAnEndEndWithTheTrace) {
  const Timeline timeline = Read(std::string(kRows) + R"sql(
    INSERT INTO StringIds VALUES (40, 'registered');
    INSERT INTO NVTX_EVENTS VALUES (800, 1100, 59, 'step 1', 100<<24 | 101, NULL), (850, NULL, 60, NULL, 100<<24 | 102, 40),
      (860, NULL, 34, 'a mark', 100<<24 | 101, NULL), (0, NULL, 75, 'a domain', 100<<24 | 101, NULL),
      (870, 880, 70, '', 100<<24 | 101, 40);
    CREATE TABLE OSRT_API (start, end);
    INSERT INTO OSRT_API VALUES (700, 3000), ('never', NULL), (0, 0), (9000, 8000);)sql");
  ASSERT_THAT(timeline.host_calls, SizeIs(4));
  const HostCall &step = timeline.host_calls[0], &open = timeline.host_calls[1], &imported = timeline.host_calls[2];
  EXPECT_EQ(timeline.names.text(step.name), "step 1");
  EXPECT_EQ(step.kind, HostCallKind::kAnnotation);
  EXPECT_EQ(timeline.names.text(open.name), "registered");
  EXPECT_EQ(timeline.threads[open.thread], (TimelineThread{100, 102}));
  EXPECT_EQ(open.start_ns + open.duration_ns, 3000);
  EXPECT_EQ(imported.name, open.name);
  EXPECT_EQ(timeline.first_ns, 700);
  EXPECT_EQ(timeline.last_ns, 3000);
  EXPECT_EQ(timeline.events, 2 + 5 + 1);
  EXPECT_THAT(timeline.remarks,
              ElementsAre("1 NVTX ranges were still open at the end of the trace, and end with it",
                          "1 NVTX marks ignored", "the names of its GPUs are not in the file (TARGET_INFO_GPU)"));
}

TEST_F(NsysExport, AGraphIsOneWorkWhereItsKernelsAreNotThere) {
  const Timeline timeline = Read(R"sql(
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, correlationId, globalPid,
      graphId, graphExecId);
    INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 30, 0, 1, 7, 5, 100<<24, 3, 4), (40, 60, 0, 1, 7, 6, 100<<24, 3, 4);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (11, 12, 0, 1, 7, 5, 100<<24, 12, 13, 1, 1, 1, 1, 1, 1, 900);)sql");
  ASSERT_THAT(timeline.device_work, SizeIs(2));
  EXPECT_EQ(timeline.names.text(timeline.device_work[0].name), "gemm<float>(float*)");
  EXPECT_EQ(timeline.names.text(timeline.device_work[1].name), "CUDA graph 3");
  EXPECT_EQ(timeline.device_work[1].kind, DeviceWorkKind::kKernel);
  EXPECT_EQ(timeline.device_work[1].correlation, 6);
  EXPECT_THAT(timeline.remarks, SizeIs(4));
}

TEST_F(NsysExport, TheCallsOwnVersionIsKept) {
  const Timeline timeline = Read(std::string(kRows) + R"sql(
    INSERT INTO StringIds VALUES (31, 'cuMemAlloc_v2'), (32, '_v7000'), (33, '12345'), (34, ''), (-5, 'cudaFree_v11060'),
      (1099511627776, 'cudaFree_v3020');
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 1, 0, 1, 31), (2, 2, 0, 2, 32), (3, 3, 0, 2, 33), (4, 4, 0, 2, 34),
      (5, 5, 0, 2, -5), (6, 6, 0, 2, 1099511627776);)sql");
  std::vector<std::string> names;
  for (const HostCall& call : timeline.host_calls) names.emplace_back(timeline.names.text(call.name));
  EXPECT_THAT(names, ElementsAre("cuMemAlloc_v2", "", "12345", "", "cudaFree", "cudaFree", "cudaLaunchKernel"));
}

TEST_F(NsysExport, AbsentTablesAndColumnsAreRemarked) {
  const Result<Timeline> read = ReadNsysExport(Make(R"sql(
    CREATE TABLE StringIds (id INTEGER, value TEXT);
    INSERT INTO StringIds VALUES (1, 'gemm');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, shortName);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 1);)sql"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->names.text(read->device_work.at(0).name), "gemm");
  EXPECT_EQ(read->device_work[0].correlation, -1);
  EXPECT_EQ(read->device_work[0].launch, kNoName);
  EXPECT_THAT(
      read->remarks,
      ElementsAre("no table CUPTI_ACTIVITY_KIND_RUNTIME: which call started which kernel is not known; record with "
                  "nsys profile --trace=cuda,nvtx",
                  "CUPTI_ACTIVITY_KIND_KERNEL has no column 'demangledName': kernels have short names",
                  "CUPTI_ACTIVITY_KIND_KERNEL has no column 'gridX': launch geometry is not recorded",
                  "CUPTI_ACTIVITY_KIND_KERNEL has no column 'correlationId': which call started which kernel is "
                  "not known",
                  "no table NVTX_EVENTS: no ranges were annotated",
                  "the names of its GPUs are not in the file (TARGET_INFO_GPU)"));
}

TEST_F(NsysExport, AnEmptyTraceHasNoExtent) {
  const Timeline timeline = Read("");
  EXPECT_EQ(timeline.events, 0);
  EXPECT_EQ(timeline.first_ns, 0);
  EXPECT_EQ(timeline.last_ns, 0);
}

// A name that SQLite's URIs would take apart, beside files that must stay as they are, in a folder where nothing else
// may appear.
TEST_F(NsysExport, NothingIsWritten) {
  const fs::path path = Make(std::string(testing::kNsysTables) + kRows, "a b?mode=rwc#%41.sqlite");
  const auto content = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = content();
  EXPECT_EQ(ErrorOf(path), "");
  EXPECT_EQ(content(), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace infimum
