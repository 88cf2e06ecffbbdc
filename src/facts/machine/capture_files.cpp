#include "facts/machine/capture_files.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sparkops::facts {

namespace {

using Json = nlohmann::json;

constexpr const char* k_notes_path = "sparkops/capture.json";
constexpr long k_largest_page_size = 1L << 20;  // 64 KiB is the largest base page Linux has on any platform so far

/// A JSON object; nothing when the text is anything else. nlohmann's parser bounds neither depth nor size, so the
/// caller's size cap does.
Result<Json> parse_object(std::string_view text, const char* what) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return failure(ErrorKind::malformed, std::string(what) + ": not a JSON object");
  return json;
}

std::string missing(const char* key) {
  return std::string(k_notes_path) + " does not say " + key;
}

Known<std::string> text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return unknown(missing(key));
  return as_read(found->get<std::string>());
}

Known<Timestamp> time_member(const Json& object, const char* key) {
  const Known<std::string> text = text_member(object, key);
  if (!text) return text.as_unknown();
  const auto time = parse_rfc3339(*text);
  if (!time) return unknown(std::string(k_notes_path) + ": " + key + " is no RFC 3339 time");
  return as_read(*time);
}

Known<long> page_size_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return unknown(missing(key));
  const auto size = found->get<std::int64_t>();
  const bool power_of_two = size > 0 && (size & (size - 1)) == 0;
  if (!power_of_two || size > k_largest_page_size)
    return unknown(std::string(k_notes_path) + ": " + key + " is no size of a page");
  return as_read(static_cast<long>(size));
}

CaptureNotes notes_unknown(const std::string& reason) {
  return {unknown(reason), unknown(reason), unknown(reason), unknown(reason)};
}

/// A size in bytes, not negative.
Result<Bytes> size_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned() ||
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    return failure(ErrorKind::malformed, std::string("sparkops/pagecache.json: a file without a valid ") + key);
  return Bytes{found->get<std::int64_t>()};
}

Result<CachedFile> cached_file(const Json& entry, const std::string& how) {
  if (!entry.is_object() || !entry.contains("path") || !entry.at("path").is_string())
    return failure(ErrorKind::malformed, "sparkops/pagecache.json: a file without a path");
  const auto size = size_member(entry, "size_bytes");
  const auto cached = size_member(entry, "cached_bytes");
  if (!size) return tl::unexpected(size.error());
  if (!cached) return tl::unexpected(cached.error());
  return CachedFile{printable(entry.at("path").get<std::string>()), *size, *cached, how};
}

}  // namespace

CaptureNotes read_capture_notes(const Root& root) {
  const auto text = root.read(k_notes_path);
  if (!text) return notes_unknown(text.error().message);
  const auto json = parse_object(*text, k_notes_path);
  if (!json) return notes_unknown(json.error().message);
  return {time_member(*json, "taken_at"), time_member(*json, "vmstat_earlier_at"), text_member(*json, "architecture"),
          page_size_member(*json, "page_size_bytes")};
}

Result<CapturedPageCache> parse_captured_page_cache(std::string_view text) {
  const auto json = parse_object(text, "sparkops/pagecache.json");
  if (!json) return tl::unexpected(json.error());
  CapturedPageCache page_cache;
  if (const auto how = json->find("how"); how != json->end() && how->is_string())
    page_cache.how = printable(how->get<std::string>());
  const auto files = json->find("files");
  if (files == json->end() || !files->is_array())
    return failure(ErrorKind::malformed, "sparkops/pagecache.json: no list of files");
  for (const Json& entry : *files) {
    auto file = cached_file(entry, "capture");
    if (!file) return tl::unexpected(file.error());
    page_cache.files.push_back(std::move(*file));
  }
  return page_cache;
}

}  // namespace sparkops::facts
