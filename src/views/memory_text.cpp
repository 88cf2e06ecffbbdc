#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "views/memory.h"

namespace sparkops::views {

namespace {

using verdicts::MemoryPicture;
using verdicts::PoolHolder;

/// The text is made for 80 columns also where it goes to a pipe: it is a table.
constexpr std::size_t k_width = 80;
constexpr std::size_t k_bar_columns = 76;
constexpr std::size_t k_label_columns = 40;
constexpr std::size_t k_holders_shown = 8;
constexpr std::size_t k_files_shown = 5;

/// One part of the pool: its letter in the bar and its row in the table.
struct Part {
  char letter;
  const char* label;
  const Known<Bytes>* bytes;
};

std::array<Part, 10> parts_of(const MemoryPicture& picture, const Known<Bytes>& free) {
  const verdicts::PoolAttribution& pool = picture.pool;
  return {{{'G', "GPU, by process (NVML)", &pool.gpu},
           {'a', "anonymous (programs' own memory)", &pool.anonymous},
           {'s', "shared memory and tmpfs", &pool.shared},
           {'h', "huge pages set aside", &pool.huge_pages},
           {'k', "kernel (slab, page tables, stacks)", &pool.kernel},
           {'?', "unexplained (used, but nobody's)", &pool.unexplained},
           {'w', "pages that are in swap as well", &pool.swap_cache},
           {'m', "mapped file pages", &pool.mapped_files},
           {'=', "page cache a flush gives back", &pool.flush_gives},
           {'.', "free", &free}}};
}

std::string size_or_unknown(const Known<Bytes>& bytes) {
  return bytes ? format_size(*bytes) : "unknown";
}

/// The columns of each part: by its share, largest remainders first, so that they add up to no more than the bar.
std::string bar(const std::array<Part, 10>& parts, const Known<Bytes>& total) {
  if (!total || total->value <= 0) return "";
  std::string text;
  double exact = 0;
  for (const Part& part : parts) {
    if (!*part.bytes || (*part.bytes)->value <= 0) continue;
    exact += static_cast<double>((*part.bytes)->value) / static_cast<double>(total->value) * k_bar_columns;
    const auto end = static_cast<std::size_t>(std::clamp(std::lround(exact), 0L, static_cast<long>(k_bar_columns)));
    if (end > text.size()) text.append(end - text.size(), part.letter);
  }
  // What could not be told is left blank rather than given to somebody.
  text.resize(k_bar_columns, ' ');
  return "[" + text + "]\n";
}

std::string row(char letter, const char* label, const Known<Bytes>& bytes) {
  const std::string line = fmt::format("  {} {:<{}}{:>10}", letter, label, k_label_columns, size_or_unknown(bytes));
  return bytes ? line + "\n" : wrap(line + " ", "(" + printable(bytes.reason()) + ")", k_width) + "\n";
}

std::string pool_text(const MemoryPicture& picture) {
  const bool known = picture.budget.known();
  const Unknown why = known ? unknown("") : picture.budget.as_unknown();
  const Known<Bytes> total = known ? picture.budget->total : Known<Bytes>(why);
  const Known<Bytes> free = known ? picture.budget->free : Known<Bytes>(why);
  const auto parts = parts_of(picture, free);
  std::string text = bar(parts, total);
  for (const Part& part : parts) {
    const bool empty_and_rare = (part.letter == 'w' || part.letter == 'h') && *part.bytes && (*part.bytes)->value == 0;
    if (!empty_and_rare) text += row(part.letter, part.label, *part.bytes);
  }
  return text + row(' ', "total", total);
}

std::string blocks_text(const MemoryPicture& picture) {
  if (!picture.largest_block) return "unknown (" + picture.largest_block.reason() + ")";
  if (picture.largest_block->count == 0) return "none";
  return fmt::format("{} of {}", picture.largest_block->count, format_size(picture.largest_block->size));
}

std::string swap_text(const MemoryPicture& picture) {
  std::string text =
      picture.swap_total && picture.swap_total->value == 0
          ? "none set up"
          : fmt::format("{} of {} used", size_or_unknown(picture.swap_used), size_or_unknown(picture.swap_total));
  if (picture.swapping)
    return text + fmt::format("; {:.0f} pages/s in, {:.0f} out (over {:.1f} s)", picture.swapping->in_pages_per_s,
                              picture.swapping->out_pages_per_s, picture.swapping->window_s);
  return text + "; rate unknown (" + picture.swapping.reason() + ")";
}

std::string pressure_text(const MemoryPicture& picture) {
  if (!picture.pressure) return "unknown (" + picture.pressure.reason() + ")";
  const facts::Pressure& pressure = *picture.pressure;
  std::string text = fmt::format(
      "some {:.1f} %, full {} of the last 10 s; some {:.1f} % of 5 min", pressure.some.average_10s,
      pressure.full ? fmt::format("{:.1f} %", pressure.full->average_10s) : "unknown", pressure.some.average_300s);
  return pressure.some.average_10s <= 0 ? text + " (nobody waits)" : text;
}

std::string line(std::string_view label, const std::string& text) {
  return wrap(fmt::format("{:<12}", label), printable(text), k_width) + "\n";
}

std::string holder_text(const PoolHolder& holder, Detail detail) {
  constexpr std::size_t k_owner_columns = 10;
  const std::string numbers =
      fmt::format("  {:>10} {:>10} {:>10}  {:<{}} ", holder.gpu ? format_size(*holder.gpu) : "-",
                  size_or_unknown(holder.anonymous), size_or_unknown(holder.swapped),
                  shortened(holder.owner.value_or("unknown"), k_owner_columns, Keep::start), k_owner_columns);
  std::string text = numbers;
  text += detail == Detail::verbose ? printable(holder.name)
                                    : shortened(printable(holder.name), k_width - columns_of(numbers), Keep::start);
  text += "\n";
  std::vector<std::string> more;
  if (!holder.cap.empty()) more.push_back("cap: " + holder.cap);
  if (!holder.container.empty()) more.push_back("container " + shortened(printable(holder.container), 13, Keep::start));
  if (holder.shared && holder.shared->value > 0) more.push_back("shared " + format_size(*holder.shared));
  if (detail == Detail::verbose && holder.file_backed) more.push_back("files " + format_size(*holder.file_backed));
  if (detail == Detail::verbose) more.push_back("since " + (holder.started ? to_rfc3339(*holder.started) : "unknown"));
  if (!more.empty()) text += wrap(std::string(12, ' '), join(more, " · "), k_width) + "\n";
  return text;
}

std::string holders_text(const MemoryPicture& picture, Detail detail, const TextStyle& style) {
  std::string text = "\n" + colored("holders", Color::bold, style) + "\n";
  if (picture.holders.empty()) {
    const std::string none = picture.holders_unknown.empty()
                                 ? "no process that holds GPU memory, or 64 MiB of other memory, was seen"
                                 : "unknown (" + picture.holders_unknown + ")";
    return text + wrap("  ", printable(none), k_width) + "\n";
  }
  text += fmt::format("  {:>10} {:>10} {:>10}  {:<10} {}\n", "GPU", "anonymous", "swapped", "owner", "who");
  std::size_t shown = 0;
  for (const PoolHolder& holder : picture.holders) {
    if (detail == Detail::brief && shown == k_holders_shown) break;
    text += holder_text(holder, detail);
    ++shown;
  }
  if (shown < picture.holders.size())
    text += fmt::format("  and {} more (--verbose)\n", picture.holders.size() - shown);
  return text;
}

std::string file_line(const std::string& path, const Known<Bytes>& size, const Known<Bytes>& cached, Detail detail) {
  std::string start;
  if (!cached || !size) {
    start = fmt::format("  {:>27}  ", "unknown");
  } else {
    const double share =
        size->value > 0 ? 100.0 * static_cast<double>(cached->value) / static_cast<double>(size->value) : 0.0;
    // The last page of a file may be counted whole.
    start = fmt::format("  {:>3.0f} %  {:>10} of {:>10}  ", std::min(std::floor(share), 100.0), format_size(*cached),
                        format_size(*size));
  }
  std::string text =
      start + (detail == Detail::verbose ? printable(path)
                                         : shortened(printable(path), k_width - columns_of(start), Keep::end));
  text += "\n";
  if (!cached) text += wrap("      ", printable(cached.reason()), k_width) + "\n";
  return text;
}

std::string named_text(const MemorySubject& subject, Detail detail, const TextStyle& style) {
  if (subject.named == nullptr) return "";
  std::string text = "\n" + colored("the files you named", Color::bold, style) + "\n";
  std::vector<facts::NamedFile> files = *subject.named;
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.cached.value_or(Bytes{-1}) > b.cached.value_or(Bytes{-1});
  });
  Bytes sum{0};
  std::size_t unknown_files = 0;
  for (const facts::NamedFile& file : files) {
    sum += file.cached.value_or(Bytes{0});
    if (!file.cached) ++unknown_files;
  }
  text += fmt::format("  {} cached of {} file{}{}\n", format_size(sum), files.size(), files.size() == 1 ? "" : "s",
                      unknown_files > 0 ? fmt::format(", {} unknown", unknown_files) : "");
  std::size_t shown = 0;
  for (const facts::NamedFile& file : files) {
    if (detail == Detail::brief && shown == 2 * k_files_shown) break;
    text += file_line(file.path, file.size, file.cached, detail);
    ++shown;
  }
  if (shown < files.size()) text += fmt::format("  and {} more (--verbose)\n", files.size() - shown);
  for (const std::string& note : subject.named_notes) text += wrap("  ", printable(note), k_width) + "\n";
  return text;
}

std::string files_text(const MemoryPicture& picture, Detail detail, const TextStyle& style) {
  std::string text = "\n" + colored("files that hold the page cache", Color::bold, style) + "\n";
  if (!picture.files) return text + wrap("  ", "unknown (" + printable(picture.files.reason()) + ")", k_width) + "\n";
  std::size_t shown = 0;
  for (const facts::CachedFile& file : *picture.files) {
    if (detail == Detail::brief && shown == k_files_shown) break;
    text += file_line(file.path, as_read(Bytes{file.size}), as_read(Bytes{file.cached}), detail);
    ++shown;
  }
  if (picture.files->empty()) text += "  none of those that were looked at\n";
  if (shown < picture.files->size()) text += fmt::format("  and {} more (--verbose)\n", picture.files->size() - shown);
  return text + wrap("  ", printable(picture.files_scope), k_width) + "\n";
}

std::string orphans_text(const MemoryPicture& picture, const TextStyle& style) {
  if (picture.orphans.clauses.empty()) return "";
  std::string text = "\n" + colored("orphans", Color::yellow, style) + "\n";
  for (const std::string& clause : picture.orphans.clauses) text += wrap("  ! ", printable(clause), k_width) + "\n";
  for (const Fix& fix : picture.orphans.fixes)
    text += fix.run.empty() ? wrap("    fix: ", printable(fix.instruction), k_width) + "\n"
                            : "    fix: " + printable(fix.run) + "\n";
  return text;
}

}  // namespace

std::string memory_text(const MemoryPicture& picture, const MemorySubject& subject, Detail detail,
                        const TextStyle& style) {
  std::string text;
  if (subject.is_recorded)
    text += shortened(fmt::format("recorded {}: {}", picture.taken ? to_rfc3339(*picture.taken) : "(time unknown)",
                                  printable(subject.root)),
                      k_width, Keep::end) +
            "\n";
  text += pool_text(picture);
  text += line("headroom", headroom_text(picture.budget));
  text += line("free blocks", "largest: " + blocks_text(picture));
  text += line("swap", swap_text(picture));
  text += line("pressure", pressure_text(picture));
  text += holders_text(picture, detail, style);
  text += orphans_text(picture, style);
  text += named_text(subject, detail, style);
  text += files_text(picture, detail, style);
  if (!picture.could_not.empty()) {
    text += "\n" + colored("cannot be seen from here", Color::bold, style) + "\n";
    for (const std::string& what : picture.could_not) text += wrap("  - ", printable(what), k_width) + "\n";
  }
  // A command stays in one piece, so that it can be pasted.
  return text + "\n" + wrap("next  ", picture.next_reason + ":", k_width) + "\n  " + printable(picture.next_command) +
         "\n";
}

}  // namespace sparkops::views
