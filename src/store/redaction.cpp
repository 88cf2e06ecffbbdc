#include "store/redaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "store/redaction_patterns.h"

namespace sparkops::store {

namespace {

/// User and host names that are also words of the files that are captured.
bool is_common_word(std::string_view name) {
  constexpr std::array<std::string_view, 22> k_words{
      "root", "nvidia", "ubuntu",  "debian", "dgx", "spark", "user", "admin",  "test",  "docker", "localhost",
      "home", "python", "python3", "cuda",   "gpu", "train", "vllm", "ollama", "linux", "host",   "nobody"};
  constexpr std::size_t k_shortest = 3;  // two letters are in too many words and paths
  return name.size() < k_shortest || std::find(k_words.begin(), k_words.end(), to_lower(name)) != k_words.end();
}

void add_name(std::vector<std::string>& names, std::string_view name) {
  if (!is_common_word(name) && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

/// Whether a name is one of our own placeholders: prefix and digits.
bool is_placeholder(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  return name.substr(prefix.size()).find_first_not_of("0123456789") == std::string_view::npos;
}

/// The n-th address of the blocks that RFC 5737 sets aside for documentation, then of the reserved block 240/4.
std::string documentation_ipv4(std::int64_t number) {
  constexpr std::int64_t k_per_block = 254;
  constexpr std::array<std::string_view, 3> k_blocks{"192.0.2", "198.51.100", "203.0.113"};
  const std::int64_t block = (number - 1) / k_per_block;
  const std::int64_t host = (number - 1) % k_per_block + 1;
  if (block < static_cast<std::int64_t>(k_blocks.size()))
    return fmt::format("{}.{}", k_blocks[static_cast<std::size_t>(block)], host);
  return fmt::format("240.{}.{}.{}", (block / 256) % 256, block % 256, host);
}

bool is_documentation_ipv4(std::string_view address) {
  return address.starts_with("192.0.2.") || address.starts_with("198.51.100.") || address.starts_with("203.0.113.") ||
         address.starts_with("240.");
}

constexpr std::string_view k_mac_prefix = "020000";  // of our own placeholders: a locally administered address
constexpr std::string_view k_uuid_prefix = "00000000-0000-4000-8000-";

}  // namespace

PrivateNames read_private_names(const Root& root) {
  PrivateNames names;
  constexpr std::int64_t k_first_person = 1000, k_nobody = 65534;
  constexpr std::size_t k_user_columns = 4;
  if (const auto users = root.read("etc/passwd")) {
    for (const std::string_view line : split_lines(*users)) {
      const auto columns = split(line, ':');
      const auto id = columns.size() < k_user_columns ? std::nullopt : parse_integer(columns[2]);
      if (id && *id >= k_first_person && *id != k_nobody) add_name(names.users, columns[0]);
    }
  }
  if (const auto homes = root.list("home"))
    for (const DirectoryEntry& home : *homes) add_name(names.users, home.name);
  for (const char* const path : {"proc/sys/kernel/hostname", "etc/hostname"}) {
    const auto host = root.read(path);
    if (!host) continue;
    const std::string_view name = trim(*host);
    add_name(names.hosts, name);
    add_name(names.hosts, name.substr(0, name.find('.')));
  }
  // The longer first, so that a full name is not replaced by its first label.
  const auto longer = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  };
  std::sort(names.hosts.begin(), names.hosts.end(), longer);
  std::sort(names.users.begin(), names.users.end(), longer);
  return names;
}

std::string Redactor::placeholder(Kind kind, std::string_view value) {
  auto& seen = seen_[kind];
  const auto next = static_cast<std::int64_t>(seen.size()) + 1;
  const std::int64_t number = seen.emplace(value, next).first->second;
  switch (kind) {
    case Kind::user: return fmt::format("user{}", number);
    case Kind::host: return fmt::format("host{}", number);
    case Kind::mail: return fmt::format("mail{}@example.invalid", number);
    case Kind::ipv4: return documentation_ipv4(number);
    case Kind::ipv6:
      return fmt::format("{}::{:x}", to_lower(value.substr(0, 4)) == "fe80" ? "fe80" : "2001:db8", number);
    case Kind::mac:
      return fmt::format("02:00:00:{:02x}:{:02x}:{:02x}", (number >> 16) & 255, (number >> 8) & 255, number & 255);
    case Kind::uuid: return fmt::format("{}{:012x}", k_uuid_prefix, number);
    case Kind::serial: return fmt::format("serial-{}", number);
    case Kind::secret: return fmt::format("secret-{}", number);
  }
  return "redacted";
}

std::map<std::string, std::int64_t> Redactor::counts() const {
  constexpr std::array<std::pair<Kind, const char*>, 9> k_names{{{Kind::user, "user names"},
                                                                 {Kind::host, "host names"},
                                                                 {Kind::mail, "mail addresses"},
                                                                 {Kind::ipv4, "IPv4 addresses"},
                                                                 {Kind::ipv6, "IPv6 addresses"},
                                                                 {Kind::mac, "MAC addresses"},
                                                                 {Kind::uuid, "UUIDs and machine ids"},
                                                                 {Kind::serial, "serial numbers"},
                                                                 {Kind::secret, "secrets"}}};
  std::map<std::string, std::int64_t> counts;
  for (const auto& [kind, name] : k_names) {
    const auto found = seen_.find(kind);
    counts[name] = found == seen_.end() ? 0 : static_cast<std::int64_t>(found->second.size());
  }
  return counts;
}

std::size_t Redactor::replace_address(std::string_view rest, std::string& out) {
  if (const std::size_t length = patterns::mac(rest)) {
    std::string value = to_lower(rest.substr(0, length));
    std::erase_if(value, [](char c) { return c == ':' || c == '-'; });
    out += value.starts_with(k_mac_prefix) ? rest.substr(0, length) : placeholder(Kind::mac, value);
    return length;
  }
  if (const std::size_t length = patterns::interface_with_mac(rest)) {
    constexpr std::size_t k_prefix = 3;
    const std::string value = to_lower(rest.substr(k_prefix, length - k_prefix));
    // Still a name of this kind, and stable: enx020000000001.
    std::string mac = value.starts_with(k_mac_prefix) ? value : placeholder(Kind::mac, value);
    std::erase(mac, ':');
    out += std::string(rest.substr(0, k_prefix)) + mac;
    return length;
  }
  if (const std::size_t length = patterns::ipv4(rest)) {
    const std::string_view value = rest.substr(0, length);
    out += is_documentation_ipv4(value) ? std::string(value) : placeholder(Kind::ipv4, value);
    return length;
  }
  if (const std::size_t length = patterns::ipv6(rest)) {
    const std::string_view value = rest.substr(0, length);
    // Placeholders are short: fe80::2 or 2001:db8::2, which no machine has by itself.
    const bool ours = (value.starts_with("fe80::") && value.size() <= 10) || value.starts_with("2001:db8::");
    out += ours ? std::string(value) : placeholder(Kind::ipv6, value);
    return length;
  }
  return 0;
}

std::size_t Redactor::replace_url(std::string_view rest, std::string& out) {
  const auto parts = patterns::url(rest);
  if (!parts) return 0;
  constexpr std::size_t k_separator = 3;  // "://"
  const std::string_view scheme = rest.substr(0, parts->authority - k_separator);
  if (replace_name(scheme, out) == 0) out += scheme;
  out += "://";
  if (parts->host > parts->authority) {
    const std::string_view credentials = rest.substr(parts->authority, parts->host - parts->authority - 1);
    out += is_placeholder(credentials, "secret-") ? std::string(credentials) : placeholder(Kind::secret, credentials);
    out += '@';
  }
  out += host_value(rest.substr(parts->host, parts->host_length));
  return parts->host + parts->host_length;
}

std::size_t Redactor::replace_home(std::string_view rest, std::string& out) {
  for (const std::string_view homes : {"/home/", "/Users/"}) {
    if (!rest.starts_with(homes)) continue;
    constexpr std::string_view k_ends("/ \t\n:;,=\"'\0", 11);
    const std::string_view tail = rest.substr(homes.size());
    const std::string_view name = tail.substr(0, tail.find_first_of(k_ends));
    if (name.empty()) return 0;
    out += homes;
    out += is_placeholder(name, "user") ? std::string(name) : placeholder(Kind::user, name);
    return homes.size() + name.size();
  }
  return 0;
}

std::size_t Redactor::replace_name(std::string_view rest, std::string& out) {
  const auto starts_with_word = [&](const std::string& name) {
    return rest.starts_with(name) && (rest.size() == name.size() || !patterns::is_word(rest[name.size()]));
  };
  for (const auto& [names, kind] : {std::pair{&names_.hosts, Kind::host}, std::pair{&names_.users, Kind::user}})
    for (const std::string& name : *names)
      if (starts_with_word(name)) {
        out += placeholder(kind, name);
        return name.size();
      }
  return 0;
}

std::size_t Redactor::replace_secret(std::string_view rest, std::string& out) {
  if (const std::size_t length = patterns::secret(rest)) {
    out += placeholder(Kind::secret, rest.substr(0, length));
    return length;
  }
  const std::size_t label = patterns::secret_label(rest);
  if (label == 0) return 0;
  constexpr std::string_view k_ends(" \t\n&,;\"')}]\0", 12);
  const std::string_view tail = rest.substr(label);
  const std::string_view content = tail.substr(0, tail.find_first_of(k_ends));
  if (content.empty()) return 0;
  out += text(rest.substr(0, label));  // there may be a name in it
  out += is_placeholder(content, "secret-") ? std::string(content) : placeholder(Kind::secret, content);
  return label + content.size();
}

std::size_t Redactor::replace_here(std::string_view rest, Names names, std::string& out) {
  if (const std::size_t length = replace_secret(rest, out)) return length;
  if (const std::size_t length = replace_url(rest, out)) return length;
  if (const std::size_t length = patterns::uuid(rest)) {
    const std::string value = to_lower(rest.substr(0, length));
    out += value.starts_with(k_uuid_prefix) ? value : placeholder(Kind::uuid, value);
    return length;
  }
  if (const std::size_t length = patterns::machine_id(rest)) {
    const std::string value = to_lower(rest.substr(0, length));
    std::string stand_in = value.starts_with("0000000000004000") ? value : placeholder(Kind::uuid, value);
    std::erase(stand_in, '-');
    out += stand_in;
    return length;
  }
  if (const std::size_t length = patterns::mail(rest)) {
    const std::string_view value = rest.substr(0, length);
    const bool ours = value.ends_with("@example.invalid") && is_placeholder(value.substr(0, value.find('@')), "mail");
    out += ours ? std::string(value) : placeholder(Kind::mail, value);
    return length;
  }
  if (const std::size_t length = replace_address(rest, out)) return length;
  if (const std::size_t length = patterns::local_host(rest)) {
    out += placeholder(Kind::host, rest.substr(0, length));
    return length;
  }
  return names == Names::replaced ? replace_name(rest, out) : 0;
}

std::string Redactor::text(std::string_view text) {
  return scan(text, Names::replaced);
}

std::string Redactor::path(std::string_view path) {
  // In "nvidia_cublas-13.1.0.3.dist-info" and "libcublas.so.13.1.0.3" four numbers are a version and no address.
  for (const std::string_view metadata : {".dist-info", ".egg-info", ".so."}) {
    const std::size_t found = path.find(metadata);
    if (found == std::string_view::npos) continue;
    const std::size_t before = path.rfind('/', found);
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(path.find('/', found), path.size());
    return this->path(path.substr(0, start)) + std::string(path.substr(start, end - start)) +
           this->path(path.substr(end));
  }
  if (path.starts_with('/')) return scan(path, Names::kept);
  // One that is relative to the root of the machine: "home/…" names a person as "/home/…" does.
  return scan("/" + std::string(path), Names::kept).substr(1);
}

std::string Redactor::scan(std::string_view text, Names names) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t taken = rest[0] == '/' ? replace_home(rest, out) : 0;
    // Things begin where a word does; an IPv6 address may begin with its colons.
    const bool starts_word = at == 0 || !patterns::is_word(text[at - 1]);
    if (taken == 0 && starts_word && (patterns::is_word(rest[0]) || rest[0] == ':'))
      taken = replace_here(rest, names, out);
    if (taken == 0) {
      out += rest[0];
      taken = 1;
    }
    at += taken;
  }
  return out;
}

std::string Redactor::host_value(std::string_view value) {
  if (value.empty() || value == "localhost" || value == "*" || is_placeholder(value, "host")) return std::string(value);
  const std::size_t colon = value.find(':');
  const bool has_port = colon != std::string_view::npos && value.find(':', colon + 1) == std::string_view::npos;
  if (has_port && parse_integer(value.substr(colon + 1)))
    return host_value(value.substr(0, colon)) + std::string(value.substr(colon));
  // Addresses have placeholders of their own; what is no address and no number is the name of a host.
  const std::string as_text = text(value);
  if (as_text != value || value.starts_with('[')) return as_text;
  const bool number_or_address = value.find_first_not_of("0123456789.:") == std::string_view::npos;
  const bool words_of_ours = value.find_first_of("/= ,") != std::string_view::npos;
  if (number_or_address || words_of_ours || !patterns::is_word(value[0])) return as_text;
  return placeholder(Kind::host, value);
}

std::string Redactor::value(std::string_view name, std::string_view value) {
  constexpr std::size_t k_longest_harmless = 6;  // a limit or an id, not a credential
  const bool small_number = value.size() <= k_longest_harmless && parse_integer(value).has_value();
  if (value.empty() || small_number) return std::string(value);
  const std::string lower = to_lower(name);
  if (patterns::names_a_secret(name))
    return is_placeholder(value, "secret-") ? std::string(value) : placeholder(Kind::secret, value);
  if (contains(lower, "serial") && !contains(lower, "serialize"))
    return is_placeholder(value, "serial-") ? std::string(value) : serial(value);
  if (lower == "user" || lower == "username" || lower == "login" || lower == "logname")
    return is_placeholder(value, "user") ? std::string(value) : placeholder(Kind::user, value);
  if (patterns::names_a_host(name)) return host_value(value);
  return text(value);
}

std::string Redactor::route_address(std::string_view hexadecimal) {
  const auto number = parse_hexadecimal(hexadecimal);
  constexpr std::size_t k_digits = 8;
  if (hexadecimal.size() != k_digits || !number || *number == 0) return std::string(hexadecimal);
  const auto octet = [&](unsigned index) { return (*number >> (8 * index)) & 255U; };
  const std::string dotted = fmt::format("{}.{}.{}.{}", octet(0), octet(1), octet(2), octet(3));
  const std::string redacted = text(dotted);
  std::string result;
  for (const std::string_view part : split(redacted, '.'))
    result.insert(0, fmt::format("{:02X}", parse_integer(part).value_or(0)));
  return result;
}

std::string Redactor::ipv6_address(std::string_view hexadecimal) {
  constexpr std::size_t k_digits = 32;
  constexpr std::string_view k_loopback = "00000000000000000000000000000001";
  if (hexadecimal.size() != k_digits || hexadecimal == k_loopback) return std::string(hexadecimal);
  constexpr std::string_view k_stand_in = "20010db8", k_link_local = "fe80";
  constexpr std::string_view k_zeros = "0000000000000000";
  if (hexadecimal.substr(k_stand_in.size()).starts_with(k_zeros)) return std::string(hexadecimal);  // one of ours
  const bool link_local = hexadecimal.starts_with(k_link_local);
  (void)placeholder(Kind::ipv6, hexadecimal);
  const std::int64_t number = seen_[Kind::ipv6].find(hexadecimal)->second;
  return fmt::format("{}{:08x}", std::string(link_local ? "fe800000" : k_stand_in) + std::string(k_zeros), number);
}

}  // namespace sparkops::store
