#include "knowledge/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "base/root.h"
#include "base/text.h"
#include "knowledge/embedded.h"
#include "knowledge/entries.h"
#include "knowledge/model_names.h"
#include "knowledge/yaml_node.h"

namespace sparkops::knowledge {
namespace {

constexpr std::string_view k_system_directory = "/etc/sparkops/knowledge";
constexpr std::string_view k_directory_variable = "SPARKOPS_KNOWLEDGE";
constexpr std::string_view k_file_ending = ".yaml";

constexpr std::int64_t k_milliseconds_per_day = 24LL * 60 * 60 * 1000;

/// One text of a table: the one compiled in, or one of an override directory.
struct TableText {
  std::string name;  ///< for messages
  std::string content;
};

/// The entries of a text; what cannot be read is left out and named in `problems`.
template <class Entry>
std::vector<Entry> read_entries(const TableText& text, Entry (*read)(EntryReader&),
                                std::vector<std::string>& problems) {
  const auto document = parse_yaml(text.content);
  if (!document) {
    problems.push_back(fmt::format("{}: {}", text.name, document.error().message));
    return {};
  }
  const bool is_empty_file = document->kind == YamlNode::Kind::scalar && document->text.empty();
  if (document->kind != YamlNode::Kind::list && !is_empty_file)
    problems.push_back(fmt::format("{}:{}: must be a list of entries", text.name, document->line));
  std::vector<Entry> entries;
  for (const auto& node : document->items) {
    EntryReader reader(node, text.name);
    auto entry = read(reader);
    const auto wrong = reader.finish();
    if (wrong.empty()) entries.push_back(std::move(entry));
    problems.insert(problems.end(), wrong.begin(), wrong.end());
  }
  return entries;
}

/// Puts `later` over `entries`: same key replaces in place, a new key is added at the end.
template <class Entry>
void apply(std::vector<Entry>& entries, std::vector<Entry> later, std::string Entry::* key) {
  for (auto& entry : later) {
    const auto same =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& other) { return other.*key == entry.*key; });
    if (same == entries.end())
      entries.push_back(std::move(entry));
    else
      *same = std::move(entry);
  }
}

/// The entries of a table that hold a line, cut out as text: parsing YAML is what costs.
std::string entries_with(std::string_view table, std::string_view line) {
  constexpr std::string_view k_begin = "\n- id: ";
  std::string chosen;
  std::size_t at = table.find(k_begin);
  while (at != std::string_view::npos) {
    const std::size_t end = table.find(k_begin, at + 1);
    const std::string_view entry = table.substr(at, end == std::string_view::npos ? end : end - at);
    if (entry.find(line) != std::string_view::npos) chosen += entry;
    at = end;
  }
  return chosen;
}

template <class Entry>
struct Table {
  std::string_view stem;
  std::string Entry::* key;
  Entry (*read)(EntryReader&);
  std::once_flag once;
  std::vector<Entry> entries;
};

}  // namespace

struct Tables::State {
  explicit State(std::vector<std::string> override_directories) : directories(std::move(override_directories)) {}

  std::vector<std::string> directories;
  Table<GotchaEntry> gotchas{"gotchas", &GotchaEntry::id, read_gotcha, {}, {}};
  Table<Topic> topics{"topics", &Topic::id, read_topic, {}, {}};
  Table<Symptom> symptoms{"symptoms", &Symptom::text, read_symptom, {}, {}};
  Table<ServerDefaults> servers{"servers", &ServerDefaults::server, read_server, {}, {}};
  Table<Platform> platforms{"platforms", &Platform::id, read_platform, {}, {}};
  Table<PlaybookEntry> playbooks{"playbooks", &PlaybookEntry::playbook, read_playbook, {}, {}};
  Table<StackPackage> stack{"stack", &StackPackage::name, read_stack_package, {}, {}};
  Table<ModelEntry> models{"models", &ModelEntry::name, read_model_entry, {}, {}};
  Table<AnchorEntry> anchors{"anchors", &AnchorEntry::id, read_anchor, {}, {}};
  Table<WheelCuda> wheels{"wheels", &WheelCuda::name, read_wheel_cuda, {}, {}};
  Table<Combination> combinations{"combinations", &Combination::id, read_combination, {}, {}};
  Table<Recipe> recipes{"recipes", &Recipe::id, read_recipe, {}, {}};

  std::mutex problems_mutex;
  std::vector<std::string> problems;

  /// The text of a table as compiled in.
  static std::string_view embedded(std::string_view stem) {
    for (const auto& file : embedded_files())
      if (file.name == stem) return file.content;
    return {};
  }

  [[nodiscard]] bool has_override(std::string_view stem) const {
    const std::string file_name = fmt::format("{}{}", stem, k_file_ending);
    return std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
      std::error_code problem;
      return std::filesystem::exists(fmt::format("{}/{}", directory, file_name), problem);
    });
  }

  template <class Entry>
  const std::vector<Entry>& get(Table<Entry>& table) {
    std::call_once(table.once, [&] { load(table); });
    return table.entries;
  }

 private:
  template <class Entry>
  void load(Table<Entry>& table) {
    std::vector<std::string> wrong;
    for (const auto& text : texts_of(table.stem, wrong))
      apply(table.entries, read_entries(text, table.read, wrong), table.key);
    const std::lock_guard lock(problems_mutex);
    problems.insert(problems.end(), wrong.begin(), wrong.end());
  }

  std::vector<TableText> texts_of(std::string_view stem, std::vector<std::string>& wrong) const {
    std::vector<TableText> texts;
    for (const auto& file : embedded_files())
      if (file.name == stem)
        texts.push_back({fmt::format("knowledge/{}{} (compiled in)", stem, k_file_ending), std::string(file.content)});
    const std::string file_name = fmt::format("{}{}", stem, k_file_ending);
    for (const auto& directory : directories) {
      const auto names = override_files(directory, wrong);
      if (std::find(names.begin(), names.end(), file_name) == names.end()) continue;
      const auto path = fmt::format("{}/{}", directory, file_name);
      const auto root = open_directory_root(directory);
      auto content = root ? Root(*root).read(file_name) : tl::unexpected(root.error());
      if (content)
        texts.push_back({path, std::move(*content)});
      else
        wrong.push_back(fmt::format("{}: {}", path, content.error().message));
    }
    return texts;
  }

 public:
  /// The YAML files of an override directory; a directory that does not exist has none.
  static std::vector<std::string> override_files(const std::string& directory, std::vector<std::string>& wrong) {
    std::error_code problem;
    if (!std::filesystem::exists(directory, problem) && !problem) return {};
    const auto root = open_directory_root(directory);
    const auto listed = root ? Root(*root).list("") : tl::unexpected(root.error());
    if (!listed) {
      wrong.push_back(fmt::format("{}: {}", directory, listed.error().message));
      return {};
    }
    std::vector<std::string> names;
    for (const auto& entry : *listed)
      if (entry.name.size() > k_file_ending.size() && std::string_view(entry.name).ends_with(k_file_ending))
        names.push_back(entry.name);
    return names;
  }
};

Tables::Tables(std::vector<std::string> override_directories)
    : state_(std::make_unique<State>(std::move(override_directories))) {}
Tables::~Tables() = default;

std::vector<std::string> Tables::default_override_directories() {
  std::vector<std::string> directories{std::string(k_system_directory)};
  const char* own = std::getenv(std::string(k_directory_variable).c_str());
  if (own && *own) directories.emplace_back(own);
  return directories;
}

const std::vector<GotchaEntry>& Tables::gotchas() const {
  return state_->get(state_->gotchas);
}
const std::vector<Topic>& Tables::topics() const {
  return state_->get(state_->topics);
}
const std::vector<Symptom>& Tables::symptoms() const {
  return state_->get(state_->symptoms);
}
const std::vector<ServerDefaults>& Tables::servers() const {
  return state_->get(state_->servers);
}
const std::vector<Platform>& Tables::platforms() const {
  return state_->get(state_->platforms);
}
const std::vector<PlaybookEntry>& Tables::playbooks() const {
  return state_->get(state_->playbooks);
}
const std::vector<StackPackage>& Tables::stack() const {
  return state_->get(state_->stack);
}
const std::vector<WheelCuda>& Tables::wheels() const {
  return state_->get(state_->wheels);
}
const std::vector<Combination>& Tables::combinations() const {
  return state_->get(state_->combinations);
}
const std::vector<Recipe>& Tables::recipes() const {
  return state_->get(state_->recipes);
}

const std::vector<ModelEntry>& Tables::models() const {
  return state_->get(state_->models);
}

const std::vector<AnchorEntry>& Tables::anchors() const {
  return state_->get(state_->anchors);
}

std::vector<AnchorEntry> Tables::anchors_of(std::string_view method) const {
  std::vector<AnchorEntry> chosen;
  if (!state_->has_override(state_->anchors.stem)) {
    const std::string line = fmt::format("\n  method: {}\n", method);
    std::vector<std::string> wrong;
    const std::string text = entries_with(State::embedded(state_->anchors.stem), line);
    chosen = read_entries({"knowledge/anchors.yaml (compiled in)", text}, read_anchor, wrong);
    if (wrong.empty()) return chosen;
  }
  chosen.clear();
  for (const AnchorEntry& entry : anchors())
    if (entry.method == method) chosen.push_back(entry);
  return chosen;
}

std::optional<ModelEntry> Tables::find_model(std::string_view name) const {
  if (!state_->has_override(state_->models.stem)) {
    const std::string entry = model_entry_text(State::embedded(state_->models.stem), name);
    if (entry.empty()) return std::nullopt;
    std::vector<std::string> wrong;
    auto entries = read_entries({"knowledge/models.yaml (compiled in)", entry}, read_model_entry, wrong);
    if (entries.size() == 1 && wrong.empty()) return std::move(entries.front());
  }
  return pick_model(models(), name);
}

const Platform& Tables::gb10() const {
  for (const auto& platform : platforms())
    if (platform.id == "gb10") return platform;
  // Compiled in and never removed by an override: without it the program was built from broken data.
  std::fputs("sparkops: knowledge/platforms.yaml of this build has no entry 'gb10'\n", stderr);
  std::abort();
}

const ServerDefaults* Tables::server(std::string_view server) const {
  const auto& known = servers();
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const ServerDefaults& entry) { return entry.server == server; });
  return found == known.end() ? nullptr : &*found;
}

std::vector<std::string> Tables::problems() const {
  std::vector<std::string> result;
  const auto embedded = embedded_files();
  // The system's directory may be absent; one that somebody named must not be, or its entries are missed in silence.
  for (const auto& directory : state_->directories)
    if (directory != k_system_directory && !open_directory_root(directory))
      result.push_back(
          fmt::format("{}: {}: no directory that can be read; nothing of it is used", k_directory_variable, directory));
  for (const auto& directory : state_->directories) {
    std::vector<std::string> already_told_on_loading;
    for (const auto& name : State::override_files(directory, already_told_on_loading)) {
      const auto stem = std::string_view(name).substr(0, name.size() - k_file_ending.size());
      const bool is_table =
          std::any_of(embedded.begin(), embedded.end(), [&](const EmbeddedFile& file) { return file.name == stem; });
      if (!is_table) result.push_back(fmt::format("{}/{}: there is no table of this name", directory, name));
    }
  }
  const std::lock_guard lock(state_->problems_mutex);
  for (const auto& problem : state_->problems)
    if (std::find(result.begin(), result.end(), problem) == result.end()) result.push_back(problem);
  return result;
}

std::optional<int> age_in_days(std::string_view last_verified, Timestamp now) {
  const auto verified = parse_rfc3339(last_verified);
  if (!verified) return std::nullopt;
  return static_cast<int>((now.unix_ms - verified->unix_ms) / k_milliseconds_per_day);
}

}  // namespace sparkops::knowledge
