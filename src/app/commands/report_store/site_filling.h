// A site's report from what the store answers to its named questions.
//
//   Result<SiteReport> report = MakeSiteReport(*store, {.address = "team.db"}, log);
#pragma once

#include <string>

#include "infimum/base/result.h"
#include "infimum/db/store.h"
#include "reports/site/site_report.h"
#include "src/app/processes/progress_log.h"

namespace infimum::cli {

struct SiteOptions {
  std::string address = "infimum.db";  // of the store
  bool anonymize = false;              // models are numbered, what frameworks nobody knows are "engine"
};

// What differs whenever the site of the store may: the store's fingerprint, the options, the version.
Result<std::string> FingerprintOf(Store& store, const SiteOptions& options);

// Without changes, which site_folder.h knows.
Result<SiteReport> MakeSiteReport(Store& store, const SiteOptions& options, ProgressLog& log);

}  // namespace infimum::cli
