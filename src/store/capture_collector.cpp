#include "store/capture_collector.h"

#include <deque>

#include "base/text.h"
#include "store/capture_treatment.h"

namespace sparkops::store {

namespace {

constexpr std::size_t k_largest_file = std::size_t{1} << 20;
constexpr std::size_t k_largest_login_file = std::size_t{8} << 20;
constexpr int k_max_symlinks = 40;  // as the kernel's own limit

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

/// One '*' stands for any characters; there may be several.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view tail = pattern.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at)
    if (matches(tail, name.substr(at))) return true;
  return false;
}

/// The reason of an error without the path in front of it.
std::string reason_of(const Error& error, const std::string& path) {
  const std::size_t at = error.message.find(path + ": ");
  return at == std::string::npos ? error.message : error.message.substr(at + path.size() + 2);
}

}  // namespace

void Collector::put(ArchiveEntry entry) {
  entry.path = redactor_.path(entry.path);
  if (is_archive_path(entry.path)) entries_.try_emplace(entry.path, std::move(entry));
}

void Collector::add_made(const std::string& path, std::string content) {
  ArchiveEntry entry;
  entry.path = path;
  entry.mode = 0444;
  entry.content = std::move(content);
  entries_.insert_or_assign(path, std::move(entry));
}

std::optional<std::string> Collector::canonical_directory(const std::string& directory) {
  if (directory.empty()) return directory;
  const auto known = canonical_directories_.find(directory);
  if (known != canonical_directories_.end()) return known->second;
  auto result = canonical(directory);
  canonical_directories_.emplace(directory, result);
  return result;
}

std::optional<std::string> Collector::canonical(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  auto here = canonical_directory(slash == std::string::npos ? "" : path.substr(0, slash));
  if (!here) return std::nullopt;
  std::deque<std::string> pending{slash == std::string::npos ? path : path.substr(slash + 1)};
  int links = 0;
  while (!pending.empty()) {
    const std::string name = std::move(pending.front());
    pending.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      here->erase(here->find('/') == std::string::npos ? 0 : here->rfind('/'));
      continue;
    }
    std::string candidate = below(*here, name);
    const auto target = root_.read_link(candidate);
    if (!target) {
      *here = std::move(candidate);
      continue;
    }
    const auto behind = root_.status(candidate);
    const bool magic = !behind && behind.error().kind == ErrorKind::outside_root;
    if (magic || ++links > k_max_symlinks) return std::nullopt;
    ArchiveEntry link;
    link.kind = ArchiveKind::link;
    link.mode = 0777;
    link.path = candidate;
    link.target = redactor_.path(*target);
    put(std::move(link));
    if (target->starts_with('/')) here->clear();
    std::deque<std::string> components;
    for (const std::string_view component : split(*target, '/')) components.emplace_back(component);
    pending.insert(pending.begin(), components.begin(), components.end());
  }
  return here;
}

void Collector::add_directory(const std::string& path) {
  const auto real = canonical(path);
  if (!real || real->empty()) return;
  const auto status = root_.status(*real);
  if (!status || status->kind != FileKind::directory) return;
  ArchiveEntry entry;
  entry.kind = ArchiveKind::directory;
  entry.path = *real;
  entry.mode = status->mode;
  entry.owner = status->owner;
  put(std::move(entry));
}

void Collector::add_magic_link(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const auto directory = canonical_directory(slash == std::string::npos ? "" : path.substr(0, slash));
  if (!directory) return;
  ArchiveEntry entry;
  entry.kind = ArchiveKind::magic_link;
  entry.mode = 0777;
  entry.path = below(*directory, path.substr(slash + 1));
  const auto target = root_.read_link(entry.path);
  if (!target) return;
  entry.target = redactor_.text(*target);
  put(std::move(entry));
}

void Collector::add_file(const std::string& path, Treatment treatment) {
  const auto real = canonical(path);
  if (!real) return;
  const bool logins = treatment == Treatment::logins;
  const auto content = root_.read(*real, logins ? k_largest_login_file : k_largest_file);
  if (!content && content.error().kind == ErrorKind::not_found) return;
  const auto status = root_.status(*real);
  ArchiveEntry entry;
  entry.path = *real;
  entry.mode = status ? status->mode : 0;
  entry.owner = status ? status->owner : 0;
  if (content) {
    entry.content = treated(treatment, *content, redactor_);
  } else {
    entry.unreadable = content.error().kind;
    entry.content = redactor_.text(reason_of(content.error(), *real)) + "\n";
  }
  put(std::move(entry));
}

void Collector::add_left_out(const std::string& path, const std::string& reason) {
  const auto real = canonical(path);
  const auto status = real ? root_.status(*real) : Result<FileStatus>(failure(ErrorKind::not_found, path));
  if (!status || status->kind != FileKind::regular) return;
  ArchiveEntry entry;
  entry.path = *real;
  entry.mode = status->mode;
  entry.owner = status->owner;
  entry.unreadable = ErrorKind::too_large;
  entry.content = reason + "\n";
  put(std::move(entry));
}

void Collector::add_path(const std::string& path, Treatment treatment) {
  switch (treatment) {
    case Treatment::link: return add_directory(path);
    case Treatment::magic_link: return add_magic_link(path);
    default: return add_file(path, treatment);
  }
}

void Collector::expand(const std::string& done, std::vector<std::string_view> rest, Treatment treatment) {
  std::string path = done;
  while (!rest.empty() && !contains(rest.front(), "*")) {
    path = below(path, rest.front());
    rest.erase(rest.begin());
  }
  if (rest.empty()) return add_path(path, treatment);
  const std::string_view pattern = rest.front();
  rest.erase(rest.begin());
  const auto names = root_.list(path);
  if (!names && names.error().kind == ErrorKind::not_found) return;
  add_directory(path);
  if (!names) {
    const auto real = canonical(path);
    const auto found = real ? entries_.find(redactor_.path(*real)) : entries_.end();
    if (found == entries_.end()) return;
    found->second.unreadable = names.error().kind;
    found->second.content = redactor_.text(reason_of(names.error(), *real)) + "\n";
    return;
  }
  for (const DirectoryEntry& entry : *names)
    if (matches(pattern, entry.name)) expand(below(path, entry.name), rest, treatment);
}

void Collector::add_matching(const PlannedPath& planned) {
  expand("", split(planned.pattern, '/'), planned.treatment);
}

std::vector<ArchiveEntry> Collector::take_entries() {
  std::vector<ArchiveEntry> entries;
  entries.reserve(entries_.size());
  for (auto& [path, entry] : entries_) entries.push_back(std::move(entry));
  entries_.clear();
  return entries;
}

}  // namespace sparkops::store
