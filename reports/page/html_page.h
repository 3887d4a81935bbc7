// Pages made of a template and what is put into its places: one file with style, script and data inside, and a policy
// under which a browser runs and fetches nothing else.
//
//   template  <title>@@TITLE@@</title><style>@@STYLE@@</style><script>@@SCRIPT@@</script>
//   WritePage({.page = template, .title = "a < b", .style = style, .script = script}, {{"TILES", [] { ... }}})
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace infimum {

// Places are replaced once, and what is put in is never searched again, so that a name like "@@SCRIPT@@" stays a name.
// A place that nothing fills is a bug.
using PageParts = std::map<std::string_view, std::function<std::string()>>;
std::string FillPage(std::string_view page, const PageParts& parts);

// A template of which parts stand between `<!--name-->` and `<!--/name-->`: those of one name stay, those of the other
// are left out.
std::string VersionOf(std::string_view page, std::string_view kept, std::string_view left_out);

// What every page has: it fills POLICY, TITLE, STYLE, DATA, D3 where there is one, SCRIPT and FOOTER. Of a template the
// parts `file` stay, or `site` where style and script are files of their own, which ASSETS leads to.
struct PageFrame {
  std::string_view page;
  std::string_view title;
  std::string style;
  std::string_view script;
  std::string d3 = {};  // a script that runs before; may be empty
  std::string json;     // what the script reads
  std::string_view data_as_of;
  std::string_view infimum_version;
  std::string_view assets = {};  // "../assets/": the folder of style.css and script.js
};
std::string WritePage(const PageFrame& frame, PageParts parts);

// A Content-Security-Policy for a file that holds all it needs: exactly these styles and scripts may run, known by
// their hashes; nothing may be fetched, framed, submitted or rebased.
std::string PolicyFor(const std::vector<std::string_view>& styles, const std::vector<std::string_view>& scripts);

std::string EscapedHtml(std::string_view text);

}  // namespace infimum
