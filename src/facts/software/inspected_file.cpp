#include "facts/software/inspected_file.h"

#include <algorithm>

#include "base/text.h"
#include "facts/software/elf_reading.h"
#include "facts/software/elf_symbols.h"
#include "facts/software/libraries.h"
#include "facts/software/zip_archive.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_most_listed_symbols = std::size_t{4} << 20;
constexpr std::size_t k_most_inspected_members = 10'000;

/// What code follows from the first bytes; nothing for other files.
std::optional<InspectedKind> kind_of(std::string_view start) {
  constexpr std::string_view k_container_start("\x50\xed\x55\xba", 4);
  if (looks_like_elf(start)) return InspectedKind::library;
  if (looks_like_zip(start)) return InspectedKind::archive;
  if (start.starts_with(k_container_start)) return InspectedKind::device_code;
  const bool is_text = start.find('\0') == std::string_view::npos;
  if (is_text && contains(start, ".version") && contains(start, ".target")) return InspectedKind::device_code;
  return std::nullopt;
}

Result<std::string> start_of(const RandomAccessFile& file) {
  constexpr std::size_t k_start = 4096;
  std::string start(k_start, '\0');
  const auto count = file.read_at(0, start);
  if (!count) return tl::unexpected(count.error());
  start.resize(*count);
  return start;
}

Result<void> count_symbols(const std::shared_ptr<const RandomAccessFile>& file, InspectedFile& inspected) {
  if (inspected.image->tables.symbols.size == 0) return {};
  const auto symbols = ElfSymbols::open(file, *inspected.image);
  if (!symbols) return tl::unexpected(symbols.error());
  const auto undefined = (*symbols)->undefined();
  if (!undefined) return tl::unexpected(undefined.error());
  const auto exported = (*symbols)->exported(k_most_listed_symbols);
  if (!exported) return tl::unexpected(exported.error());
  inspected.exported = exported->size();
  inspected.undefined = static_cast<std::uint64_t>(
      std::count_if(undefined->begin(), undefined->end(), [](const UndefinedSymbol& symbol) { return !symbol.weak; }));
  return {};
}

Result<InspectedFile> inspect_code(const std::shared_ptr<const RandomAccessFile>& file, std::string name,
                                   InspectedKind kind, ObjectList objects) {
  InspectedFile inspected;
  inspected.name = std::move(name);
  inspected.size = file->size();
  inspected.kind = kind;
  std::function<void(const CodeObject&)> visit;
  if (objects == ObjectList::every_object)
    visit = [&](const CodeObject& object) { inspected.objects.push_back(object); };
  if (kind == InspectedKind::library) {
    auto image = read_elf_image(*file);
    if (!image) return tl::unexpected(image.error());
    inspected.image = std::move(*image);
    if (inspected.image->machine == ElfMachine::cuda) inspected.kind = InspectedKind::device_code;
  }
  auto code = inspected.kind == InspectedKind::library
                  ? read_fat_binary(*file, *inspected.image, HiddenContainers::if_only_stubs, visit)
                  : read_device_code(*file, visit);
  if (!code) return tl::unexpected(code.error());
  inspected.code = std::move(*code);
  if (inspected.kind == InspectedKind::library)
    if (const auto counted = count_symbols(file, inspected); !counted) return tl::unexpected(counted.error());
  return inspected;
}

bool may_hold_code(std::string_view name) {
  return is_library_name(name.substr(name.rfind('/') + 1)) || name.ends_with(".cubin") || name.ends_with(".fatbin") ||
         name.ends_with(".ptx");
}

/// Members are told by their names first: looking into each of some thousand Python files would cost unpacking them.
Result<Inspection> inspect_archive(const std::shared_ptr<const RandomAccessFile>& file, ObjectList objects) {
  const auto archive = ZipArchive::open(file);
  if (!archive) return tl::unexpected(archive.error());
  Inspection inspection;
  inspection.file.name = file->name();
  inspection.file.size = file->size();
  inspection.file.kind = InspectedKind::archive;
  inspection.member_count = archive->members().size();
  for (const ZipMember& member : archive->members()) {
    if (!may_hold_code(member.name) || member.size == 0) continue;
    if (inspection.members.size() == k_most_inspected_members) break;
    const auto read = [&]() -> Result<InspectedFile> {
      const auto content = archive->open_member(member);
      if (!content) return tl::unexpected(content.error());
      const auto start = start_of(**content);
      if (!start) return tl::unexpected(start.error());
      const auto kind = kind_of(*start);
      if (!kind || *kind == InspectedKind::archive) return malformed_file(**content, "no library and no device code");
      return inspect_code(*content, member.name, *kind, objects);
    };
    auto inspected = read();
    if (inspected) {
      inspection.members.push_back(std::move(*inspected));
      continue;
    }
    InspectedFile unread;
    unread.name = member.name;
    unread.size = member.size;
    unread.problem = inspected.error().message;
    inspection.members.push_back(std::move(unread));
  }
  return inspection;
}

}  // namespace

Result<Inspection> inspect_file(const std::shared_ptr<const RandomAccessFile>& file, ObjectList objects) {
  const auto start = start_of(*file);
  if (!start) return tl::unexpected(start.error());
  const auto kind = kind_of(*start);
  if (!kind) return failure(ErrorKind::unsupported, file->name() + ": no library, device code or zip archive");
  if (*kind == InspectedKind::archive) return inspect_archive(file, objects);
  return inspect_code(file, file->name(), *kind, objects).map([](InspectedFile inspected) {
    return Inspection{std::move(inspected), {}, 0};
  });
}

}  // namespace sparkops::facts
