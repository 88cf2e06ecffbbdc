#include "store/redaction_patterns.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace sparkops::store::patterns {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// How many characters at the start satisfy `accepts`, at most `most`.
template <class Accepts>
std::size_t run(std::string_view text, std::size_t most, Accepts accepts) {
  const std::size_t end = std::min(text.size(), most);
  std::size_t length = 0;
  while (length < end && accepts(text[length])) ++length;
  return length;
}

bool ends_word(std::string_view text, std::size_t length) {
  return length >= text.size() || !is_word(text[length]);
}

/// Whether the groups of an address written with "::" begin as an address that somebody can have: global unicast
/// (2000::/3), unique local (fc00::/7), link local and the old site local (fe80::/9) and multicast (ff00::/8) as RFC
/// 4291 and RFC 4193 give them out, or an IPv4 address inside (::ffff:0:0/96, 64:ff9b::/96). All of these but the last
/// need four digits in front, which tells them from what is written alike: "0::/system.slice" of a cgroup, "::", and
/// names of C++.
bool starts_as_in_use(const std::vector<std::string_view>& groups, std::size_t gap) {
  if (groups.empty()) return false;
  const std::string first = to_lower(groups.front());
  constexpr std::size_t k_mapped_groups = 3, k_translated_groups = 4;
  if (gap == 0) return first == "ffff" && groups.size() == k_mapped_groups;
  if (first == "64") return groups.size() == k_translated_groups && to_lower(groups[1]) == "ff9b";
  if (first.size() != 4) return false;
  if (first[0] == '2' || first[0] == '3' || first.starts_with("fc") || first.starts_with("fd")) return true;
  return first.starts_with("ff") || (first.starts_with("fe") && (first[2] >= '8'));
}

struct SecretForm {
  std::string_view prefix;
  std::size_t least_tail;  // shorter ones are ordinary words
};
constexpr std::array<SecretForm, 15> k_secret_forms{{{"hf_", 10},
                                                     {"r8_", 20},
                                                     {"sk-", 16},
                                                     {"nvapi-", 16},
                                                     {"ghp_", 20},
                                                     {"gho_", 20},
                                                     {"ghs_", 20},
                                                     {"github_pat_", 20},
                                                     {"glpat-", 16},
                                                     {"xoxb-", 10},
                                                     {"xoxp-", 10},
                                                     {"AKIA", 16},
                                                     {"AIza", 30},
                                                     {"ya29.", 16},
                                                     {"eyJ", 20}}};

/// The words of a name: "hfToken", "HF_TOKEN" and "hf-token" all are hf and token.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_letter(c) && !is_digit(c)) {
      words.emplace_back();
      continue;
    }
    const bool upper = c >= 'A' && c <= 'Z';
    const bool after_lower = i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if (upper && after_lower) words.emplace_back();
    words.back() += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

template <std::size_t Count>
bool has_word(std::string_view name, const std::array<std::string_view, Count>& wanted) {
  constexpr std::size_t k_longest_name = 256;
  const auto words = words_of(name.substr(0, k_longest_name));
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

}  // namespace

bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

std::size_t secret(std::string_view text) {
  constexpr std::size_t k_longest = 4096;
  for (const auto& [prefix, least_tail] : k_secret_forms) {
    if (!text.starts_with(prefix)) continue;
    const std::size_t tail = run(text.substr(prefix.size()), k_longest,
                                 [](char c) { return is_word(c) || c == '-' || c == '.' || c == '+' || c == '='; });
    if (tail >= least_tail) return prefix.size() + tail;
  }
  return 0;
}

std::size_t secret_label(std::string_view text) {
  constexpr std::size_t k_longest_name = 64;
  const auto scheme_length = [](std::string_view rest) -> std::size_t {
    for (const std::string_view scheme : {"Bearer ", "Basic "})
      if (rest.starts_with(scheme)) return scheme.size();
    return 0;
  };
  if (const std::size_t scheme = scheme_length(text)) return scheme;
  const std::size_t name = run(text, k_longest_name, [](char c) { return is_word(c) || c == '-'; });
  if (name == 0 || !names_a_secret(text.substr(0, name))) return 0;
  // A placeholder of ours ("secret-12") is no label of the next word.
  constexpr std::string_view k_ours = "secret-";
  if (text.starts_with(k_ours) && parse_integer(text.substr(k_ours.size(), name - k_ours.size()))) return 0;
  // NAME=, NAME:, "NAME": " and 'NAME' : ' of arguments, headers, JSON and Python.
  const auto quote_or_nothing = [&](std::size_t at) {
    return at + (at < text.size() && (text[at] == '"' || text[at] == '\'') ? 1 : 0);
  };
  const auto blank_or_nothing = [&](std::size_t at) { return at + (at < text.size() && text[at] == ' ' ? 1 : 0); };
  std::size_t at = blank_or_nothing(quote_or_nothing(name));
  if (at >= text.size() || (text[at] != '=' && text[at] != ':')) return 0;
  const bool is_path_list = text[at] == ':' && at + 1 < text.size() && (text[at + 1] == ':' || text[at + 1] == '/');
  if (is_path_list) return 0;
  const std::size_t value = quote_or_nothing(blank_or_nothing(at + 1));
  return value + scheme_length(text.substr(std::min(value, text.size())));
}

std::size_t uuid(std::string_view text) {
  constexpr std::array<std::size_t, 5> k_groups{8, 4, 4, 4, 12};
  std::size_t at = 0;
  for (std::size_t group = 0; group < k_groups.size(); ++group) {
    if (group > 0 && (at >= text.size() || (text[at] != '-' && text[at] != '_'))) return 0;
    if (group > 0) ++at;
    if (run(text.substr(std::min(at, text.size())), k_groups[group] + 1, is_hexadecimal) != k_groups[group]) return 0;
    at += k_groups[group];
  }
  return ends_word(text, at) ? at : 0;
}

std::size_t machine_id(std::string_view text) {
  constexpr std::size_t k_length = 32;
  return run(text, k_length + 1, is_hexadecimal) == k_length && ends_word(text, k_length) ? k_length : 0;
}

std::size_t mac(std::string_view text) {
  constexpr std::size_t k_length = 17;
  if (text.size() < k_length || !ends_word(text, k_length)) return 0;
  const char separator = text[2];
  if (separator != ':' && separator != '-') return 0;
  for (std::size_t i = 0; i < k_length; ++i)
    if (i % 3 == 2 ? text[i] != separator : !is_hexadecimal(text[i])) return 0;
  // A longer row of pairs (an InfiniBand GUID, an IPv6 address) is something else.
  return k_length < text.size() && text[k_length] == separator ? 0 : k_length;
}

std::size_t interface_with_mac(std::string_view text) {
  constexpr std::size_t k_prefix = 3, k_digits = 12;
  if (!text.starts_with("enx") && !text.starts_with("wlx") && !text.starts_with("wwx")) return 0;
  const bool is_one = run(text.substr(k_prefix), k_digits + 1, is_hexadecimal) == k_digits;
  return is_one && ends_word(text, k_prefix + k_digits) ? k_prefix + k_digits : 0;
}

std::size_t ipv4(std::string_view text) {
  std::size_t at = 0;
  int first = 0;
  for (int octet = 0; octet < 4; ++octet) {
    if (octet > 0 && (at >= text.size() || text[at] != '.')) return 0;
    if (octet > 0) ++at;
    const std::string_view rest = text.substr(std::min(at, text.size()));
    const std::size_t length = run(rest, 4, is_digit);
    // A leading zero is how versions are written (13.0.2.006), not addresses.
    if (length == 0 || length > 3 || (length > 1 && rest[0] == '0')) return 0;
    const auto number = parse_integer(rest.substr(0, length));
    if (!number || *number > 255) return 0;
    if (octet == 0) first = static_cast<int>(*number);
    at += length;
  }
  const bool goes_on =
      at < text.size() && (is_word(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1])));
  if (goes_on || first == 0 || first == 127 || first == 255) return 0;
  return at;
}

std::size_t ipv6(std::string_view text) {
  constexpr std::size_t k_longest = 45, k_groups = 8;
  const std::size_t length = run(text, k_longest, [](char c) { return is_hexadecimal(c) || c == ':'; });
  std::string_view address = text.substr(0, length);
  if (address.ends_with(':') && !address.ends_with("::")) address.remove_suffix(1);
  if (!ends_word(text, length)) return 0;
  const std::size_t gap = address.find("::");
  if (gap != std::string_view::npos && address.find("::", gap + 1) != std::string_view::npos) return 0;
  std::vector<std::string_view> groups;
  for (const std::string_view group : split(address, ':')) {
    if (group.size() > 4) return 0;
    if (!group.empty()) groups.push_back(group);
  }
  if (gap == std::string_view::npos) {
    const bool loopback = address == "0:0:0:0:0:0:0:1" || address == "0:0:0:0:0:0:0:0";
    return groups.size() == k_groups && !loopback ? address.size() : 0;
  }
  return groups.size() < k_groups && starts_as_in_use(groups, gap) ? address.size() : 0;
}

std::size_t mail(std::string_view text) {
  constexpr std::size_t k_longest_part = 64, k_longest_domain = 190;
  const std::size_t local =
      run(text, k_longest_part, [](char c) { return is_word(c) || c == '.' || c == '+' || c == '-'; });
  if (local == 0 || local >= text.size() || text[local] != '@') return 0;
  std::string_view domain = text.substr(local + 1);
  domain = domain.substr(0, run(domain, k_longest_domain, [](char c) { return is_word(c) || c == '.' || c == '-'; }));
  while (domain.ends_with('.')) domain.remove_suffix(1);
  const std::size_t dot = domain.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return 0;
  const std::string_view top = domain.substr(dot + 1);
  constexpr std::array<std::string_view, 9> k_units{"service", "slice",  "scope",  "socket", "timer",
                                                    "mount",   "target", "device", "path"};
  if (top.size() < 2 || !std::all_of(top.begin(), top.end(), is_letter)) return 0;
  if (std::find(k_units.begin(), k_units.end(), top) != k_units.end()) return 0;
  return local + 1 + domain.size();
}

std::size_t local_host(std::string_view text) {
  constexpr std::size_t k_longest_name = 253;
  const std::size_t length = run(text, k_longest_name, [](char c) { return is_word(c) || c == '.' || c == '-'; });
  const std::string_view name = text.substr(0, length);
  for (const std::string_view end : {".local", ".lan", ".internal", ".localdomain", ".home.arpa", ".corp", ".intranet"})
    if (name.ends_with(end) && name.size() > end.size() && name.front() != '.') return length;
  return 0;
}

std::optional<UrlParts> url(std::string_view text) {
  constexpr std::size_t k_longest_scheme = 16, k_longest_authority = 512;
  const std::size_t scheme =
      run(text, k_longest_scheme, [](char c) { return is_letter(c) || is_digit(c) || c == '+'; });
  if (scheme == 0 || !text.substr(scheme).starts_with("://")) return std::nullopt;
  UrlParts parts;
  parts.authority = scheme + 3;
  const std::string_view rest = text.substr(parts.authority);
  const std::size_t length = run(rest, k_longest_authority, [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '/' && c != '?' && c != '#' && c != '"' && c != '\'' && c != ',';
  });
  const std::size_t at = rest.substr(0, length).rfind('@');
  parts.host = parts.authority + (at == std::string_view::npos ? 0 : at + 1);
  const std::string_view host = text.substr(parts.host, parts.authority + length - parts.host);
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  parts.host_length = bracket != std::string_view::npos ? bracket + 1 : std::min(host.find(':'), host.size());
  return parts;
}

bool names_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 22> k_words{
      "sig",     "signature", "sas",    "pw",         "token", "key",          "apikey",      "secret",
      "secrets", "password",  "passwd", "passphrase", "pass",  "credential",   "credentials", "auth",
      "bearer",  "pat",       "pwd",    "cookie",     "jwt",   "authorization"};
  return has_word(name, k_words);
}

bool names_a_host(std::string_view name) {
  constexpr std::array<std::string_view, 12> k_words{"host",      "hosts", "hostname", "addr",   "address", "endpoint",
                                                     "endpoints", "ip",    "server",   "master", "node",    "nodelist"};
  return has_word(name, k_words);
}

}  // namespace sparkops::store::patterns
