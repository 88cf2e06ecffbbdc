#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sparkops::facts {

/// A version as PEP 440 orders it: 2.10.0a0+b558c986e8.nv25.11 comes before 2.10.0, which comes before 2.10.0.post1.
struct Version {
  enum class Phase { alpha, beta, candidate };
  struct PreRelease {
    Phase phase = Phase::alpha;
    std::uint64_t number = 0;
    friend auto operator<=>(const PreRelease&, const PreRelease&) = default;
  };

  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> release;  ///< never empty
  std::optional<PreRelease> pre;
  std::optional<std::uint64_t> post;
  std::optional<std::uint64_t> dev;
  std::string local;  ///< what stands behind '+', lower case, its parts joined by dots; may be empty
  std::string text;   ///< as written, without blanks

  /// Trailing zeros of the release do not count: 1.0 equals 1.
  friend std::strong_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return (a <=> b) == 0; }

  [[nodiscard]] bool is_pre_release() const { return pre.has_value() || dev.has_value(); }
  /// Without what stands behind '+'.
  [[nodiscard]] Version public_part() const;
  /// Epoch and release alone: 2.10.0 for 2.10.0a0+nv25.11.
  [[nodiscard]] Version base() const;
};

/// Reads every form that PEP 440 allows (a leading v, "-alpha.1", "1-2" as post-release, upper case). Nothing when it
/// is no such version, or has a number of more than 18 digits.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);

/// A set of conditions such as ">=2.9,!=2.10.*,<3". An empty one is met by every version.
class VersionSpecifiers {
 public:
  /// Nothing when one of the conditions cannot be read. At most 100 of them.
  [[nodiscard]] static std::optional<VersionSpecifiers> parse(std::string_view text);

  /// Whether `version` meets all conditions. Pre-releases may meet them, as for a version that is installed already.
  [[nodiscard]] bool contains(const Version& version) const;
  [[nodiscard]] bool empty() const { return conditions_.empty(); }
  /// The version of the only condition when that is "==" without a star: a pinned version.
  [[nodiscard]] std::optional<std::string> pinned() const;

 private:
  enum class Operator { compatible, equal, not_equal, at_most, at_least, less, greater, identical };
  struct Condition {
    Operator op = Operator::equal;
    bool prefix = false;  ///< ends in .*
    Version version;      ///< of `identical` only its text
  };
  [[nodiscard]] static std::optional<Condition> parse_condition(std::string_view text);
  [[nodiscard]] static bool meets(const Condition& condition, const Version& version);

  std::vector<Condition> conditions_;
};

/// Whether `version` meets `specifiers`; nothing when either cannot be read.
[[nodiscard]] std::optional<bool> version_meets(std::string_view version, std::string_view specifiers);

}  // namespace sparkops::facts
