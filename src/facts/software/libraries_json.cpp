#include "facts/software/libraries_json.h"

#include <nlohmann/json.hpp>

namespace sparkops::facts {

namespace {

// What is read is foreign: nlohmann's ordered_json copies nested values while it parses, by recursion, and a deep
// document would end the program. It is for writing only.
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t k_most_libraries = 100'000;
constexpr std::size_t k_most_entries = 200'000;

OrderedJson versions_json(const std::vector<ElfVersion>& versions) {
  OrderedJson list = OrderedJson::array();
  for (const ElfVersion& version : versions) list.push_back({version.library, version.version});
  return list;
}

OrderedJson code_json(const FatBinary& code) {
  OrderedJson groups = OrderedJson::array();
  for (const CodeGroup& group : code.groups)
    groups.push_back({{"section", group.section},
                      {"kind", static_cast<int>(group.target.kind)},
                      {"arch", group.target.arch},
                      {"variant", static_cast<int>(group.target.variant)},
                      {"compression", static_cast<int>(group.compression)},
                      {"isa", {group.isa_major, group.isa_minor}},
                      {"count", group.count},
                      {"stubs", group.stubs},
                      {"stored_bytes", group.stored_bytes},
                      {"uncompressed_bytes", group.uncompressed_bytes}});
  return {{"containers", code.containers},
          {"wrappers", code.wrappers},
          {"malformed", code.malformed},
          {"groups", std::move(groups)}};
}

OrderedJson entry_json(const StoredLibraries::Entry& entry) {
  const ElfImage& image = entry.image;
  OrderedJson json = {{"size_bytes", image.file_size},
                      {"machine", static_cast<unsigned>(image.machine)},
                      {"bits", image.bits},
                      {"file_name", entry.file_name},
                      {"soname", image.soname},
                      {"needed", image.needed}};
  if (image.rpath) json["rpath"] = *image.rpath;
  if (image.runpath) json["runpath"] = *image.runpath;
  json["needed_versions"] = versions_json(image.needed_versions);
  json["defined_versions"] = versions_json(image.defined_versions);
  if (!entry.missing.empty()) {
    OrderedJson missing = OrderedJson::array();
    for (const UndefinedSymbol& symbol : entry.missing)
      missing.push_back({symbol.name, symbol.version, symbol.library});
    json["undefined"] = std::move(missing);
  }
  if (entry.code_unknown.empty())
    json["code"] = code_json(entry.code);
  else
    json["code_unknown"] = entry.code_unknown;
  return json;
}

tl::unexpected<Error> wrong(const std::string& place, const std::string& what) {
  return failure(ErrorKind::malformed, "sparkops/libraries.json: " + place + " " + what);
}

/// Values of a foreign object, with a default where they are missing or of another type.
std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
std::uint64_t count_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}
std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  if (list.is_array())
    for (const Json& text : list)
      if (text.is_string() && texts.size() < k_most_entries) texts.push_back(text.get<std::string>());
  return texts;
}
std::vector<std::string> texts_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::vector<std::string>{} : texts_of(*found);
}
/// Lists of lists of texts, each with `size` of them.
std::vector<std::vector<std::string>> rows_of(const Json& object, const char* key, std::size_t size) {
  std::vector<std::vector<std::string>> rows;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return rows;
  for (const Json& row : *found) {
    auto texts = texts_of(row);
    if (texts.size() == size && rows.size() < k_most_entries) rows.push_back(std::move(texts));
  }
  return rows;
}

template <class Enum>
Enum enum_of(const Json& object, const char* key, Enum last) {
  const std::uint64_t value = count_of(object, key);
  return value <= static_cast<std::uint64_t>(last) ? static_cast<Enum>(value) : last;
}

FatBinary code_of(const Json& json) {
  FatBinary code;
  code.containers = count_of(json, "containers");
  code.wrappers = count_of(json, "wrappers");
  code.malformed = count_of(json, "malformed");
  const auto groups = json.find("groups");
  if (groups == json.end() || !groups->is_array()) return code;
  for (const Json& item : *groups) {
    constexpr std::size_t k_most_groups = 4096;
    constexpr std::uint64_t k_largest_arch = 9999, k_largest_isa = 99;
    if (!item.is_object() || code.groups.size() == k_most_groups) continue;
    CodeGroup group;
    group.section = text_of(item, "section");
    group.target.kind = enum_of(item, "kind", CodeKind::other);
    group.target.arch = static_cast<int>(std::min(count_of(item, "arch"), k_largest_arch));
    group.target.variant = enum_of(item, "variant", ArchVariant::untold);
    group.compression = enum_of(item, "compression", CodeCompression::zstandard);
    const auto isa = item.find("isa");
    if (isa != item.end() && isa->is_array() && isa->size() == 2 && (*isa)[0].is_number_unsigned() &&
        (*isa)[1].is_number_unsigned()) {
      group.isa_major = static_cast<int>(std::min((*isa)[0].get<std::uint64_t>(), k_largest_isa));
      group.isa_minor = static_cast<int>(std::min((*isa)[1].get<std::uint64_t>(), k_largest_isa));
    }
    group.count = count_of(item, "count");
    group.stubs = count_of(item, "stubs");
    group.stored_bytes = count_of(item, "stored_bytes");
    group.uncompressed_bytes = count_of(item, "uncompressed_bytes");
    code.objects += group.count;
    code.groups.push_back(std::move(group));
  }
  return code;
}

StoredLibraries::Entry entry_of(const Json& json) {
  StoredLibraries::Entry entry;
  ElfImage& image = entry.image;
  image.file_size = count_of(json, "size_bytes");
  image.machine = static_cast<ElfMachine>(count_of(json, "machine") & 0xffffU);
  image.bits = count_of(json, "bits") == 32 ? 32 : 64;
  image.is_dynamic = true;
  entry.file_name = text_of(json, "file_name");
  image.soname = text_of(json, "soname");
  image.needed = texts_of(json, "needed");
  if (json.contains("rpath")) image.rpath = text_of(json, "rpath");
  if (json.contains("runpath")) image.runpath = text_of(json, "runpath");
  for (auto& row : rows_of(json, "needed_versions", 2)) image.needed_versions.push_back({row[0], row[1], 0});
  for (auto& row : rows_of(json, "defined_versions", 2)) image.defined_versions.push_back({row[0], row[1], 0});
  for (auto& row : rows_of(json, "undefined", 3)) entry.missing.push_back({row[0], row[1], row[2], false});
  const auto code = json.find("code");
  if (code != json.end() && code->is_object())
    entry.code = code_of(*code);
  else
    entry.code_unknown = json.contains("code_unknown") ? text_of(json, "code_unknown") : "not in the capture";
  return entry;
}

std::map<std::string, std::string> map_of_texts(const Json& json, const char* key) {
  std::map<std::string, std::string> texts;
  const auto found = json.find(key);
  if (found != json.end() && found->is_object())
    for (const auto& [name, value] : found->items())
      if (value.is_string()) texts.emplace(name, value.get<std::string>());
  return texts;
}

}  // namespace

std::string libraries_to_json(const StoredLibraries& libraries) {
  OrderedJson cache = OrderedJson::array();
  for (const LoaderCacheEntry& entry : libraries.loader_cache) cache.push_back({entry.soname, entry.path});
  OrderedJson head = {{"schema", "sparkops.libraries/1"}};
  if (libraries.loader_cache_unknown.empty())
    head["loader_cache"] = std::move(cache);
  else
    head["loader_cache_unknown"] = libraries.loader_cache_unknown;
  head["tool_versions"] = OrderedJson(libraries.tool_versions);
  head["other_files"] = libraries.other_files;
  head["unreadable"] = OrderedJson(libraries.unreadable);
  head["distributions"] = OrderedJson::object();
  for (const auto& [name, paths] : libraries.distributions) head["distributions"][name] = paths;
  const auto text_of_json = [](const OrderedJson& json) {
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  };
  // One line for each part and for each library: readable in a diff, and no longer than it has to be.
  std::string text = "{\n";
  for (const auto& [key, value] : head.items()) text += text_of_json(key) + ": " + text_of_json(value) + ",\n";
  text += "\"libraries\": {";
  const char* separator = "\n";
  for (const auto& [path, entry] : libraries.libraries) {
    text += separator + text_of_json(path) + ": " + text_of_json(entry_json(entry));
    separator = ",\n";
  }
  return text + "\n}}\n";
}

Result<StoredLibraries> libraries_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return wrong("the document", "is no JSON object");
  if (text_of(json, "schema") != "sparkops.libraries/1") return wrong("schema", "is not sparkops.libraries/1");
  StoredLibraries stored;
  const auto libraries = json.find("libraries");
  if (libraries == json.end() || !libraries->is_object()) return wrong("libraries", "is no object");
  if (libraries->size() > k_most_libraries) return wrong("libraries", "are more than a machine has");
  for (const auto& [path, entry] : libraries->items())
    if (entry.is_object()) stored.libraries.emplace(normal_path(path), entry_of(entry));
  stored.unreadable = map_of_texts(json, "unreadable");
  stored.tool_versions = map_of_texts(json, "tool_versions");
  stored.other_files = texts_of(json, "other_files");
  const auto distributions = json.find("distributions");
  if (distributions != json.end() && distributions->is_object())
    for (const auto& [name, paths] : distributions->items()) stored.distributions.emplace(name, texts_of(paths));
  for (auto& row : rows_of(json, "loader_cache", 2)) stored.loader_cache.push_back({row[0], row[1], false});
  stored.loader_cache_unknown = text_of(json, "loader_cache_unknown");
  if (!json.contains("loader_cache") && stored.loader_cache_unknown.empty())
    stored.loader_cache_unknown = "not in the capture";
  return stored;
}

}  // namespace sparkops::facts
