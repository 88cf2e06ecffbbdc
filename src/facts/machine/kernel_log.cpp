#include "facts/machine/kernel_log.h"

#include "base/text.h"
#include "facts/machine/identity.h"
#include "facts/machine/kernel_log_journal.h"
#include "facts/machine/kernel_log_text.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_log_tail = std::size_t{8} << 20;

/// Only this machine's own zone is at hand; of a capture it is known when the machine says that it keeps UTC.
LogTimeZone time_zone_of(const Root& root) {
  if (root.is_live()) return LogTimeZone::local;
  const auto name = root.read("etc/timezone");
  if (!name) return LogTimeZone::not_known;
  return trim(*name) == "Etc/UTC" || trim(*name) == "UTC" ? LogTimeZone::utc : LogTimeZone::not_known;
}

struct TextLog {
  std::string path;
  TextLogEvents events;
};

/// The first of the two text logs that can be read and holds kernel lines of interest to this boot or the one before.
std::optional<TextLog> read_text_log(const Root& root, std::vector<std::string>& could_not) {
  const Known<Timestamp> boot_time = read_boot_time(root);
  for (const char* const path : {"var/log/kern.log", "var/log/syslog"}) {
    const auto tail = root.read_end(path, k_log_tail);
    const auto status = root.status(path);
    if (!tail || !status) {
      const Error& error = tail ? status.error() : tail.error();
      if (error.kind == ErrorKind::permission_denied)
        could_not.push_back(error.message + " (membership in group adm shows it)");
      else if (error.kind != ErrorKind::not_found)
        could_not.push_back(error.message);
      continue;
    }
    TextLog log{path, parse_log(tail->bytes, status->modified, time_zone_of(root), boot_time)};
    if (log.events.covers_this_boot || log.events.previous) return log;
    could_not.push_back(std::string(path) + ": holds no lines of the kernel");
  }
  return std::nullopt;
}

void take_journal(KernelLog& log, JournalEvents journal) {
  log.source = as_read("journal (" + journal.covers + ")");
  log.current = std::move(journal.current);
  log.previous = std::move(journal.previous);
}

void take_text_log(KernelLog& log, TextLog text) {
  if (!text.events.covers_this_boot) {
    log.could_not.push_back(text.path + ": ends before this boot began");
    log.source = as_read(text.path + " (the boot before)");
  } else {
    log.source = as_read(text.path + (text.events.previous ? " (this boot and the one before)" : " (this boot)"));
  }
  log.current = std::move(text.events.current);
  log.previous = std::move(text.events.previous);
}

/// The ring buffer that a capture keeps.
bool take_captured_ring_buffer(const Root& root, KernelLog& log) {
  if (root.is_live()) {
    log.could_not.emplace_back("the kernel's ring buffer is a device and not read here: `sudo dmesg` shows it");
    return false;
  }
  const auto text = root.read_end("sparkops/dmesg", k_log_tail);
  if (!text) return false;
  log.source = as_read(std::string("dmesg (this boot, as far as the ring buffer reached back)"));
  log.current = parse_ring_buffer(text->bytes, read_boot_time(root));
  log.previous = unknown("the ring buffer holds only the boot it was read in");
  return true;
}

}  // namespace

KernelLog read_kernel_log(const Root& root) {
  KernelLog log;
  log.previous = unknown("no log of the boot before can be read");
  if (auto journal = read_journal(root)) {
    take_journal(log, std::move(*journal));
  } else if (journal.error().kind != ErrorKind::not_found) {
    log.could_not.push_back(journal.error().message);
  }
  // A journal often lacks the minutes before a crash or the boot before altogether; the text log may have them.
  if (log.source && log.previous) return log;
  auto text = read_text_log(root, log.could_not);
  if (log.source) {
    if (text && text->events.previous) {
      log.previous = std::move(text->events.previous);
      log.source = as_read(*log.source + ", " + text->path + " (the boot before)");
    }
    return log;
  }
  if (text)
    take_text_log(log, std::move(*text));
  else if (!take_captured_ring_buffer(root, log))
    log.source = unknown("no kernel log can be read" + (log.could_not.empty() ? "" : ": " + join(log.could_not, "; ")));
  return log;
}

}  // namespace sparkops::facts
