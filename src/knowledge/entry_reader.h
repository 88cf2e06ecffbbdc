#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "knowledge/tables.h"
#include "knowledge/yaml_node.h"

namespace sparkops::knowledge {

/// Reads the fields of one entry strictly: a missing required field, a wrong form and a field nobody asked for are
/// problems. Reading goes on after a problem, so that one pass names them all.
class EntryReader {
 public:
  /// `file` names the file in problems; `entry` must outlive the reader.
  EntryReader(const YamlNode& entry, std::string file);

  [[nodiscard]] std::string text(std::string_view key);           ///< required, not empty
  [[nodiscard]] std::string optional_text(std::string_view key);  ///< empty when absent
  [[nodiscard]] std::optional<double> optional_number(std::string_view key);
  [[nodiscard]] std::int64_t whole_number(std::string_view key);  ///< required
  [[nodiscard]] std::optional<std::int64_t> optional_whole_number(std::string_view key);
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(std::string_view key);  ///< required, of texts
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  [[nodiscard]] std::vector<std::string> optional_texts(std::string_view key);
  [[nodiscard]] std::string date(std::string_view key);             ///< required, "2026-11-30"
  [[nodiscard]] std::vector<Source> sources(std::string_view key);  ///< required, at least one
  [[nodiscard]] std::string one_of(std::string_view key, const std::vector<std::string>& words);

  /// All problems, fields that nobody asked for included. Empty: the entry is good.
  [[nodiscard]] std::vector<std::string> finish();

 private:
  const YamlNode* find(std::string_view key);
  const YamlNode* require(std::string_view key);
  void complain(int line, const std::string& reason);
  std::optional<Source> source(const YamlNode& node);

  const YamlNode& entry_;
  std::string file_;
  std::set<std::string, std::less<>> asked_;
  std::vector<std::string> problems_;
};

}  // namespace sparkops::knowledge
