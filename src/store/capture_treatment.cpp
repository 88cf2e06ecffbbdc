#include "store/capture_treatment.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/text.h"

namespace sparkops::store {

namespace {

template <class Keep>
std::string lines_that(std::string_view content, Keep keep) {
  std::string out;
  for (const std::string_view line : split_lines(content))
    if (keep(line)) out.append(line).append("\n");
  return out;
}

/// The program of a command line, with its NUL; of one that was rewritten into a single word, the words' first.
std::string_view first_word(std::string_view content) {
  const std::size_t end = content.find_first_of(std::string_view("\0 ", 2));
  return content.substr(0, end == std::string_view::npos || content[end] == ' ' ? end : end + 1);
}

/// "CPU …: value" lines; some arm64 boards print the serial number of the machine.
std::string without_serials(std::string_view content) {
  return lines_that(content, [](std::string_view line) { return !to_lower(line).starts_with("serial"); });
}

std::string without_interrupts(std::string_view content) {
  return lines_that(content,
                    [](std::string_view line) { return !line.starts_with("intr ") && !line.starts_with("softirq "); });
}

/// The mounts that say something about the machine; where people keep their data is left out.
std::string system_mounts(std::string_view content, Redactor& redactor) {
  // Below the root, without the leading slash.
  constexpr std::array<std::string_view, 8> k_mount_points{"",    "proc", "sys", "sys/fs/cgroup",
                                                           "dev", "run",  "tmp", "dev/shm"};
  return redactor.text(lines_that(content, [&](std::string_view line) {
    const auto words = split_words(line);
    return words.size() > 2 && words[1].starts_with('/') &&
           std::find(k_mount_points.begin(), k_mount_points.end(), words[1].substr(1)) != k_mount_points.end();
  }));
}

/// Tab-separated columns; destination, gateway and mask are the second, third and eighth. The mask is no address.
std::string redacted_routes(std::string_view content, Redactor& redactor) {
  std::string out;
  bool heading = true;
  for (const std::string_view line : split_lines(content)) {
    std::vector<std::string> columns;
    for (const std::string_view column : split(line, '\t')) columns.emplace_back(trim(column));
    if (!heading)
      for (const std::size_t address : {1U, 2U})
        if (address < columns.size()) columns[address] = redactor.route_address(columns[address]);
    if (!columns.empty()) columns[0] = redactor.text(columns[0]);
    heading = false;
    out += join(columns, "\t") + "\n";
  }
  return out;
}

std::string redacted_ipv6(std::string_view content, Redactor& redactor) {
  std::string out;
  for (const std::string_view line : split_lines(content)) {
    std::vector<std::string> words;
    for (const std::string_view word : split_words(line)) words.emplace_back(word);
    if (words.size() < 2) continue;
    words.front() = redactor.ipv6_address(words.front());
    words.back() = redactor.text(words.back());
    out += join(words, " ") + "\n";
  }
  return out;
}

/// struct utmp of glibc (bits/utmp.h): type at 0, and from the end of the 336 common bytes a session, two times and an
/// address, of 48 bytes with 32-bit times (x86-64) or 64 with 64-bit ones (aarch64).
constexpr std::size_t k_record_with_32_bit_times = 384, k_record_with_64_bit_times = 400;
constexpr std::size_t k_names = 4;  // from here: pid, line, id, user, host, exit
constexpr std::size_t k_common_end = 336;

bool fits(std::string_view content, std::size_t record_size) {
  if (content.empty() || content.size() % record_size != 0) return false;
  for (std::size_t at = 0; at < content.size(); at += record_size) {
    std::int16_t type = 0;
    std::memcpy(&type, content.data() + at, sizeof type);
    constexpr std::int16_t k_largest_type = 9;
    if (type < 0 || type > k_largest_type) return false;
  }
  return true;
}

/// Of a boot, shutdown or run level everything is kept but the address; of any other record its type and time.
std::string scrubbed_logins(std::string_view content) {
  // Several times what the reader of boots needs, and no more of the past than that.
  constexpr std::size_t k_most_records = 400;
  const bool wide = fits(content, k_record_with_64_bit_times);
  if (!wide && !fits(content, k_record_with_32_bit_times)) return "";
  const std::size_t size = wide ? k_record_with_64_bit_times : k_record_with_32_bit_times;
  if (content.size() > k_most_records * size) content = content.substr(content.size() - k_most_records * size);
  std::string out(content);
  for (std::size_t at = 0; at < out.size(); at += size) {
    std::int16_t type = 0;
    std::memcpy(&type, out.data() + at, sizeof type);
    constexpr std::int16_t k_run_level = 1, k_boot = 2;
    const std::size_t session = at + k_common_end;
    const std::size_t times = session + (wide ? 8 : 4), address = times + (wide ? 16 : 8);
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(address), out.begin() + static_cast<std::ptrdiff_t>(at + size),
              '\0');
    if (type == k_run_level || type == k_boot) continue;
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(at + k_names), out.begin() + static_cast<std::ptrdiff_t>(times),
              '\0');
  }
  return out;
}

/// Of the core metadata of a package the fields that readers use; authors and descriptions are none of them.
std::string package_headers(std::string_view content, Redactor& redactor) {
  std::string out;
  for (const std::string_view line : split_lines(content)) {
    if (trim(line).empty()) break;
    for (const std::string_view field :
         {"Metadata-Version:", "Name:", "Version:", "Requires-Dist:", "Requires:", "Provides-Extra:"})
      if (line.starts_with(field)) {
        // Versions of four numbers look like addresses; only an address in a requirement may hold a name.
        const bool has_address = contains(line, "@");
        out += (has_address ? redactor.text(line) : std::string(line)) + "\n";
      }
  }
  return out + "\n";
}

}  // namespace

std::string treated(Treatment treatment, std::string_view content, Redactor& redactor) {
  switch (treatment) {
    case Treatment::plain: return std::string(content);
    case Treatment::text: return redactor.text(content);
    case Treatment::assignments: return redactor.assignments(content);
    case Treatment::command_line: return redactor.command_line(content);
    case Treatment::first_word: return redactor.text(first_word(content));
    case Treatment::environment: return redactor.environment(content);
    case Treatment::processors: return without_serials(content);
    case Treatment::statistics: return without_interrupts(content);
    case Treatment::mounts: return system_mounts(content, redactor);
    case Treatment::routes: return redacted_routes(content, redactor);
    case Treatment::ipv6: return redacted_ipv6(content, redactor);
    case Treatment::logins: return scrubbed_logins(content);
    case Treatment::package_headers: return package_headers(content, redactor);
    case Treatment::link:
    case Treatment::magic_link: break;
  }
  return redactor.text(content);
}

}  // namespace sparkops::store
