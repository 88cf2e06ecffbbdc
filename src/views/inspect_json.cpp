#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"
#include "views/inspect.h"
#include "views/inspect_words.h"

namespace sparkops::views {

namespace {

using store::Json;

constexpr int k_indent = 2;

Json printable_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(printable(text));
  return list;
}

Json elf_json(const facts::InspectedFile& file) {
  const facts::ElfImage& image = *file.image;
  Json json = Json::object();
  json["machine"] = to_string(image.machine);
  json["bits"] = image.bits;
  json["soname"] = image.soname.empty() ? Json(nullptr) : Json(printable(image.soname));
  json["needed"] = printable_list(image.needed);
  json["rpath"] = image.rpath ? Json(printable(*image.rpath)) : Json(nullptr);
  json["runpath"] = image.runpath ? Json(printable(*image.runpath)) : Json(nullptr);
  json["needed_versions"] = Json::array();
  for (const facts::ElfVersion& version : image.needed_versions)
    json["needed_versions"].push_back(
        {{"library", printable(version.library)}, {"version", printable(version.version)}});
  json["exported_symbols"] = file.exported;
  json["undefined_symbols"] = file.undefined;
  return json;
}

Json groups_json(const facts::FatBinary& code, const Known<int>& driver_cuda) {
  Json groups = Json::array();
  for (const facts::CodeGroup& group : code.groups) {
    const auto runs = verdicts::runs_on_sm121(group.target, group.isa_major, group.isa_minor, driver_cuda);
    const std::string isa = isa_text(group.isa_major, group.isa_minor);
    groups.push_back({{"section", printable(group.section)},
                      {"target", to_string(group.target)},
                      {"kind", std::string(kind_word(group.target.kind))},
                      {"arch", group.target.arch},
                      {"compression", std::string(compression_word(group.compression))},
                      {"ptx_isa", isa.empty() ? Json(nullptr) : Json(isa)},
                      {"count", group.count},
                      {"link_stubs", group.stubs},
                      {"stored_bytes", group.stored_bytes},
                      {"uncompressed_bytes", group.uncompressed_bytes},
                      {"runs_on_sm121", std::string(to_string(runs))}});
  }
  return groups;
}

Json code_json(const facts::InspectedFile& file, const Known<int>& driver_cuda) {
  const facts::FatBinary& code = file.code;
  Json json = {{"objects", code.objects},
               {"containers", code.containers},
               {"registered_containers", code.wrappers},
               {"searched_elsewhere", code.searched_elsewhere},
               {"malformed", code.malformed},
               {"problems", printable_list(code.problems)},
               {"groups", groups_json(code, driver_cuda)}};
  if (!file.objects.empty()) {
    Json list = Json::array();
    for (const facts::CodeObject& object : file.objects)
      list.push_back({{"offset", object.offset},
                      {"target", to_string(object.target)},
                      {"compression", std::string(compression_word(object.compression))},
                      {"stored_bytes", object.stored_bytes},
                      {"uncompressed_bytes", object.uncompressed_bytes}});
    json["list"] = std::move(list);
  }
  return json;
}

Json file_json(const facts::InspectedFile& file, const verdicts::Sm121Code& verdict, const Known<int>& driver_cuda) {
  Json json = {{"name", printable(file.name)}, {"size_bytes", file.size}};
  if (!file.problem.empty()) {
    json["problem"] = printable(file.problem);
    return json;
  }
  json["kind"] = std::string(kind_word(file.kind));
  if (file.image) json["elf"] = elf_json(file);
  json["code"] = code_json(file, driver_cuda);
  json["sm121"] = {{"loadable", verdict.loadable},
                   {"runs", verdict.has_code ? Json(std::string(to_string(verdict.best))) : Json(nullptr)},
                   {"sentence", verdict.sentence},
                   {"native", verdict.native},
                   {"compiled", verdict.compiled},
                   {"needs_newer_driver", verdict.newer_ptx},
                   {"not", verdict.others},
                   {"with_fp4_conversion", verdict.with_fp4_conversion}};
  return json;
}

}  // namespace

std::string_view kind_word(facts::InspectedKind kind) {
  switch (kind) {
    case facts::InspectedKind::library: return "library";
    case facts::InspectedKind::device_code: return "device-code";
    case facts::InspectedKind::archive: return "archive";
  }
  return "library";
}

std::string_view kind_word(facts::CodeKind kind) {
  switch (kind) {
    case facts::CodeKind::ptx: return "ptx";
    case facts::CodeKind::cubin: return "cubin";
    case facts::CodeKind::lto_ir: return "lto-ir";
    case facts::CodeKind::other: return "other";
  }
  return "other";
}

std::string_view compression_word(facts::CodeCompression compression) {
  switch (compression) {
    case facts::CodeCompression::none: return "none";
    case facts::CodeCompression::lz4: return "lz4";
    case facts::CodeCompression::zstandard: return "zstandard";
  }
  return "none";
}

std::string isa_text(int isa_major, int isa_minor) {
  return isa_major == 0 ? "" : fmt::format("{}.{}", isa_major, isa_minor);
}

std::string inspect_json(const InspectedCode& inspected) {
  const facts::Inspection& inspection = inspected.inspection;
  Json json = {{"schema", "sparkops.inspect/1"}};
  store::ObjectWriter(json).write(
      "driver_cuda",
      inspected.driver_cuda.known()
          ? Known<std::string>(verdicts::cuda_version_text(*inspected.driver_cuda), inspected.driver_cuda.provenance())
          : Known<std::string>(inspected.driver_cuda.as_unknown()));
  if (inspection.file.kind != facts::InspectedKind::archive) {
    json["file"] = file_json(inspection.file, inspected.code.at(0), inspected.driver_cuda);
  } else {
    Json members = Json::array();
    for (std::size_t i = 0; i < inspection.members.size(); ++i)
      members.push_back(file_json(inspection.members[i], inspected.code.at(i), inspected.driver_cuda));
    json["file"] = {{"name", printable(inspection.file.name)},
                    {"size_bytes", inspection.file.size},
                    {"kind", "archive"},
                    {"member_count", inspection.member_count},
                    {"members", std::move(members)}};
  }
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparkops::views
