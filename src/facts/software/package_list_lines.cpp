#include "facts/software/package_list_lines.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/software/version.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_max_packages = 5000;
constexpr std::size_t k_max_not_understood = 20;
constexpr std::size_t k_longest_text = 200;

std::string_view after_prefix(std::string_view line, std::string_view prefix) {
  return line.starts_with(prefix) ? trim(line.substr(prefix.size())) : std::string_view{};
}

/// Reads the lines one after the other; what one of them says may hold for those behind it.
class LineReader {
 public:
  LineReader(PackageList& list, const std::string& name) : list_(list), name_(name) {}

  void read(std::string_view text) {
    list_.format = "pip freeze or requirements";
    list_.python_version = unknown("the list does not name it");
    bool continued = false;
    for (const std::string_view raw : split_lines(text)) {
      ++line_;
      std::string_view line = trim(raw);
      const bool is_rest_of_one = continued && line.starts_with("--hash");
      continued = line.ends_with('\\');
      if (continued) line = trim(line.substr(0, line.size() - 1));
      if (line.empty() || is_rest_of_one) continue;
      read_line(line);
    }
    apply_indexes();
    take_torch_of_collect_env();
  }

 private:
  [[nodiscard]] std::string place() const { return name_ + ":" + std::to_string(line_); }

  void read_line(std::string_view line) {
    if (read_collect_env_line(line)) return;
    if (line.starts_with('#')) return read_comment(line);
    if (line.starts_with("- ")) line = trim(line.substr(2));
    if (line.starts_with('-')) return read_option(line);
    if (const std::size_t comment = line.find(" #"); comment != std::string_view::npos)
      line = trim(line.substr(0, comment));
    if (const std::size_t hash = line.find(" --hash"); hash != std::string_view::npos)
      line = trim(line.substr(0, hash));
    if (line.empty()) return;
    if (line.starts_with("Package ") && contains(line, "Version")) {
      list_.format = "pip list";
      return;
    }
    if (!read_requirement(line) && !read_conda_export(line) && !read_columns(line) && !in_collect_env_)
      add_not_understood(list_, place(), "'" + printable(line, 60) + "' names no package and version");
  }

  /// "KEY: value" of torch's collect_env, and "[pip3] numpy==2.2.6".
  bool read_collect_env_line(std::string_view line) {
    if (line.starts_with("PyTorch version:") || line.starts_with("Collecting environment information")) {
      in_collect_env_ = true;
      list_.format = "collect_env";
    }
    const auto keep = [&](std::string_view key, Known<std::string>& target) {
      const std::string_view value = after_prefix(line, key);
      if (value.empty()) return false;
      const bool said = value != "Could not collect";
      target =
          said ? as_read(printable(value, k_longest_text)) : Known<std::string>(unknown("collect_env could not tell"));
      return true;
    };
    if (const std::string_view machine = after_prefix(line, "machine ");
        !machine.empty() && split_words(line).size() == 2)
      return keep("machine ", list_.machine.architecture);
    if (!in_collect_env_) return false;
    if (line.starts_with("[pip3]") || line.starts_with("[pip]")) {
      const std::string_view package = trim(line.substr(line.find(']') + 1));
      if (!read_requirement(package) && package != "Could not collect")
        add_not_understood(list_, place(), "'" + printable(package, 60) + "' names no package and version");
      return true;
    }
    if (line.starts_with("[conda]")) {
      (void)read_columns(trim(line.substr(line.find(']') + 1)));
      return true;
    }
    if (keep("Architecture:", list_.machine.architecture) || keep("Nvidia driver version:", list_.machine.driver) ||
        keep("CUDA runtime version:", list_.machine.cuda_toolkit) ||
        keep("Is CUDA available:", list_.machine.cuda_available) || keep("PyTorch version:", torch_version_))
      return true;
    if (keep("CUDA used to build PyTorch:", list_.machine.torch_cuda)) {
      const auto& built = list_.machine.torch_cuda;
      if (built && (*built == "None" || *built == "N/A")) list_.machine.torch_cuda = as_read(std::string());
      return true;
    }
    Known<std::string> python;
    if (keep("Python version:", python)) {
      if (python) list_.python_version = as_read(python->substr(0, python->find(' ')));
      return true;
    }
    return true;  // the rest of it is about processors and flags
  }

  void read_comment(std::string_view line) {
    if (contains(line, "packages in environment at")) list_.format = "conda list";
  }

  /// Options of pip: indexes, editable installations, further files.
  void read_option(std::string_view line) {
    const std::size_t end = line.find_first_of(" =");
    const std::string_view option = line.substr(0, end);
    const std::string_view value = end == std::string_view::npos ? std::string_view{} : trim(line.substr(end + 1));
    if (option == "--index-url" || option == "--extra-index-url" || option == "-i") {
      indexes_.emplace_back(value);
    } else if (option == "-e" || option == "--editable") {
      const std::size_t egg = value.find("#egg=");
      if (egg != std::string_view::npos) add_declared(list_, value.substr(egg + 5), "", place());
    } else if (option == "-r" || option == "-c" || option == "--requirement" || option == "--constraint") {
      add_not_understood(list_, place(), "the file " + printable(value, 100) + " that it names is not read");
    }
    // A line of dashes and all other options say nothing about packages.
  }

  bool read_requirement(std::string_view line) {
    const auto requirement = parse_requirement(line);
    if (!requirement) return false;
    const bool is_header = requirement->specifiers.empty() && requirement->url.empty() && line.ends_with(':');
    if (is_header) return false;
    const MarkerEnvironment spark = marker_environment("aarch64", list_.python_version.value_or(""));
    if (evaluate_marker(requirement->marker, spark) == MarkerResult::does_not_hold) return true;
    const auto specifiers = VersionSpecifiers::parse(requirement->specifiers);
    const std::string version = specifiers ? specifiers->pinned().value_or("") : "";
    const std::string_view written = line.substr(0, line.find_first_of(" [=<>!~@;("));
    Distribution* const added = add_declared(list_, written, version, place());
    if (added == nullptr) return true;
    if (!requirement->url.empty()) added->index = requirement->url;
    if (version.empty() && !requirement->specifiers.empty())
      added->version = unknown("the list says only " + requirement->specifiers);
    return true;
  }

  /// "numpy=2.2.6=py312_0" of conda list --export and of environment.yml.
  bool read_conda_export(std::string_view line) {
    const auto parts = split(line, '=');
    if (parts.size() < 2 || parts.size() > 3 || !is_package_name(parts[0]) || !parse_version(parts[1])) return false;
    list_.format = "conda list";
    add_conda(parts[0], parts[1], parts.size() == 3 ? parts[2] : std::string_view{});
    return true;
  }

  /// "numpy  2.2.6" and "numpy 2.2.6 py312_0 conda-forge".
  bool read_columns(std::string_view line) {
    const auto words = split_words(line);
    if (words.size() < 2 || !is_package_name(words[0]) || !parse_version(words[1])) return false;
    const bool conda = list_.format == "conda list" || line_is_of_conda(words);
    if (conda && words.size() >= 3 && words[2] != "pypi_0")
      add_conda(words[0], words[1], words[2]);
    else
      add_declared(list_, words[0], words[1], place());
    return true;
  }

  [[nodiscard]] bool line_is_of_conda(const std::vector<std::string_view>& words) const {
    return in_collect_env_ && words.size() >= 3;
  }

  /// conda calls torch "pytorch"; its packages of one CUDA carry it in the build text.
  void add_conda(std::string_view package, std::string_view version, std::string_view build) {
    Distribution* const added = add_declared(list_, package == "pytorch" ? "torch" : package, version, place());
    if (added != nullptr) added->conda_build = printable(build, k_longest_text);
  }

  /// --extra-index-url …/whl/cu130 is where PyTorch's own wheels come from.
  void apply_indexes() {
    static constexpr std::array<std::string_view, 4> k_of_pytorch{"torch", "torchvision", "torchaudio", "vllm"};
    for (const std::string& index : indexes_)
      for (Distribution& distribution : list_.distributions)
        if (distribution.index.empty() && contains(index, "/whl/") &&
            std::find(k_of_pytorch.begin(), k_of_pytorch.end(), distribution.key) != k_of_pytorch.end())
          distribution.index = index;
  }

  void take_torch_of_collect_env() {
    const bool listed = std::any_of(list_.distributions.begin(), list_.distributions.end(),
                                    [](const Distribution& distribution) { return distribution.key == "torch"; });
    if (!listed && torch_version_ && parse_version(*torch_version_))
      add_declared(list_, "torch", *torch_version_, name_ + " (PyTorch version)");
  }

  PackageList& list_;
  const std::string& name_;
  std::size_t line_ = 0;
  bool in_collect_env_ = false;
  Known<std::string> torch_version_;
  std::vector<std::string> indexes_;
};

/// The parts of the public version that tell two lines about the same installation apart from two installations.
bool same_installation(const Distribution& a, const Distribution& b) {
  if (a.key != b.key || !a.version || !b.version) return a.key == b.key && !a.version && !b.version;
  const auto left = parse_version(*a.version), right = parse_version(*b.version);
  return *a.version == *b.version || (left && right && left->public_part() == right->public_part());
}

}  // namespace

Distribution* add_declared(PackageList& list, std::string_view package, std::string_view version,
                           const std::string& place) {
  if (list.distributions.size() >= k_max_packages) {
    add_not_understood(list, place, "more packages than any environment has");
    return nullptr;
  }
  Distribution distribution;
  distribution.name = printable(trim(package), k_longest_text);
  distribution.key = normalized_name(package);
  distribution.version = version.empty() ? Known<std::string>(unknown("the list does not name its version"))
                                         : as_read(printable(trim(version), k_longest_text));
  distribution.wheel_platform = unknown("only its name stands in a list");
  distribution.metadata = place;
  // The same package twice, with and without its build text, is one.
  for (Distribution& known : list.distributions)
    if (known.key == distribution.key && same_installation(known, distribution)) return &known;
  list.distributions.push_back(std::move(distribution));
  return &list.distributions.back();
}

void add_not_understood(PackageList& list, const std::string& place, const std::string& reason) {
  if (list.not_understood.size() < k_max_not_understood) list.not_understood.push_back(place + ": " + reason);
}

PackageList parse_package_lines(std::string_view text, const std::string& name) {
  PackageList list;
  LineReader(list, name).read(text);
  return list;
}

}  // namespace sparkops::facts
