#include "facts/software/python_layout.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr int k_max_symlinks = 40;
constexpr std::size_t k_configuration_cap = std::size_t{64} << 10;
constexpr std::size_t k_path_file_cap = std::size_t{256} << 10;
constexpr std::size_t k_max_sites = 200;
constexpr std::string_view k_default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}
std::string_view name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// "/a/b/../c" as "/a/c", without looking at symlinks.
std::string cleaned(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty())
      parts.pop_back();
    else if (part != "..")
      parts.push_back(part);
  }
  std::string clean;
  for (const std::string_view part : parts) clean += "/" + std::string(part);
  return clean;
}

/// The names that an interpreter's symlinks lead through, itself first: python3, python3.12.
std::vector<std::string> symlink_chain(const Root& root, std::string path) {
  std::vector<std::string> chain{path};
  for (int links = 0; links < k_max_symlinks; ++links) {
    const auto target = root.read_link(path);
    if (!target) break;
    path = cleaned(target->starts_with('/') ? *target : parent_of(path) + "/" + *target);
    chain.push_back(path);
  }
  return chain;
}

/// "3.12" of "python3.12", "3.13" of "python3.13t"; empty for "python3".
std::string minor_version_of(std::string_view name) {
  constexpr std::string_view k_start = "python3.";
  if (!name.starts_with(k_start)) return "";
  std::size_t end = k_start.size();
  while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
  const bool ends_there = end == name.size() || (end + 1 == name.size() && name[end] == 't');
  constexpr std::size_t k_longest = 11;  // python3.999
  return end == k_start.size() || end > k_longest || !ends_there ? "" : std::string(name.substr(6, end - 6));
}

/// The one lib/pythonX.Y of a prefix; empty when there is none or more than one.
std::string only_library_version(const Root& root, const std::string& prefix) {
  const auto entries = root.list(prefix + "/lib");
  if (!entries) return "";
  std::string found;
  for (const DirectoryEntry& entry : *entries) {
    const std::string minor = minor_version_of(entry.name);
    if (minor.empty()) continue;
    if (!found.empty()) return "";
    found = minor;
  }
  return found;
}

/// "3.11.7" in ".../versions/3.11.7/bin/python3" (pyenv), "cpython-3.12.8-linux" (uv), of the directories of a path.
std::string full_version_in(std::string_view path, std::string_view minor) {
  if (minor.empty()) return "";
  for (const std::string_view part : split(path, '/')) {
    for (std::size_t at = part.find(minor); at != std::string_view::npos; at = part.find(minor, at + 1)) {
      const std::size_t dot = at + minor.size();
      if (at > 0 && part[at - 1] != '-') continue;
      std::size_t end = dot + 1;
      while (end < part.size() && part[end] >= '0' && part[end] <= '9') ++end;
      if (dot < part.size() && part[dot] == '.' && end > dot + 1) return std::string(part.substr(at, end - at));
    }
  }
  return "";
}

/// Of "3.12.3.final.0" the first three numbers.
std::string first_three(std::string_view version) {
  const auto parts = split(version, '.');
  std::vector<std::string> numbers;
  for (const std::string_view part : parts)
    if (numbers.size() < 3 && parse_integer(part)) numbers.emplace_back(part);
  return numbers.size() < 2 ? "" : join(numbers, ".");
}

std::string minor_of_full(std::string_view full) {
  const auto parts = split(full, '.');
  return parts.size() < 2 ? "" : std::string(parts[0]) + "." + std::string(parts[1]);
}

/// A pyenv shim: the version that it would start.
Result<std::string> follow_shim(const Root& root, const std::string& shim, const SoftwareVariables& variables) {
  const std::string directory = parent_of(shim);
  if (name_of(directory) != "shims")
    return failure(ErrorKind::unsupported,
                   shim + " is a script, not an interpreter; name the one it starts with --python PATH");
  const std::string manager = parent_of(directory);
  std::string version;
  if (const std::string* const chosen = variables.find("PYENV_VERSION"); chosen != nullptr && !chosen->empty())
    version = chosen->substr(0, chosen->find(':'));
  else if (const auto global = root.read_start(manager + "/version", k_configuration_cap))
    version = trim(split(global->bytes, '\n').front());
  const std::string interpreter = manager + "/versions/" + version + "/bin/python3";
  if (version.empty() || version == "system" || contains(version, "/") || !root.exists(interpreter))
    return failure(ErrorKind::unsupported, shim +
                                               " is a script of a version manager that names no installed version; "
                                               "name the interpreter with --python PATH");
  return interpreter;
}

Result<std::string> without_shim(const Root& root, const std::string& interpreter, const SoftwareVariables& variables) {
  const auto start = root.read_start(interpreter, 2);
  return start && start->bytes == "#!" ? follow_shim(root, interpreter, variables) : interpreter;
}

bool is_directory(const Root& root, const std::string& path) {
  const auto status = root.status(path);
  return status && status->kind == FileKind::directory;
}

/// Collects the directories that exist, each once (lib64 is often a link to lib).
class SiteCollector {
 public:
  explicit SiteCollector(const Root& root) : root_(root) {}

  void add(const std::string& path, SiteDirectory::Kind kind) {
    if (path.empty() || sites.size() >= k_max_sites || !is_directory(root_, path)) return;
    const auto same = [&](const SiteDirectory& site) { return site.path == path; };
    if (std::none_of(sites.begin(), sites.end(), same)) sites.push_back({path, kind});
  }

  /// The directories that .pth files of `site` add behind it.
  void add_path_files(const std::string& site) {
    const auto entries = root_.list(site);
    if (!entries) return;
    for (const DirectoryEntry& entry : *entries) {
      if (!entry.name.ends_with(".pth") || entry.name.starts_with('.')) continue;
      const auto text = root_.read(site + "/" + entry.name, k_path_file_cap);
      if (!text) continue;
      for (std::string_view line : split_lines(*text)) {
        line = trim(line);
        if (line.empty() || line.starts_with('#') || line.starts_with("import ") || line.starts_with("import\t"))
          continue;
        add(cleaned(line.starts_with('/') ? std::string(line) : site + "/" + std::string(line)),
            SiteDirectory::Kind::path_file);
      }
    }
  }

  std::vector<SiteDirectory> sites;

 private:
  const Root& root_;
};

/// The directories that a Python of this prefix looks at, that of Debian and Ubuntu in /usr as they patch it.
std::vector<std::string> sites_of(const std::string& prefix, const std::string& minor) {
  const std::string version = "python" + minor;
  if (prefix == "/usr")
    return {"/usr/local/lib/" + version + "/dist-packages", "/usr/lib/python3/dist-packages",
            "/usr/lib/" + version + "/dist-packages", "/usr/lib/" + version + "/site-packages",
            "/usr/lib64/" + version + "/site-packages"};
  return {prefix + "/lib/" + version + "/site-packages", prefix + "/lib/" + version + "/dist-packages"};
}

std::string user_site(const SoftwareVariables& variables, const std::string& minor) {
  if (const std::string* const off = variables.find("PYTHONNOUSERSITE"); off != nullptr && !off->empty()) return "";
  const std::string tail = "/lib/python" + minor + "/site-packages";
  if (const std::string* const base = variables.find("PYTHONUSERBASE"); base != nullptr && base->starts_with('/'))
    return cleaned(*base + tail);
  const std::string* const home = variables.find("HOME");
  return home != nullptr && home->starts_with('/') ? cleaned(*home + "/.local" + tail) : "";
}

enum class LooksAtSystem { yes, no };

void collect_sites(const Root& root, const SoftwareVariables& variables, LooksAtSystem looks_at_system,
                   const std::string& minor, PythonLayout& layout) {
  using Kind = SiteDirectory::Kind;
  SiteCollector collector(root);
  if (const std::string* const paths = variables.find("PYTHONPATH"))
    for (const std::string_view path : split(*paths, ':'))
      if (path.starts_with('/')) collector.add(cleaned(path), Kind::python_path);
  const bool is_venv = layout.kind == EnvironmentKind::virtual_environment;
  const auto add_with_path_files = [&](const std::string& site, Kind kind) {
    collector.add(site, kind);
    collector.add_path_files(site);
  };
  if (is_venv) add_with_path_files(layout.prefix + "/lib/python" + minor + "/site-packages", Kind::environment);
  if (looks_at_system == LooksAtSystem::yes) {
    add_with_path_files(user_site(variables, minor), Kind::user);
    for (const std::string& site : sites_of(layout.base_prefix, minor))
      add_with_path_files(site, is_venv ? Kind::system : Kind::environment);
  } else {
    for (const std::string& site : sites_of(layout.base_prefix, minor)) layout.unused_sites.push_back(site);
  }
  layout.sites = std::move(collector.sites);
}

/// Packages for other versions of Python, where images keep theirs.
void note_other_versions(const Root& root, const std::string& minor, PythonLayout& layout) {
  const auto entries = root.list("/usr/local/lib");
  if (!entries) return;
  for (const DirectoryEntry& entry : *entries) {
    const std::string other = minor_version_of(entry.name);
    if (other.empty() || (other == minor && layout.base_prefix == "/usr")) continue;
    for (const char* const kind : {"/dist-packages", "/site-packages"}) {
      const std::string site = "/usr/local/lib/" + entry.name + kind;
      const auto is_it = [&](const SiteDirectory& used) { return used.path == site; };
      const bool used = std::any_of(layout.sites.begin(), layout.sites.end(), is_it);
      const bool noted =
          std::find(layout.unused_sites.begin(), layout.unused_sites.end(), site) != layout.unused_sites.end();
      if (!used && !noted) layout.unused_sites.push_back(site);
    }
  }
}

struct VirtualEnvironment {
  std::string prefix;
  std::map<std::string, std::string, std::less<>> configuration;

  [[nodiscard]] std::string value(std::string_view key) const {
    const auto found = configuration.find(key);
    return found == configuration.end() ? "" : found->second;
  }
};

/// pyvenv.cfg beside the interpreter or one directory above: CPython looks there before it follows any symlink.
std::optional<VirtualEnvironment> virtual_environment_of(const Root& root, const std::string& interpreter) {
  const std::string directory = parent_of(interpreter);
  for (const std::string& place : {parent_of(directory), directory})
    if (const auto text = root.read(place + "/pyvenv.cfg", k_configuration_cap))
      return VirtualEnvironment{place, parse_pyvenv_configuration(*text)};
  return std::nullopt;
}

/// The directory above the interpreter's own that holds lib/pythonX.Y.
std::string prefix_of(const Root& root, const std::string& interpreter, const std::string& minor) {
  std::string directory = parent_of(interpreter);
  constexpr int k_levels = 4;
  for (int level = 0; level < k_levels && !directory.empty(); ++level) {
    directory = parent_of(directory);
    const bool holds = minor.empty() ? !only_library_version(root, directory).empty()
                                     : is_directory(root, directory + "/lib/python" + minor);
    if (holds) return directory;
  }
  return parent_of(parent_of(interpreter));
}

Known<std::string> full_python_version(const Root& root, const PythonLayout& layout, const std::string& last_of_chain,
                                       const std::string& minor) {
  if (const std::string full = full_version_in(last_of_chain, minor); !full.empty()) return as_derived(full);
  const auto conda = root.list(layout.prefix + "/conda-meta");
  if (conda)
    for (const DirectoryEntry& entry : *conda)
      if (entry.name.starts_with("python-" + minor + ".")) {
        const std::string rest = entry.name.substr(std::string_view("python-").size());
        return as_read(first_three(rest.substr(0, rest.find('-'))));
      }
  return minor.empty()
             ? Known<std::string>(unknown("neither " + layout.interpreter + " nor its lib directory names one"))
             : as_read(minor);
}

}  // namespace

Result<std::string> find_python_in(const Root& root, const std::string& directory) {
  for (const char* const name : {"bin/python3", "bin/python"}) {
    std::string candidate = cleaned(directory) + "/" + name;
    if (root.exists(candidate) || root.read_link(candidate)) return candidate;
  }
  return failure(ErrorKind::not_found, directory + ": no bin/python3 in it, so it is no Python environment");
}

Result<std::string> find_python_on_path(const Root& root, const SoftwareVariables& variables) {
  const std::string* const set = variables.find("PATH");
  const std::string_view path = set != nullptr && !set->empty() ? std::string_view(*set) : k_default_path;
  for (const char* const name : {"python3", "python"})
    for (const std::string_view directory : split(path, ':')) {
      if (!directory.starts_with('/')) continue;
      std::string candidate = cleaned(directory) + "/" + name;
      const auto status = root.status(candidate);
      constexpr std::uint32_t k_may_execute = 0111;
      if (status && status->kind == FileKind::regular && (status->mode & k_may_execute) != 0) return candidate;
    }
  return failure(ErrorKind::not_found, "no python3 on PATH");
}

Result<PythonLayout> read_python_layout(const Root& root, const std::string& given,
                                        const SoftwareVariables& variables) {
  const auto interpreter = without_shim(root, cleaned(given), variables);
  if (!interpreter) return tl::unexpected(interpreter.error());
  PythonLayout layout;
  layout.interpreter = *interpreter;
  const std::vector<std::string> chain = symlink_chain(root, *interpreter);
  std::string minor;
  for (const std::string& name : chain)
    if (const std::string version = minor_version_of(name_of(name)); !version.empty()) minor = version;
  LooksAtSystem looks_at_system = LooksAtSystem::yes;
  if (const auto venv = virtual_environment_of(root, *interpreter)) {
    layout.kind = EnvironmentKind::virtual_environment;
    layout.prefix = venv->prefix;
    const std::string home = cleaned(venv->value("home"));
    std::string full = first_three(venv->value("version"));
    if (full.empty()) full = first_three(venv->value("version_info"));
    if (const std::string found = only_library_version(root, layout.prefix); !found.empty()) minor = found;
    if (minor.empty()) minor = minor_of_full(full);
    layout.base_prefix = home.empty() ? "" : prefix_of(root, home + "/python3", minor);
    if (minor_of_full(full) == minor) layout.python_version = as_read(full);
    if (to_lower(venv->value("include-system-site-packages")) != "true") looks_at_system = LooksAtSystem::no;
  } else {
    layout.prefix = layout.base_prefix = prefix_of(root, chain.back(), minor);
    if (minor.empty()) minor = only_library_version(root, layout.prefix);
    if (is_directory(root, layout.prefix + "/conda-meta")) layout.kind = EnvironmentKind::conda;
  }
  if (minor.empty())
    return failure(ErrorKind::unsupported,
                   given + ": its version cannot be told from its files; name another interpreter with --python PATH");
  if (!layout.python_version) layout.python_version = full_python_version(root, layout, chain.back(), minor);
  const bool free_threaded = name_of(chain.back()).ends_with('t');
  std::string digits = minor;
  std::erase(digits, '.');
  layout.abi_tag = as_derived("cp" + digits + (free_threaded ? "t" : ""));
  layout.externally_managed = as_read(layout.kind == EnvironmentKind::system &&
                                      root.exists(layout.prefix + "/lib/python" + minor + "/EXTERNALLY-MANAGED"));
  collect_sites(root, variables, looks_at_system, minor, layout);
  note_other_versions(root, minor, layout);
  return layout;
}

}  // namespace sparkops::facts
