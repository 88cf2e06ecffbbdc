#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"

namespace sparkops::facts {

enum class FileFormat { yaml, json, toml, shell, environment, unknown };

/// By the name's ending, else by the first line.
[[nodiscard]] FileFormat format_of(std::string_view file, std::string_view text);

/// The files of one workload: those that were named, and those beside them that a command may name.
class WorkloadFiles {
 public:
  static constexpr int k_max_depth = 4;
  static constexpr std::size_t k_max_files = 200;
  static constexpr std::size_t k_max_file_size = std::size_t{4} << 20;  ///< bytes

  /// A file, or a directory. Errors: usage when the path cannot be read.
  [[nodiscard]] static Result<WorkloadFiles> open(const std::string& path);

  /// No file of its own; the paths that a command names may be looked up.
  [[nodiscard]] static WorkloadFiles open_lookup(const std::vector<std::string>& command);

  [[nodiscard]] const std::vector<std::string>& named() const { return named_; }
  /// The base names that a command may look up (open_lookup).
  [[nodiscard]] std::vector<std::string> lookups() const;
  /// What should have been looked at and was not, each with its reason.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// Files of kinds that are not read, each with its reason.
  [[nodiscard]] const std::vector<std::string>& not_read() const { return not_read_; }

  /// The content. Errors: those of Root, and malformed for a file with NUL bytes.
  [[nodiscard]] Result<std::string> text(const std::string& file) const;

  /// The file with this base name.
  [[nodiscard]] std::optional<std::string> find(const std::string& base) const;

 private:
  explicit WorkloadFiles(std::optional<Root> root) : root_(std::move(root)) {}
  void collect(const std::string& directory, int depth);
  [[nodiscard]] bool holds_readable(const std::string& directory, std::size_t& budget) const;

  std::optional<Root> root_;
  std::vector<std::string> named_;
  std::vector<std::string> left_out_;
  std::vector<std::string> not_read_;
  std::map<std::string, std::string> paths_;  ///< of open_lookup: base name to path
};

}  // namespace sparkops::facts
