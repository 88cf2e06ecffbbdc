#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sparkops::store::patterns {

// Each function looks at the start of `text` only and gives the length of what it recognises there, 0 for nothing.
// None looks further than a fixed number of bytes, so that scanning a text with all of them takes linear time.

/// A character of a word: letter, digit or underscore.
[[nodiscard]] bool is_word(char c);

/// A credential known by its form: hf_…, sk-…, nvapi-…, ghp_…, a JSON web token and the like.
[[nodiscard]] std::size_t secret(std::string_view text);
/// What stands in front of a secret: "token=", "password=" …, or "Bearer ".
[[nodiscard]] std::size_t secret_label(std::string_view text);
/// 8-4-4-4-12 hexadecimal digits, also with underscores as cgroups write it.
[[nodiscard]] std::size_t uuid(std::string_view text);
/// Exactly 32 hexadecimal digits: a machine id.
[[nodiscard]] std::size_t machine_id(std::string_view text);
/// Six pairs of hexadecimal digits with ':' or '-' between.
[[nodiscard]] std::size_t mac(std::string_view text);
/// An interface name that holds a MAC address: enx, wlx or wwx and 12 hexadecimal digits.
[[nodiscard]] std::size_t interface_with_mac(std::string_view text);
/// A dotted quad that is the address of somebody: not 127.*, 0.*, 255.*, nor a netmask.
[[nodiscard]] std::size_t ipv4(std::string_view text);
/// An IPv6 address that somebody can have: eight groups, or fewer around "::" that begin with a block in use. Not ::,
/// ::1, nor what only looks like one: "0::/init.scope", "12:34:56", "0000:01:00.0", "c10::add".
[[nodiscard]] std::size_t ipv6(std::string_view text);
/// local@domain.tld; names of systemd units with an @ are none.
[[nodiscard]] std::size_t mail(std::string_view text);
/// name.local, name.lan, name.internal and the like.
[[nodiscard]] std::size_t local_host(std::string_view text);

/// Where in a URL its parts lie, for "scheme://user:password@host:port/…" at the start of `text`.
struct UrlParts {
  std::size_t authority = 0;    ///< after "://"
  std::size_t host = 0;         ///< after the '@', or the same as authority
  std::size_t host_length = 0;  ///< without port
};
[[nodiscard]] std::optional<UrlParts> url(std::string_view text);

/// Whether the name of a variable, option or key says that its value is secret: it has one of the words token, key,
/// secret, password, credential, auth … between '_', '-', '.' and changes of case.
[[nodiscard]] bool names_a_secret(std::string_view name);
/// Whether it says that its value is a host or an address.
[[nodiscard]] bool names_a_host(std::string_view name);

}  // namespace sparkops::store::patterns
