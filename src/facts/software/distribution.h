#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/root.h"
#include "facts/software/requirement.h"

namespace sparkops::facts {

/// One installed or declared package.
struct Distribution {
  std::string name;            ///< as it writes itself; for people
  std::string key;             ///< normalised, for comparisons
  Known<std::string> version;  ///< unknown: the list names a range only, or the metadata cannot be read
  std::vector<Requirement> requirements;
  std::vector<std::string> provided_extras;  ///< normalised
  Known<std::string> wheel_platform;  ///< of its wheel's tag: "any", "manylinux_2_28_aarch64"; unknown: no WHEEL file
  std::string site;         ///< the directory on Python's path that holds it, "/usr/lib/python3/dist-packages"
  std::string metadata;     ///< its .dist-info or .egg-info, or "FILE:LINE" of a declared one
  std::string index;        ///< of a declared one: the index or address it comes from, where it says so
  std::string conda_build;  ///< of one that conda lists: "cuda126_generic_py312h…"
};

/// What the headers of METADATA or PKG-INFO (core metadata, e-mail headers) say.
struct Metadata {
  std::string name, version;
  std::vector<Requirement> requirements;
  std::vector<std::string> provided_extras;
  std::size_t unreadable_requirements = 0;
};

/// Reads up to the first empty line. Takes whatever bytes there are; at most 2000 requirements are kept.
[[nodiscard]] Metadata parse_metadata(std::string_view text);

/// Requirements of an egg's requires.txt: sections "[extra:marker]" are put into each requirement's marker.
[[nodiscard]] std::vector<Requirement> parse_requires_txt(std::string_view text);

/// The platform of the wheel that was installed, from the Tag lines of a WHEEL file: "any" or
/// "manylinux_2_28_aarch64"; empty when there is no such line.
[[nodiscard]] std::string parse_wheel_platform(std::string_view text);

/// The distributions whose metadata lies in one directory of Python's path. What is there but cannot be read is put
/// into `could_not`, leftovers of an interrupted removal ("~orch-2.9.dist-info") too. At most 5000.
[[nodiscard]] std::vector<Distribution> read_distributions(const Root& root, const std::string& site,
                                                           std::vector<std::string>& could_not);

/// The files of an installed distribution as RECORD (or installed-files.txt, SOURCES.txt of an egg) lists them, as
/// paths from the root, with ".." taken out. Errors: those of Root; malformed when it lists a million files.
[[nodiscard]] Result<std::vector<std::string>> distribution_files(const Root& root, const Distribution& distribution);

}  // namespace sparkops::facts
