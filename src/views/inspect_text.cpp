#include <fmt/format.h>

#include <algorithm>

#include "base/quantities.h"
#include "base/text.h"
#include "views/inspect.h"
#include "views/inspect_words.h"

namespace sparkops::views {

namespace {

using facts::CodeGroup;
using facts::InspectedFile;
using facts::InspectedKind;

constexpr std::size_t k_label_columns = 10;
constexpr std::size_t k_name_bytes = 400;

std::string size_text(std::uint64_t bytes) {
  return format_size(Bytes{static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX))});
}

std::string field(std::string_view label, const std::string& text, const TextStyle& style) {
  return wrap(fmt::format("  {:<{}}", label, k_label_columns), printable(text, 16'384), style.width) + "\n";
}

std::string elf_fields(const facts::ElfImage& image, const InspectedFile& file, const TextStyle& style) {
  std::string text;
  if (!image.soname.empty()) text += field("soname", image.soname, style);
  if (!image.needed.empty()) text += field("needs", join(image.needed, ", "), style);
  if (image.rpath) text += field("rpath", *image.rpath, style);
  if (image.runpath) text += field("runpath", *image.runpath, style);
  if (image.is_dynamic)
    text += field("symbols", fmt::format("{} for others, {} that others must define", file.exported, file.undefined),
                  style);
  return text;
}

/// "yes", or why not.
std::string runs_text(const CodeGroup& group, const Known<int>& driver_cuda) {
  if (group.count == group.stubs) return "link stub";
  switch (verdicts::runs_on_sm121(group.target, group.isa_major, group.isa_minor, driver_cuda)) {
    case verdicts::RunsOn::natively: return "yes";
    case verdicts::RunsOn::by_compiling: {
      const auto cuda = verdicts::cuda_of_ptx(group.isa_major, group.isa_minor);
      return cuda ? fmt::format("JIT, CUDA {}+", verdicts::cuda_version_text(*cuda)) : "JIT";
    }
    case verdicts::RunsOn::needs_newer_driver: return "needs a newer driver";
    case verdicts::RunsOn::not_at_all: return "no";
    case verdicts::RunsOn::untold: return "not told";
  }
  return "";
}

std::string code_table(const facts::FatBinary& code, const Known<int>& driver_cuda) {
  std::string text = fmt::format("  {:<14} {:<6} {:>5} {:>6} {:>10} {:>10}  {}\n", "target", "kind", "ISA", "count",
                                 "stored", "unpacked", "on GB10");
  std::string section;
  for (const CodeGroup& group : code.groups) {
    if (group.section != section) {
      section = group.section;
      text += fmt::format("  in {}\n", printable(section, 60));
    }
    text +=
        fmt::format("  {:<14} {:<6} {:>5} {:>6} {:>10} {:>10}  {}\n", to_string(group.target),
                    kind_word(group.target.kind), isa_text(group.isa_major, group.isa_minor), group.count,
                    size_text(group.stored_bytes), size_text(group.uncompressed_bytes), runs_text(group, driver_cuda));
  }
  return text;
}

std::string object_list(const std::vector<facts::CodeObject>& objects) {
  std::string text;
  for (const facts::CodeObject& object : objects)
    text += fmt::format("  {:>12}  {:<14} {:<9} {:>10} {:>10}\n", object.offset, to_string(object.target),
                        compression_word(object.compression), object.stored_bytes, object.uncompressed_bytes);
  return text.empty() ? text
                      : fmt::format("  {:>12}  {:<14} {:<9} {:>10} {:>10}\n", "offset", "target", "packed", "stored",
                                    "unpacked") +
                            text;
}

std::string code_part(const InspectedFile& file, const verdicts::Sm121Code& verdict, const Known<int>& driver_cuda,
                      const TextStyle& style) {
  const facts::FatBinary& code = file.code;
  std::string text;
  if (code.has_code()) {
    text += field("code",
                  fmt::format("{} objects{}", code.objects,
                              code.containers == 0 ? "" : fmt::format(" in {} containers", code.containers)),
                  style);
    text += code_table(code, driver_cuda);
  }
  text += object_list(file.objects);
  for (const std::string& problem : code.problems) text += field("malformed", problem, style);
  const Color color = verdict.loadable && verdict.best == verdicts::RunsOn::natively ? Color::green
                      : verdict.loadable && !verdict.has_code                        ? Color::plain
                                                                                     : Color::yellow;
  return text +
         colored(wrap(fmt::format("  {:<{}}", "on GB10", k_label_columns), verdict.sentence, style.width), color,
                 style) +
         "\n";
}

std::string title_of(const InspectedFile& file) {
  const std::string name = printable(file.name, k_name_bytes);
  if (!file.image)
    return fmt::format("{}: {}, {}", name, file.kind == InspectedKind::archive ? "archive" : "device code",
                       size_text(file.size));
  return fmt::format("{}: {}-bit ELF for {}, {}", name, file.image->bits, to_string(file.image->machine),
                     size_text(file.size));
}

std::string file_text(const InspectedFile& file, const verdicts::Sm121Code& verdict, const Known<int>& driver_cuda,
                      const TextStyle& style) {
  if (!file.problem.empty())
    return wrap("", printable(file.name, k_name_bytes) + ": could not be read (" + file.problem + ")", style.width) +
           "\n";
  std::string text = wrap("", title_of(file), style.width) + "\n";
  if (file.image) text += elf_fields(*file.image, file, style);
  return text + code_part(file, verdict, driver_cuda, style);
}

}  // namespace

std::string inspect_text(const InspectedCode& inspected, const TextStyle& style) {
  const facts::Inspection& inspection = inspected.inspection;
  if (inspection.file.kind != InspectedKind::archive)
    return file_text(inspection.file, inspected.code.at(0), inspected.driver_cuda, style);
  std::string text = wrap("",
                          fmt::format("{}, {} members, {} of them libraries or device code", title_of(inspection.file),
                                      inspection.member_count, inspection.members.size()),
                          style.width) +
                     "\n";
  for (std::size_t i = 0; i < inspection.members.size(); ++i)
    text += "\n" + file_text(inspection.members[i], inspected.code.at(i), inspected.driver_cuda, style);
  return text;
}

}  // namespace sparkops::views
