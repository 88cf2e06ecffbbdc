#pragma once

#include <span>
#include <string>
#include <string_view>

#include "knowledge/tables.h"

namespace sparkops::views {

/// A reference page of the agent skills (skills/*/references/): what knowledge/ says, as Markdown, with its dates.
struct ReferencePage {
  std::string_view name;   ///< "gotcha-checks": the file's name without .md
  std::string_view skill;  ///< the folder under skills/ it belongs to
  std::string_view title;
  std::span<const std::string_view> entries;  ///< ids of gotchas and topics, in order; empty: the stack table
};

[[nodiscard]] std::span<const ReferencePage> reference_pages();

/// The page as it lies in the skill's folder. Entries that an override took away are left out.
[[nodiscard]] std::string reference_markdown(const knowledge::Tables& tables, const ReferencePage& page);

}  // namespace sparkops::views
