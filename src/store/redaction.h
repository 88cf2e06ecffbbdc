#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/root.h"

namespace sparkops::store {

/// The names of people and of this machine that must not leave it.
struct PrivateNames {
  std::vector<std::string> users;
  std::vector<std::string> hosts;
};

/// Users of etc/passwd with an id from 1000, owners of directories under home, and the host name with its first label.
/// Words that also mean something else (root, nvidia, ubuntu, spark, localhost …) are left out: as names of users they
/// are still replaced in paths of home directories.
[[nodiscard]] PrivateNames read_private_names(const Root& root);

/// Makes what identifies people, machines and accounts unrecognisable: user names, host names, mail, IP and MAC
/// addresses, UUIDs, machine ids, serial numbers and credentials. The same value becomes the same placeholder
/// everywhere in one capture, so that what belongs together can still be told; another value never does. Redacting a
/// redacted text changes nothing. Not for use by several threads at once.
class Redactor {
 public:
  explicit Redactor(PrivateNames names) : names_(std::move(names)) {}

  /// Free text: log lines, mount options, paths, values of variables.
  [[nodiscard]] std::string text(std::string_view text);

  /// A path of the system, such as that of a file in proc or sys: a component that happens to be somebody's name stays,
  /// because it is a word of the kernel's; addresses, ids and home directories are replaced.
  [[nodiscard]] std::string path(std::string_view path);

  /// The words of a command line (separated and ended by NUL). Values of options that name a secret or a host are
  /// replaced whole, in both forms "--api-key X" and "--api-key=X".
  [[nodiscard]] std::string command_line(std::string_view words);

  /// The variables of an environment block. Those that readers use keep their value (redacted as text), of all others
  /// only the name is left.
  [[nodiscard]] std::string environment(std::string_view block);

  /// The value of something whose name is known: replaced whole when the name says that it is a secret, a host, a user
  /// or a serial number, else redacted as text.
  [[nodiscard]] std::string value(std::string_view name, std::string_view value);

  /// The value of an option: as above, and the credential in what short options hold: -u name:password, -p password.
  [[nodiscard]] std::string option_value(std::string_view option, std::string_view word);
  /// An option with its value in the same word: -uname:password.
  [[nodiscard]] std::string option_word(std::string_view word);

  /// Lines KEY=value or KEY="value", as in etc/dgx-release.
  [[nodiscard]] std::string assignments(std::string_view lines);

  [[nodiscard]] std::string serial(std::string_view serial) { return placeholder(Kind::serial, serial); }

  /// A stable stand-in for an IPv4 address in hexadecimal as proc/net/route writes it (host order of little-endian
  /// machines), and for an IPv6 address of 32 digits as proc/net/if_inet6 does. Zero stays zero.
  [[nodiscard]] std::string route_address(std::string_view hexadecimal);
  [[nodiscard]] std::string ipv6_address(std::string_view hexadecimal);

  /// How many values of each kind were replaced: "user names" → 3.
  [[nodiscard]] std::map<std::string, std::int64_t> counts() const;

 private:
  enum class Kind { user, host, mail, ipv4, ipv6, mac, uuid, serial, secret };

  /// A whole command in one word, as `sh -c` takes it.
  [[nodiscard]] std::string shell_text(std::string_view line);
  enum class Names { replaced, kept };
  [[nodiscard]] std::string scan(std::string_view text, Names names);
  [[nodiscard]] std::string placeholder(Kind kind, std::string_view value);
  /// Replaces what is recognised at the start of `rest` and says how long it was; 0: nothing is.
  std::size_t replace_here(std::string_view rest, Names names, std::string& out);
  std::size_t replace_secret(std::string_view rest, std::string& out);
  std::size_t replace_address(std::string_view rest, std::string& out);
  std::size_t replace_url(std::string_view rest, std::string& out);
  std::size_t replace_home(std::string_view rest, std::string& out);
  std::size_t replace_name(std::string_view rest, std::string& out);
  [[nodiscard]] std::string host_value(std::string_view value);

  PrivateNames names_;
  std::map<Kind, std::map<std::string, std::int64_t, std::less<>>> seen_;
};

}  // namespace sparkops::store
