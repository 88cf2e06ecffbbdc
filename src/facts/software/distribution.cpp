#include "facts/software/distribution.h"

#include <algorithm>

#include "base/text.h"

namespace sparkops::facts {

namespace {

/// Headers of real packages fit; a few have hundreds of requirements, none this much.
constexpr std::size_t k_usual_headers = std::size_t{16} << 10;
constexpr std::size_t k_longest_headers = std::size_t{1} << 20;
constexpr std::size_t k_wheel_file = std::size_t{16} << 10;
constexpr std::size_t k_largest_record = std::size_t{64} << 20;
constexpr std::size_t k_max_requirements = 2000;
constexpr std::size_t k_max_distributions = 5000;
constexpr std::size_t k_max_files = 1'000'000;
constexpr std::size_t k_longest_field = 400;

/// Where the headers end: at the first empty line.
std::size_t end_of_headers(std::string_view text) {
  for (const std::string_view ending : {"\n\n", "\n\r\n"})
    if (const std::size_t at = text.find(ending); at != std::string_view::npos) return at;
  return std::string_view::npos;
}

/// Only the headers are of interest; behind them stands the project's whole description.
Result<std::string> read_headers(const Root& root, const std::string& path) {
  for (const std::size_t size : {k_usual_headers, k_longest_headers}) {
    auto part = root.read_start(path, size);
    if (!part) return tl::unexpected(part.error());
    if (part->complete || end_of_headers(part->bytes) != std::string_view::npos) return std::move(part->bytes);
  }
  return failure(ErrorKind::too_large, path + ": no end of its headers within 1 MiB");
}

std::string below(std::string_view directory, std::string_view name) {
  return std::string(directory) + "/" + std::string(name);
}

bool add_requirement(std::string_view text, std::string_view extra_marker, std::vector<Requirement>& requirements) {
  auto requirement = parse_requirement(text);
  if (!requirement) return false;
  if (!extra_marker.empty())
    requirement->marker = requirement->marker.empty()
                              ? std::string(extra_marker)
                              : "(" + requirement->marker + ") and (" + std::string(extra_marker) + ")";
  if (requirements.size() < k_max_requirements) requirements.push_back(std::move(*requirement));
  return true;
}

/// "~orch-2.9.0.dist-info" of an interrupted pip.
bool is_leftover(std::string_view name) {
  return name.starts_with('~') || name.starts_with('-');
}

/// "torch-2.9.0" → name and version; the version begins behind the last '-' of a dist-info's name and behind the first
/// one of an egg-info's ("torch-2.9.0-py3.12").
std::pair<std::string, std::string> name_and_version(std::string_view stem, bool egg) {
  if (egg)
    if (const std::size_t python = stem.rfind("-py"); python != std::string_view::npos) stem = stem.substr(0, python);
  const std::size_t dash = egg ? stem.find('-') : stem.rfind('-');
  if (dash == std::string_view::npos) return {std::string(stem), ""};
  return {std::string(stem.substr(0, dash)), std::string(stem.substr(dash + 1))};
}

/// The metadata of one entry of a site directory.
struct Candidate {
  std::string path;          ///< of the directory or file, from the root
  std::string stem;          ///< its name without the ending
  bool egg = false;          ///< PKG-INFO and requires.txt instead of METADATA
  std::string headers_file;  ///< the file with the headers
};

std::optional<Candidate> candidate_of(const std::string& site, const DirectoryEntry& entry) {
  const std::string_view name = entry.name;
  const std::string path = below(site, name);
  const auto without = [&](std::string_view ending) {
    return std::string(name.substr(0, name.size() - ending.size()));
  };
  if (name.ends_with(".dist-info")) return Candidate{path, without(".dist-info"), false, below(path, "METADATA")};
  if (name.ends_with(".egg-info")) {
    const bool is_file = entry.kind == FileKind::regular;
    return Candidate{path, without(".egg-info"), true, is_file ? path : below(path, "PKG-INFO")};
  }
  if (name.ends_with(".egg") && entry.kind != FileKind::regular)
    return Candidate{below(path, "EGG-INFO"), without(".egg"), true, below(path, "EGG-INFO/PKG-INFO")};
  return std::nullopt;
}

Distribution read_distribution(const Root& root, const std::string& site, const Candidate& candidate,
                               std::vector<std::string>& could_not) {
  Distribution distribution;
  distribution.site = site;
  distribution.metadata = candidate.path;
  auto [name, version] = name_and_version(candidate.stem, candidate.egg);
  const auto headers = read_headers(root, candidate.headers_file);
  if (headers) {
    Metadata metadata = parse_metadata(*headers);
    if (!metadata.name.empty()) name = std::move(metadata.name);
    if (!metadata.version.empty()) version = std::move(metadata.version);
    distribution.requirements = std::move(metadata.requirements);
    distribution.provided_extras = std::move(metadata.provided_extras);
    if (metadata.unreadable_requirements > 0)
      could_not.push_back(candidate.headers_file + ": " + std::to_string(metadata.unreadable_requirements) +
                          " requirements that cannot be read");
  } else {
    could_not.push_back(headers.error().message);
  }
  distribution.name = printable(name, k_longest_field);
  distribution.key = normalized_name(name);
  distribution.version = version.empty() ? Known<std::string>(unknown(candidate.path + " names no version"))
                                         : as_read(printable(version, k_longest_field));
  if (candidate.egg) {
    if (const auto required = root.read(below(candidate.path, "requires.txt"), k_longest_headers))
      distribution.requirements = parse_requires_txt(*required);
    distribution.wheel_platform = unknown("it was not installed from a wheel");
    return distribution;
  }
  const auto wheel = root.read_start(below(candidate.path, "WHEEL"), k_wheel_file);
  const std::string platform = wheel ? parse_wheel_platform(wheel->bytes) : "";
  distribution.wheel_platform = !wheel             ? Known<std::string>(unknown(wheel.error()))
                                : platform.empty() ? Known<std::string>(unknown("its WHEEL file names no tag"))
                                                   : as_read(platform);
  return distribution;
}

/// Takes "." and ".." out of a path relative to `directory`; nothing when it leads above the root.
std::optional<std::string> joined(std::string_view directory, std::string_view relative) {
  std::vector<std::string_view> parts;
  if (!relative.starts_with('/')) parts = split(directory, '/');
  for (const std::string_view part : split(relative, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      while (!parts.empty() && parts.back().empty()) parts.pop_back();
      if (parts.empty()) return std::nullopt;
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string path;
  for (const std::string_view part : parts)
    if (!part.empty()) path += "/" + std::string(part);
  return path;
}

/// The first field of a line of RECORD (CSV): quoted when it holds a comma.
std::string first_field(std::string_view line) {
  if (!line.starts_with('"')) return std::string(line.substr(0, line.find(',')));
  std::string field;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '"' && (i + 1 >= line.size() || line[i + 1] != '"')) break;
    if (line[i] == '"') ++i;
    field += line[i];
  }
  return field;
}

}  // namespace

Metadata parse_metadata(std::string_view text) {
  Metadata metadata;
  for (const std::string_view line : split_lines(text)) {
    if (trim(line).empty()) break;
    if (line.front() == ' ' || line.front() == '\t') continue;  // a folded line of the field before
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string field = to_lower(trim(line.substr(0, colon)));
    const std::string_view value = trim(line.substr(colon + 1));
    if (field == "name" && metadata.name.empty()) metadata.name = value;
    if (field == "version" && metadata.version.empty()) metadata.version = value;
    if (field == "provides-extra" && metadata.provided_extras.size() < k_max_requirements)
      metadata.provided_extras.push_back(normalized_name(value));
    const bool requires_something = field == "requires-dist" || field == "requires";
    if (requires_something && !add_requirement(value, "", metadata.requirements)) ++metadata.unreadable_requirements;
  }
  return metadata;
}

std::vector<Requirement> parse_requires_txt(std::string_view text) {
  std::vector<Requirement> requirements;
  std::string marker;
  for (std::string_view line : split_lines(text)) {
    line = trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with('[')) {
      (void)add_requirement(line, marker, requirements);
      continue;
    }
    const std::string_view section = line.substr(1, line.find(']') == line.npos ? line.npos : line.find(']') - 1);
    const std::size_t colon = section.find(':');
    const std::string_view extra = trim(section.substr(0, colon));
    const std::string_view condition =
        colon == std::string_view::npos ? std::string_view{} : trim(section.substr(colon + 1));
    marker = extra.empty() ? "" : "extra == '" + normalized_name(extra) + "'";
    if (!condition.empty())
      marker = marker.empty() ? std::string(condition) : marker + " and (" + std::string(condition) + ")";
  }
  return requirements;
}

std::string parse_wheel_platform(std::string_view text) {
  std::string platform;
  for (const std::string_view line : split_lines(text)) {
    constexpr std::string_view k_field = "Tag:";
    if (!line.starts_with(k_field)) continue;
    const std::string_view tag = trim(line.substr(k_field.size()));
    const std::size_t dash = tag.rfind('-');
    if (dash == std::string_view::npos) continue;
    platform = printable(tag.substr(dash + 1), k_longest_field);
    if (platform != "any") return platform;
  }
  return platform;
}

std::vector<Distribution> read_distributions(const Root& root, const std::string& site,
                                             std::vector<std::string>& could_not) {
  std::vector<Distribution> distributions;
  const auto entries = root.list(site);
  if (!entries) {
    if (entries.error().kind != ErrorKind::not_found) could_not.push_back(entries.error().message);
    return distributions;
  }
  for (const DirectoryEntry& entry : *entries) {
    const auto candidate = candidate_of(site, entry);
    if (!candidate) continue;
    if (is_leftover(entry.name)) {
      could_not.push_back(below(site, printable(entry.name)) + ": left behind by an installation that did not finish");
      continue;
    }
    if (distributions.size() >= k_max_distributions) {
      could_not.push_back(site + ": more than " + std::to_string(k_max_distributions) + " packages, the rest not read");
      break;
    }
    distributions.push_back(read_distribution(root, site, *candidate, could_not));
  }
  return distributions;
}

Result<std::vector<std::string>> distribution_files(const Root& root, const Distribution& distribution) {
  std::string base = distribution.site;
  auto text = root.read(below(distribution.metadata, "RECORD"), k_largest_record);
  if (!text && text.error().kind == ErrorKind::not_found) {
    text = root.read(below(distribution.metadata, "installed-files.txt"), k_largest_record);
    base = distribution.metadata;
    if (!text) {
      text = root.read(below(distribution.metadata, "SOURCES.txt"), k_largest_record);
      base = distribution.site;
    }
  }
  if (!text) return tl::unexpected(text.error());
  std::vector<std::string> files;
  for (const std::string_view line : split_lines(*text)) {
    if (trim(line).empty()) continue;
    if (files.size() >= k_max_files)
      return failure(ErrorKind::malformed, distribution.metadata + "/RECORD: more than a million files");
    if (auto path = joined(base, first_field(line))) files.push_back(std::move(*path));
  }
  return files;
}

}  // namespace sparkops::facts
