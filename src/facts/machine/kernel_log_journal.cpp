#include "facts/machine/kernel_log_journal.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "facts/machine/kernel_log_lines.h"

namespace sparkops::facts {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t k_most_files = 8;
constexpr std::size_t k_most_entries_of_a_boot = 20'000;
constexpr std::chrono::milliseconds k_longest_reading{1500};

/// The few functions of libsystemd that are used, declared here because the library is loaded and not linked. Their
/// prototypes are part of its stable interface (sd-journal.h).
struct SystemdJournal;
struct BootId {
  std::array<unsigned char, 16> bytes{};
  friend bool operator==(const BootId&, const BootId&) = default;
};
struct JournalFunctions {
  int (*open_files)(SystemdJournal**, const char**, int) = nullptr;
  void (*close)(SystemdJournal*) = nullptr;
  int (*add_match)(SystemdJournal*, const void*, std::size_t) = nullptr;
  void (*flush_matches)(SystemdJournal*) = nullptr;
  int (*seek_head)(SystemdJournal*) = nullptr;
  int (*seek_tail)(SystemdJournal*) = nullptr;
  int (*seek_realtime)(SystemdJournal*, std::uint64_t) = nullptr;
  int (*next)(SystemdJournal*) = nullptr;
  int (*previous)(SystemdJournal*) = nullptr;
  int (*get_data)(SystemdJournal*, const char*, const void**, std::size_t*) = nullptr;
  int (*get_realtime)(SystemdJournal*, std::uint64_t*) = nullptr;
  int (*get_monotonic)(SystemdJournal*, std::uint64_t*, BootId*) = nullptr;
  int (*set_data_threshold)(SystemdJournal*, std::size_t) = nullptr;
};

template <class Function>
bool load(void* library, const char* name, Function& function) {
  void* const symbol = ::dlsym(library, name);
  std::memcpy(&function, &symbol, sizeof symbol);
  return symbol != nullptr;
}

Result<JournalFunctions> load_functions() {
  // Never closed: a reading that missed its deadline may still be inside.
  void* const library = ::dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return failure(ErrorKind::unsupported, "journal: libsystemd.so.0 cannot be loaded, so its files cannot be read");
  JournalFunctions f;
  const bool complete =
      load(library, "sd_journal_open_files", f.open_files) && load(library, "sd_journal_close", f.close) &&
      load(library, "sd_journal_add_match", f.add_match) &&
      load(library, "sd_journal_flush_matches", f.flush_matches) &&
      load(library, "sd_journal_seek_head", f.seek_head) && load(library, "sd_journal_seek_tail", f.seek_tail) &&
      load(library, "sd_journal_seek_realtime_usec", f.seek_realtime) && load(library, "sd_journal_next", f.next) &&
      load(library, "sd_journal_previous", f.previous) && load(library, "sd_journal_get_data", f.get_data) &&
      load(library, "sd_journal_get_realtime_usec", f.get_realtime) &&
      load(library, "sd_journal_get_monotonic_usec", f.get_monotonic) &&
      load(library, "sd_journal_set_data_threshold", f.set_data_threshold);
  if (!complete) return failure(ErrorKind::unsupported, "journal: libsystemd.so.0 lacks a function that is needed");
  return f;
}

/// system.journal, its archived parts, and those left behind by a crash (".journal~"); not the users' own journals.
bool is_system_journal(std::string_view name) {
  return name.starts_with("system") && (name.ends_with(".journal") || name.ends_with(".journal~"));
}

struct JournalFile {
  std::string path;  ///< under the root
  Timestamp modified;
};

/// Newest first.
std::vector<JournalFile> find_files(const Root& root) {
  std::vector<JournalFile> files;
  for (const char* const place : {"var/log/journal", "run/log/journal"}) {
    const auto machines = root.list(place);
    if (!machines) continue;
    for (const DirectoryEntry& machine : *machines) {
      const std::string directory = std::string(place) + "/" + machine.name;
      const auto entries = root.list(directory);
      if (!entries) continue;
      for (const DirectoryEntry& entry : *entries) {
        if (entry.kind != FileKind::regular || !is_system_journal(entry.name)) continue;
        const auto status = root.status(directory + "/" + entry.name);
        if (status) files.push_back({directory + "/" + entry.name, status->modified});
      }
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.modified > b.modified; });
  if (files.size() > k_most_files) files.resize(k_most_files);
  return files;
}

/// The path as the system sees it; empty when it would lead out of the root.
std::string system_path(const Root& root, const std::string& path) {
  const auto canonical = [](const std::string& name) {
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(name.c_str(), nullptr), std::free);
    return resolved ? std::string(resolved.get()) : std::string();
  };
  const std::string base = canonical(root.name());
  const std::string file = canonical(root.name() + "/" + path);
  const std::string prefix = base == "/" ? base : base + "/";
  return !base.empty() && file.starts_with(prefix) ? file : std::string();
}

/// The files that may be opened, as the system sees them.
Result<std::vector<std::string>> readable_files(const Root& root) {
  const auto files = find_files(root);
  if (files.empty()) return failure(ErrorKind::not_found, "journal: no journal files");
  std::vector<std::string> readable;
  bool denied = false;
  for (const JournalFile& file : files) {
    if (const auto start = root.read_start(file.path, 1); !start) {
      denied = denied || start.error().kind == ErrorKind::permission_denied;
      continue;
    }
    if (std::string path = system_path(root, file.path); !path.empty()) readable.push_back(std::move(path));
  }
  if (!readable.empty()) return readable;
  if (denied)
    return failure(ErrorKind::permission_denied,
                   "journal: permission denied (membership in group adm or systemd-journal shows it)");
  return failure(ErrorKind::not_found, "journal: no journal files that can be opened");
}

/// One reading of opened journal files.
class Reading {
 public:
  Reading(const JournalFunctions& functions, SystemdJournal* journal)
      : f_(functions), journal_(journal, functions.close), deadline_(Clock::now() + k_longest_reading) {
    // Longer messages are cut: what names an event stands at their beginning.
    constexpr std::size_t k_longest_message = 1024;
    f_.set_data_threshold(journal_.get(), k_longest_message);
  }

  /// The boot of the newest kernel message.
  std::optional<BootId> newest_boot() {
    match_kernel();
    if (f_.seek_tail(journal_.get()) < 0 || f_.previous(journal_.get()) <= 0) return std::nullopt;
    return boot_of_entry();
  }

  /// The boot whose kernel messages end where those of `boot` begin.
  std::optional<BootId> boot_before(const BootId& boot) {
    match_kernel();
    match_boot(boot);
    std::uint64_t begin_us = 0;
    const bool found = f_.seek_head(journal_.get()) >= 0 && f_.next(journal_.get()) > 0 &&
                       f_.get_realtime(journal_.get(), &begin_us) >= 0;
    match_kernel();
    if (found ? f_.seek_realtime(journal_.get(), begin_us) < 0 : f_.seek_tail(journal_.get()) < 0) return std::nullopt;
    // Entries of one instant may belong to either side.
    constexpr int k_most_steps = 64;
    for (int step = 0; step < k_most_steps && f_.previous(journal_.get()) > 0; ++step)
      if (const auto other = boot_of_entry(); other && *other != boot) return other;
    return std::nullopt;
  }

  /// The events of a boot, oldest first; `complete` becomes false when a limit was reached.
  std::vector<KernelEvent> events_of(const BootId& boot, bool& complete) {
    match_kernel();
    match_boot(boot);
    // Nothing of concern is printed as notice, information or debug message.
    for (const char level : {'0', '1', '2', '3', '4'}) match(std::string("PRIORITY=") + level);
    std::vector<std::pair<std::string, Known<Timestamp>>> messages;
    if (f_.seek_tail(journal_.get()) < 0) return {};
    while (f_.previous(journal_.get()) > 0) {
      constexpr std::size_t k_entries_between_looks_at_the_clock = 64;
      const bool late = messages.size() % k_entries_between_looks_at_the_clock == 0 && Clock::now() > deadline_;
      if (late || messages.size() >= k_most_entries_of_a_boot) {
        complete = false;
        break;
      }
      messages.emplace_back(message_of_entry(), time_of_entry());
    }
    KernelEventCollector events;
    for (auto message = messages.rbegin(); message != messages.rend(); ++message)
      events.add(message->first, message->second);
    return events.take();
  }

 private:
  void match(const std::string& condition) { f_.add_match(journal_.get(), condition.data(), condition.size()); }
  void match_kernel() {
    f_.flush_matches(journal_.get());
    match("_TRANSPORT=kernel");
  }
  void match_boot(const BootId& boot) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string condition = "_BOOT_ID=";
    for (const unsigned char byte : boot.bytes) {
      condition += k_digits[byte >> 4U];
      condition += k_digits[byte & 0xfU];
    }
    match(condition);
  }

  std::optional<BootId> boot_of_entry() {
    std::uint64_t monotonic_us = 0;
    BootId boot;
    if (f_.get_monotonic(journal_.get(), &monotonic_us, &boot) < 0) return std::nullopt;
    return boot;
  }

  std::string message_of_entry() {
    const void* data = nullptr;
    std::size_t size = 0;
    constexpr std::string_view k_name = "MESSAGE=";
    if (f_.get_data(journal_.get(), "MESSAGE", &data, &size) < 0 || size < k_name.size()) return {};
    return std::string(static_cast<const char*>(data), size).substr(k_name.size());
  }

  Known<Timestamp> time_of_entry() {
    std::uint64_t time_us = 0;
    if (f_.get_realtime(journal_.get(), &time_us) < 0) return unknown("the journal states no time");
    return as_read(Timestamp{static_cast<std::int64_t>(time_us / 1000)});
  }

  const JournalFunctions& f_;
  std::unique_ptr<SystemdJournal, void (*)(SystemdJournal*)> journal_;
  Clock::time_point deadline_;
};

/// "11111111-2222-…" of proc/sys/kernel/random/boot_id.
std::optional<BootId> boot_id_of(const Root& root) {
  const auto text = root.read("proc/sys/kernel/random/boot_id");
  if (!text) return std::nullopt;
  std::string digits(trim(*text));
  std::erase(digits, '-');
  BootId boot;
  if (digits.size() != 2 * boot.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < boot.bytes.size(); ++i) {
    const auto byte = parse_hexadecimal(std::string_view(digits).substr(2 * i, 2));
    if (!byte) return std::nullopt;
    boot.bytes[i] = static_cast<unsigned char>(*byte);
  }
  return boot;
}

JournalEvents read_boots(Reading& reading, const BootId& current) {
  bool complete = true;
  JournalEvents result;
  result.current = reading.events_of(current, complete);
  result.previous = unknown("the journal does not reach back to the boot before");
  if (const auto before = reading.boot_before(current)) {
    result.previous = as_read(reading.events_of(*before, complete));
    result.covers = "this boot and the one before";
  } else {
    result.covers = "this boot";
  }
  result.covers += complete ? ", warnings and worse" : ", warnings and worse, the newest only";
  return result;
}

}  // namespace

Result<JournalEvents> read_journal(const Root& root) {
  struct stat status{};
  if (::stat(root.name().c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return failure(ErrorKind::not_found, "journal: a capture file holds none");
  const auto files = readable_files(root);
  if (!files) return tl::unexpected(files.error());
  static const Result<JournalFunctions> functions = load_functions();
  if (!functions) return tl::unexpected(functions.error());

  std::vector<const char*> paths;
  for (const std::string& file : *files) paths.push_back(file.c_str());
  paths.push_back(nullptr);
  SystemdJournal* journal = nullptr;
  const int opened = functions->open_files(&journal, paths.data(), 0);
  if (opened < 0)
    return failure(ErrorKind::malformed,
                   system_error("journal: libsystemd refuses " + files->front(), -opened).message);
  Reading reading(*functions, journal);
  auto current = boot_id_of(root);
  if (!current) current = reading.newest_boot();
  if (!current) return failure(ErrorKind::not_found, "journal: no kernel messages in it");
  return read_boots(reading, *current);
}

}  // namespace sparkops::facts
