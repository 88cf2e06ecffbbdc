#pragma once

#include "knowledge/entry_reader.h"
#include "knowledge/tables.h"

namespace sparkops::knowledge {

/// How each kind of entry is read from its fields; problems stay in the reader.
[[nodiscard]] GotchaEntry read_gotcha(EntryReader& reader);
[[nodiscard]] Topic read_topic(EntryReader& reader);
[[nodiscard]] Symptom read_symptom(EntryReader& reader);
[[nodiscard]] ServerDefaults read_server(EntryReader& reader);
[[nodiscard]] Platform read_platform(EntryReader& reader);
[[nodiscard]] PlaybookEntry read_playbook(EntryReader& reader);
[[nodiscard]] StackPackage read_stack_package(EntryReader& reader);
[[nodiscard]] ModelEntry read_model_entry(EntryReader& reader);
[[nodiscard]] AnchorEntry read_anchor(EntryReader& reader);
[[nodiscard]] WheelCuda read_wheel_cuda(EntryReader& reader);
[[nodiscard]] Combination read_combination(EntryReader& reader);
[[nodiscard]] Recipe read_recipe(EntryReader& reader);

}  // namespace sparkops::knowledge
