#include "facts/software/version.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_max_digits = 18;
constexpr std::size_t k_max_parts = 64;
constexpr std::size_t k_max_length = 500;
constexpr std::size_t k_max_conditions = 100;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_separator(char c) {
  return c == '.' || c == '-' || c == '_';
}

/// Takes a version apart from left to right; every take_… function moves on only when it found something.
class VersionParser {
 public:
  explicit VersionParser(std::string_view text) : rest_(text) {}

  std::optional<Version> parse() {
    Version version;
    if (!rest_.empty() && rest_.front() == 'v') rest_.remove_prefix(1);
    if (!take_release(version)) return std::nullopt;
    take_pre(version);
    take_post(version);
    take_dev(version);
    if (!take_local(version)) return std::nullopt;
    return failed_ || !rest_.empty() ? std::nullopt : std::optional(version);
  }

 private:
  std::optional<std::uint64_t> take_number() {
    std::size_t length = 0;
    while (length < rest_.size() && is_digit(rest_[length])) ++length;
    if (length == 0) return std::nullopt;
    std::size_t zeros = 0;
    while (zeros + 1 < length && rest_[zeros] == '0') ++zeros;
    if (length - zeros > k_max_digits) {
      failed_ = true;
      return std::nullopt;
    }
    std::uint64_t value = 0;
    for (std::size_t i = zeros; i < length; ++i) value = value * 10 + static_cast<std::uint64_t>(rest_[i] - '0');
    rest_.remove_prefix(length);
    return value;
  }

  bool take_release(Version& version) {
    auto number = take_number();
    if (!number) return false;
    if (rest_.starts_with('!')) {
      version.epoch = *number;
      rest_.remove_prefix(1);
      number = take_number();
      if (!number) return false;
    }
    version.release.push_back(*number);
    while (rest_.size() >= 2 && rest_[0] == '.' && is_digit(rest_[1]) && version.release.size() < k_max_parts) {
      rest_.remove_prefix(1);
      number = take_number();
      if (!number) return false;
      version.release.push_back(*number);
    }
    return true;
  }

  /// One of `words` behind an optional separator, followed by an optional separator and number (missing: 0).
  template <std::size_t Count>
  std::optional<std::pair<std::size_t, std::uint64_t>> take_word(const std::array<std::string_view, Count>& words) {
    std::string_view text = rest_;
    if (!text.empty() && is_separator(text.front())) text.remove_prefix(1);
    for (std::size_t i = 0; i < Count; ++i) {
      if (!text.starts_with(words[i])) continue;
      text.remove_prefix(words[i].size());
      if (!text.empty() && is_separator(text[0])) text.remove_prefix(1);
      rest_ = text;
      return std::pair{i, take_number().value_or(0)};
    }
    return std::nullopt;
  }

  void take_pre(Version& version) {
    using enum Version::Phase;
    static constexpr std::array<std::string_view, 8> k_words{"alpha", "beta", "preview", "pre", "rc", "a", "b", "c"};
    static constexpr std::array k_phases{alpha, beta, candidate, candidate, candidate, alpha, beta, candidate};
    if (const auto found = take_word(k_words)) version.pre = Version::PreRelease{k_phases[found->first], found->second};
  }

  void take_post(Version& version) {
    static constexpr std::array<std::string_view, 3> k_words{"post", "rev", "r"};
    if (rest_.size() >= 2 && rest_[0] == '-' && is_digit(rest_[1])) {
      rest_.remove_prefix(1);
      version.post = take_number();
    } else if (const auto found = take_word(k_words)) {
      version.post = found->second;
    }
  }

  void take_dev(Version& version) {
    static constexpr std::array<std::string_view, 1> k_words{"dev"};
    if (const auto found = take_word(k_words)) version.dev = found->second;
  }

  bool take_local(Version& version) {
    if (!rest_.starts_with('+')) return true;
    rest_.remove_prefix(1);
    bool after_separator = true;
    for (const char c : rest_) {
      if (!is_digit(c) && !is_letter(c) && !is_separator(c)) return false;
      if (is_separator(c) && after_separator) return false;
      after_separator = is_separator(c);
      version.local += after_separator ? '.' : c;
    }
    rest_ = {};
    return !after_separator;
  }

  std::string_view rest_;
  bool failed_ = false;
};

std::strong_ordering compare_release(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::uint64_t left = i < a.size() ? a[i] : 0, right = i < b.size() ? b[i] : 0;
    if (left != right) return left <=> right;
  }
  return std::strong_ordering::equal;
}

/// Where a version without pre-release sorts: a development release of the final one comes before its pre-releases.
int pre_rank(const Version& version) {
  if (version.pre) return 0;
  return version.dev && !version.post ? -1 : 1;
}

/// Numbers count more than words; of two equal beginnings the longer one is later.
std::strong_ordering compare_local(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return static_cast<int>(!a.empty()) <=> static_cast<int>(!b.empty());
  const auto left = split(a, '.'), right = split(b, '.');
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    const auto is_number = [](std::string_view part) { return std::all_of(part.begin(), part.end(), is_digit); };
    const bool left_number = is_number(left[i]), right_number = is_number(right[i]);
    if (left_number != right_number) return static_cast<int>(left_number) <=> static_cast<int>(right_number);
    std::string_view x = left[i], y = right[i];
    if (left_number) {
      while (x.size() > 1 && x.front() == '0') x.remove_prefix(1);
      while (y.size() > 1 && y.front() == '0') y.remove_prefix(1);
      if (x.size() != y.size()) return x.size() <=> y.size();
    }
    if (x != y) return x <=> y;
  }
  return left.size() <=> right.size();
}

/// "1.4.2" for the prefix "1.4" (only the release counts, and the epoch).
bool has_prefix(const Version& version, const Version& prefix) {
  if (version.epoch != prefix.epoch) return false;
  for (std::size_t i = 0; i < prefix.release.size(); ++i)
    if ((i < version.release.size() ? version.release[i] : 0) != prefix.release[i]) return false;
  return true;
}

}  // namespace

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  if (a.epoch != b.epoch) return a.epoch <=> b.epoch;
  if (const auto order = compare_release(a.release, b.release); order != 0) return order;
  if (pre_rank(a) != pre_rank(b)) return pre_rank(a) <=> pre_rank(b);
  if (a.pre && b.pre && *a.pre != *b.pre) return *a.pre <=> *b.pre;
  if (a.post != b.post) return a.post <=> b.post;
  if (a.dev.has_value() != b.dev.has_value())
    return a.dev.has_value() ? std::strong_ordering::less : std::strong_ordering::greater;
  if (a.dev != b.dev) return *a.dev <=> *b.dev;
  return compare_local(a.local, b.local);
}

Version Version::public_part() const {
  Version version = *this;
  version.local.clear();
  return version;
}

Version Version::base() const {
  Version version;
  version.epoch = epoch;
  version.release = release;
  version.text = text;
  return version;
}

std::optional<Version> parse_version(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.size() > k_max_length) return std::nullopt;
  const std::string lower = to_lower(text);
  auto version = VersionParser(lower).parse();
  if (version) version->text = text;
  return version;
}

std::optional<VersionSpecifiers::Condition> VersionSpecifiers::parse_condition(std::string_view text) {
  using enum Operator;
  static constexpr std::array<std::pair<std::string_view, Operator>, 8> k_operators{{{"===", identical},
                                                                                     {"~=", compatible},
                                                                                     {"==", equal},
                                                                                     {"!=", not_equal},
                                                                                     {"<=", at_most},
                                                                                     {">=", at_least},
                                                                                     {"<", less},
                                                                                     {">", greater}}};
  text = trim(text);
  const auto found = std::find_if(k_operators.begin(), k_operators.end(),
                                  [&](const auto& known) { return text.starts_with(known.first); });
  if (found == k_operators.end()) return std::nullopt;
  Condition condition;
  condition.op = found->second;
  std::string_view version = trim(text.substr(found->first.size()));
  if (condition.op == identical) {
    condition.version.text = version;
    return condition;
  }
  condition.prefix = version.ends_with(".*");
  if (condition.prefix) version.remove_suffix(2);
  auto parsed = parse_version(version);
  if (!parsed || (condition.prefix && condition.op != equal && condition.op != not_equal)) return std::nullopt;
  // PEP 440 allows a local part behind == and != alone, and for them only without a star.
  if (!parsed->local.empty() && (condition.prefix || (condition.op != equal && condition.op != not_equal)))
    return std::nullopt;
  if (condition.op == compatible && parsed->release.size() < 2) return std::nullopt;
  condition.version = std::move(*parsed);
  return condition;
}

std::optional<VersionSpecifiers> VersionSpecifiers::parse(std::string_view text) {
  VersionSpecifiers specifiers;
  text = trim(text);
  if (text.starts_with('(') && text.ends_with(')')) text = trim(text.substr(1, text.size() - 2));
  for (const std::string_view piece : split(text, ',')) {
    if (trim(piece).empty()) continue;
    if (specifiers.conditions_.size() >= k_max_conditions) return std::nullopt;
    auto condition = parse_condition(piece);
    if (!condition) return std::nullopt;
    specifiers.conditions_.push_back(std::move(*condition));
  }
  return specifiers;
}

bool VersionSpecifiers::meets(const Condition& condition, const Version& version) {
  using enum Operator;
  const Version& wanted = condition.version;
  const Version candidate = wanted.local.empty() ? version.public_part() : version;
  switch (condition.op) {
    case identical: return to_lower(version.text) == to_lower(wanted.text);
    case equal: return condition.prefix ? has_prefix(version, wanted) : candidate == wanted;
    case not_equal: return condition.prefix ? !has_prefix(version, wanted) : candidate != wanted;
    case at_most: return version.public_part() <= wanted;
    case at_least: return version.public_part() >= wanted;
    case less:
      // A pre-release of the bound itself is not below it, unless the bound is one too.
      if (!wanted.is_pre_release() && version.is_pre_release() && version.base() == wanted.base()) return false;
      return version.public_part() < wanted;
    case greater:
      if (!wanted.post && version.post && version.base() == wanted.base()) return false;
      return version.public_part() > wanted;
    case compatible: {
      Version prefix = wanted.base();
      prefix.release.pop_back();
      return version.public_part() >= wanted && has_prefix(version, prefix);
    }
  }
  return false;
}

bool VersionSpecifiers::contains(const Version& version) const {
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&](const Condition& condition) { return meets(condition, version); });
}

std::optional<std::string> VersionSpecifiers::pinned() const {
  if (conditions_.size() != 1) return std::nullopt;
  const Condition& only = conditions_.front();
  const bool pins = (only.op == Operator::equal && !only.prefix) || only.op == Operator::identical;
  return pins ? std::optional(only.version.text) : std::nullopt;
}

std::optional<bool> version_meets(std::string_view version, std::string_view specifiers) {
  const auto parsed = parse_version(version);
  const auto conditions = VersionSpecifiers::parse(specifiers);
  if (!parsed || !conditions) return std::nullopt;
  return conditions->contains(*parsed);
}

}  // namespace sparkops::facts
