// How long a model would take, layer after layer, on a device of which the store has few rows or none: an estimate of
// what `sequential` would be there, from the rows of other devices and what each device can do at best. No bound.
//
//   r(w, d) = log(best time of workload w on device d / roofline of w on d)
//
//   measured on others   r(w, target) ~ mean of r(w, s) over the other devices s, by exp(-years between generations)
//   never measured       mean over the four nearest workloads of its family and type, by FLOPs and bytes; where no
//                        other device has one, of those of the target itself that are within a factor of eight
//   rows of the target   its measured layers count as measured; every other r shifts by sum of (r - estimate) / (n + 3)
//
//   a ReLU: 9 us and roofline 3 us on a P100, 5 and 2 on a V100; roofline 5 us on a T4 (a year after the V100, two
//   after the P100): 5 x exp((0.37 log 2.5 + 0.14 log 3) / 0.50) = 13.1 us
//
// Its interval is conformal, at the level of whole models: each other device is left out in turn, the model is
// estimated for it from the rest in the same way, and the factors by which that is wrong are the interval's. Devices
// are the units of chance, so with K of them a share p of the factors counts, p K = level (K + 1) (Dunn, Wasserman and
// Ramdas, arXiv 1809.07441); below four devices no interval of 80 % can be had, and the level is the K / (K + 1) that
// can. A factor counts in units of sqrt(1 + years to the nearest generation with rows), so that what lies years beyond
// all rows has a wide interval.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/rows/measured_rows.h"
#include "analyzer/types/device_model.h"

namespace infimum {

// A device with the best times that are known of it.
struct KnownDevice {
  std::string name;
  std::optional<double> year;  // of its generation
  DeviceModel peaks;
  double clock = 1;  // over that of the peaks of arithmetic, which it is expected to run at
  std::map<WorkloadKey, Latency> best;
};

// A model: what it runs, and how often.
struct WorkloadUse {
  KeyedWorkload of;
  double executions = 1;
};
using ModelWork = std::vector<WorkloadUse>;

struct EstimateQuestion {
  KnownDevice target;
  std::vector<KnownDevice> others;
  std::map<WorkloadKey, KeyedWorkload> workloads;  // of all rows
  ModelWork model;
  std::vector<ModelWork> other_models;  // to calibrate on, where the model itself was measured on too few devices
  double level = 0.8;
};

// What to measure next: on the target, or of a workload that no device has on the one that is most like it.
struct MeasureNext {
  std::string device;
  WorkloadKey workload;
  double factor = 1;  // that the interval would go up and down by, with this one and those before it measured
};

struct Estimate {
  Latency latency{0};
  std::optional<Interval> interval;  // absent where nothing can be left out, or too much is missing
  double level = 0;                  // of the interval
  // Shares of the latency: measured on the device itself, on others, near workloads.
  double measured = 0, transferred = 0, neighbours = 0;
  double missing = 0;                   // of the model's roofline: no row of the family anywhere
  std::size_t devices = 0, models = 0;  // left out, each with so many models
  std::vector<MeasureNext> next = {};   // where it was asked for
};

// An error where the target's roofline is not known in a type that the model computes in, or no device has rows.
Result<Estimate> EstimateModel(const EstimateQuestion& question);

// At most `most` workloads, those first that narrow the interval most; none where nothing would.
Result<std::vector<MeasureNext>> WhatToMeasureNext(const EstimateQuestion& question, std::size_t most);

}  // namespace infimum
