// Feeds one text to every reader of workload files: none may crash, hang or grow without bound.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "facts/workload/config_readers.h"
#include "facts/workload/script_reader.h"
#include "facts/workload/service_readers.h"
#include "facts/workload/shell_reader.h"

namespace {

using namespace sparkops::facts;

std::vector<Setting> no_files(const std::string&) {
  return {};
}

void use(const ConfigValue& document) {
  std::vector<Setting> settings;
  append_settings(document, "f", settings);
  static_cast<void>(server_of_settings(settings));
  static_cast<void>(read_gpu_sharing(document));
  if (is_compose(document)) static_cast<void>(read_compose(document, "f", {}, no_files));
  if (is_kubernetes(document)) static_cast<void>(read_kubernetes(document, "f", no_files));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  if (const auto documents = parse_yaml(text))
    for (const ConfigValue& document : *documents) use(document);
  if (const auto document = parse_json(text)) use(*document);
  if (const auto document = parse_toml(text)) use(*document);
  for (const ShellForm form : {ShellForm::script, ShellForm::environment_file})
    if (const auto script = parse_shell(text, form)) static_cast<void>(read_script(*script, "f", no_files));
  static_cast<void>(read_launch(split_command(text), {}));
  return 0;
}
