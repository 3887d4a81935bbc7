// infimum report store: a site of static pages over a store.
#include "src/app/commands/report_store/report_store_command.h"

#include <fmt/format.h>

#include <memory>

#include "reports/text/fact_text.h"
#include "src/app/commands/report_store/site_filling.h"
#include "src/app/commands/report_store/site_folder.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct ReportStoreOptions {
  SiteOptions site;
  std::string output = "site";
  ProgressLogOptions log;
};

Result<int> RunReportStore(const ReportStoreOptions& options) {
  ProgressLog log = options.log.Make();
  INFIMUM_ASSIGN_OR_RETURN(const SiteFolder folder, SiteFolder::Open(options.output, options.site.anonymize));
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.site.address, OpenMode::kReadOnly));
  INFIMUM_ASSIGN_OR_RETURN(const std::string fingerprint, FingerprintOf(*store, options.site));
  std::optional<SiteCounts> counts = folder.Current(fingerprint);
  if (!counts) {
    INFIMUM_ASSIGN_OR_RETURN(SiteReport report, MakeSiteReport(*store, options.site, log));
    folder.AddChanges(report);
    INFIMUM_ASSIGN_OR_RETURN(counts, folder.Write(report, fingerprint));
    log.Say(
        fmt::format("{} on {}", CountText(report.models.size(), "model"), CountText(report.devices.size(), "device")));
  }
  log.Say(fmt::format("{} written, {} as they were, {} removed", CountText(counts->written, "file"), counts->unchanged,
                      counts->removed));
  log.Say(fmt::format("open {}/index.html", options.output));
  return kDone;
}

}  // namespace

void AddReportStoreCommand(CLI::App& report, Invocation& invocation) {
  auto options = std::make_shared<ReportStoreOptions>();
  CLI::App* command = NewCommand(
      report, "store", "a site of static pages over the store: models by devices, what changed, what is missing",
      "An index, and a page for each model, device and upgrade of a library. Written again into the same folder\n"
      "it says what changed since, and writes and removes no more than that. The pages need no server and no network.",
      "infimum report store --db postgresql://me@db.example.org/infimum -o site");
  AddDatabase(command, options->site.address);
  AddValue(command, "-o,--output", options->output, "DIR", "folder of the site")->capture_default_str();
  AddAnonymize(command, options->site.anonymize);
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunReportStore(*options); });
}

}  // namespace infimum::cli
