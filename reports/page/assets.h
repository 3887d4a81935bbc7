// The texts of reports/page/assets and D3, embedded at build time (assets/embed.cmake writes the definitions).
#pragma once

#include <string_view>

namespace infimum {

std::string_view HtmlTemplate();
std::string_view ReportStyle();
std::string_view ReportScript();
std::string_view D3Script();
std::string_view D3License();
std::string_view ComparisonTemplate();
std::string_view ComparisonStyle();  // after ReportStyle()
std::string_view ComparisonScript();

}  // namespace infimum
