// A small site for tests: GPUs and a processor, names that are hostile or alike, holes, upgrades, runs above and below
// their bounds.
#pragma once

#include <cstddef>

#include "reports/site/site_report.h"

namespace infimum {

SiteReport SampleSite(std::size_t models = 3, std::size_t devices = 4);

}  // namespace infimum
