#include "knowledge/entries.h"

namespace sparkops::knowledge {

GotchaEntry read_gotcha(EntryReader& reader) {
  GotchaEntry entry;
  entry.id = reader.text("id");
  entry.title = reader.text("title");
  entry.symptom = reader.text("symptom");
  entry.cause = reader.text("cause");
  entry.check = reader.text("check");
  entry.fix = reader.text("fix");
  entry.how_sure = reader.text("how_sure");
  entry.later_evidence = reader.optional_text("later_evidence");
  entry.see_also = reader.optional_texts("see_also");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

Topic read_topic(EntryReader& reader) {
  Topic entry;
  entry.id = reader.text("id");
  entry.title = reader.text("title");
  entry.text = reader.text("text");
  entry.see_also = reader.optional_texts("see_also");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

Symptom read_symptom(EntryReader& reader) {
  Symptom entry;
  entry.text = reader.text("text");
  entry.words = reader.optional_texts("words");
  entry.leads_to = reader.texts("leads_to");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

ServerDefaults read_server(EntryReader& reader) {
  ServerDefaults entry;
  entry.server = reader.text("server");
  entry.name = reader.text("name");
  entry.cap_option = reader.optional_text("cap_option");
  entry.default_fraction = reader.optional_number("default_fraction");
  entry.default_text = reader.text("default_text");
  entry.cap_advice = reader.text("cap_advice");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

Platform read_platform(EntryReader& reader) {
  Platform entry;
  entry.id = reader.text("id");
  entry.name = reader.text("name");
  entry.pool = kibibytes(reader.whole_number("pool_kib"));
  entry.architecture = reader.text("architecture");
  entry.cuda_major = static_cast<int>(reader.whole_number("cuda_major"));
  entry.capability_major = static_cast<int>(reader.whole_number("capability_major"));
  entry.capability_minor = static_cast<int>(reader.whole_number("capability_minor"));
  entry.management_interface = reader.optional_text("management_interface");
  entry.bandwidth_text = reader.text("bandwidth_text");
  entry.copy_low_gb_s = reader.whole_number("copy_low_gb_s");
  entry.copy_high_gb_s = reader.whole_number("copy_high_gb_s");
  entry.read_gb_s = reader.whole_number("read_gb_s");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

PlaybookEntry read_playbook(EntryReader& reader) {
  PlaybookEntry entry;
  entry.playbook = reader.text("playbook");
  entry.status = reader.one_of("status", {"ok", "stale", "broken"});
  entry.problem = reader.optional_text("problem");
  entry.fix = reader.optional_text("fix");
  entry.stale_strings = reader.optional_texts("stale_strings");
  entry.open_issues = reader.optional_texts("open_issues");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

StackPackage read_stack_package(EntryReader& reader) {
  StackPackage entry;
  entry.name = reader.text("name");
  entry.version = reader.text("version");
  entry.constraint = reader.optional_text("constraint");
  entry.note = reader.optional_text("note");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

ModelEntry read_model_entry(EntryReader& reader) {
  ModelEntry entry;
  entry.name = reader.text("name");
  entry.aliases = reader.optional_texts("aliases");
  entry.config = reader.fields("config");
  entry.parameters = reader.optional_whole_number("parameters");
  entry.verified = reader.one_of("verified", {"total", "dimensions", "no"});
  entry.note = reader.optional_text("note");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

AnchorEntry read_anchor(EntryReader& reader) {
  AnchorEntry entry;
  entry.id = reader.text("id");
  entry.kind = reader.one_of("kind", {"measured", "ceiling"});
  entry.model = reader.text("model");
  entry.parameters = reader.whole_number("parameters");
  entry.method = reader.one_of("method", {"full", "lora", "qlora", "nvfp4-lora", "inference"});
  entry.weights = reader.text("weights");
  entry.batch = reader.whole_number("batch");
  entry.packing = reader.whole_number("packing");
  if (entry.kind == "measured") {
    entry.quantity = reader.one_of("quantity", {"peak_allocated", "load"});
    entry.bytes = reader.whole_number("bytes");
  }
  entry.length = reader.optional_text("length");
  entry.objective = reader.optional_text("objective");
  entry.what = reader.text("what");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

WheelCuda read_wheel_cuda(EntryReader& reader) {
  WheelCuda entry;
  entry.name = reader.text("name");
  entry.cpu_only_before = reader.optional_text("cpu_only_before");
  entry.cuda_12_before = reader.optional_text("cuda_12_before");
  entry.cuda_13_from = reader.optional_text("cuda_13_from");
  entry.note = reader.optional_text("note");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

Combination read_combination(EntryReader& reader) {
  Combination entry;
  entry.id = reader.text("id");
  entry.when = reader.texts("when");
  entry.unless_variable = reader.optional_text("unless_variable");
  entry.unless_ngc = reader.one_of("unless_ngc", {"yes", "no"}) == "yes";
  entry.status = reader.one_of("status", {"fail", "warn"});
  entry.headline = reader.text("headline");
  entry.install = reader.optional_texts("install");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

Recipe read_recipe(EntryReader& reader) {
  Recipe entry;
  entry.id = reader.text("id");
  entry.also = reader.optional_texts("also");
  entry.title = reader.text("title");
  entry.image = reader.text("image");
  entry.moving = reader.one_of("moving", {"yes", "no"}) == "yes";
  entry.image_note = reader.text("image_note");
  entry.in_container = reader.optional_texts("in_container");
  entry.pip = reader.optional_texts("pip");
  entry.pip_note = reader.text("pip_note");
  entry.packages = reader.optional_texts("packages");
  entry.sources = reader.sources("sources");
  entry.last_verified = reader.date("last_verified");
  return entry;
}

}  // namespace sparkops::knowledge
