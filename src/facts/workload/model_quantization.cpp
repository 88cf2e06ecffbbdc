#include "facts/workload/model_quantization.h"

#include "base/text.h"
#include "facts/workload/config_fields.h"

namespace sparkops::facts {

namespace {

constexpr std::int64_t k_most_bits = 64;
constexpr std::int64_t k_most_group = std::int64_t{1} << 20;

ModelQuantization untold(const std::string& reason) {
  ModelQuantization q;
  q.weight_bits = unknown(reason);
  q.bits = unknown(reason);
  q.group = unknown(reason);
  q.double_quantization = unknown(reason);
  q.compute_dtype = unknown(reason);
  return q;
}

/// Bits of the scales that belong to one weight (memory-model.md §4).
double with_scales(std::int64_t bits, std::int64_t scale_bits, std::int64_t group) {
  return static_cast<double>(bits) + (group > 0 ? static_cast<double>(scale_bits) / static_cast<double>(group) : 0);
}

void set_format(ModelQuantization& q, std::string format, std::int64_t weight_bits, double bits, std::int64_t group) {
  q.format = std::move(format);
  q.weight_bits = as_derived(std::int64_t{weight_bits});
  q.bits = as_derived(double{bits});
  if (group > 0) q.group = as_derived(std::int64_t{group});
}

void set_nvfp4(ModelQuantization& q) {
  set_format(q, "nvfp4", 4, 4.5, 16);  // e2m1, one fp8 scale for 16
}
void set_mxfp4(ModelQuantization& q) {
  set_format(q, "mxfp4", 4, 4.25, 32);  // e2m1, one e8m0 scale for 32
}

void read_bitsandbytes(const ConfigFields& fields, ModelQuantization& q) {
  constexpr std::int64_t k_block = 64, k_blocks_together = 256;
  if (fields.flag({"load_in_4bit", "_load_in_4bit"}).value_or(false)) {
    const std::string type = to_lower(fields.text({"bnb_4bit_quant_type"}));
    const bool twice = fields.flag({"bnb_4bit_use_double_quant"}).value_or(false);
    q.double_quantization = as_read(bool{twice});
    const double bits = twice ? 4 + 8.0 / k_block + 32.0 / (k_block * k_blocks_together) : 4 + 32.0 / k_block;
    set_format(q, type.empty() ? "fp4" : type, 4, bits, k_block);  // fp4 is the library's default
  } else if (fields.flag({"load_in_8bit", "_load_in_8bit"}).value_or(false)) {
    set_format(q, "int8", 8, 8, 0);
  }
  const std::string compute = to_lower(fields.text({"bnb_4bit_compute_dtype"}));
  if (!compute.empty()) q.compute_dtype = as_read(std::string(compute));
}

/// GPTQ and AWQ: 16 bits of scale and as many of zero point as a weight has, for each group.
void read_grouped_integers(const ConfigFields& fields, ModelQuantization& q) {
  const std::int64_t bits = fields.whole({"bits", "w_bit", "nbits"}, k_most_bits).value_or(0);
  std::int64_t group = 0;
  if (const auto stated = fields.number({"group_size", "q_group_size"}); stated && *stated > 0)
    group = fields.whole({"group_size", "q_group_size"}, k_most_group).value_or(0);
  if (bits == 0) return;
  set_format(q, "int" + std::to_string(bits), bits, with_scales(bits, 16 + bits, group), group);
}

void read_fp8(const ConfigFields& fields, ModelQuantization& q) {
  const std::vector<std::string> block = fields.texts({"weight_block_size"});
  double bits = 8;
  if (block.size() == 2) {
    const auto rows = parse_integer(block[0]), columns = parse_integer(block[1]);
    if (rows && columns && *rows > 0 && *columns > 0)
      bits += 32.0 / (static_cast<double>(*rows) * static_cast<double>(*columns));
  }
  set_format(q, "fp8", 8, bits, 0);
}

/// compressed-tensors describes each group of layers by itself; the first one that has weights is taken.
void read_compressed_tensors(const ConfigFields& fields, ModelQuantization& q) {
  const std::string packing = to_lower(fields.text({"format"}));
  if (contains(packing, "nvfp4")) return set_nvfp4(q);
  if (contains(packing, "mxfp4")) return set_mxfp4(q);
  const ConfigValue* const groups = fields.find({"config_groups"});
  if (groups == nullptr) return;
  for (const ConfigMember& member : groups->members) {
    const ConfigValue* const weights = member.value.find("weights");
    if (weights == nullptr || weights->kind != ConfigValue::Kind::map) continue;
    std::vector<std::string> ignored;
    const ConfigFields scheme(*weights, ignored);
    const std::int64_t bits = scheme.whole({"num_bits"}, k_most_bits).value_or(0);
    const std::int64_t group = scheme.whole({"group_size"}, k_most_group).value_or(0);
    const std::string type = to_lower(scheme.text({"type"}));
    constexpr std::int64_t k_nvfp4_group = 16, k_mxfp4_group = 32;
    if (type == "float" && bits == 4 && group == k_nvfp4_group) return set_nvfp4(q);
    if (type == "float" && bits == 4 && group == k_mxfp4_group) return set_mxfp4(q);
    if (bits > 0 && (type == "float" || type == "int"))
      return set_format(q, (type == "float" ? "fp" : "int") + std::to_string(bits), bits, with_scales(bits, 16, group),
                        group);
  }
}

void read_modelopt_algorithm(const ConfigFields& fields, ModelQuantization& q) {
  const std::string algorithm = to_lower(fields.text({"quant_algo"}));
  if (contains(algorithm, "nvfp4"))
    set_nvfp4(q);
  else if (contains(algorithm, "mxfp4"))
    set_mxfp4(q);
  else if (contains(algorithm, "fp8"))
    set_format(q, "fp8", 8, 8, 0);
  else if (contains(algorithm, "int4") || contains(algorithm, "w4a16"))
    read_grouped_integers(fields, q);
  else
    q.format = algorithm;  // "mixed_precision": only the headers tell
}

}  // namespace

Known<ModelQuantization> read_model_quantization(const ConfigValue& config) {
  const ConfigValue* section = config.find("quantization_config");
  if (section == nullptr) section = config.find("compression_config");
  if (section == nullptr) {
    const ConfigValue* const text = config.find("text_config");
    if (text != nullptr) section = text->find("quantization_config");
  }
  if (section == nullptr || section->kind != ConfigValue::Kind::map)
    return unknown("config.json has no quantization_config");
  std::vector<std::string> problems;
  const ConfigFields fields(*section, problems);
  ModelQuantization q = untold("the quantization_config does not tell");
  q.method = to_lower(fields.text({"quant_method", "quantization_method"}));
  const bool names_bitsandbytes = fields.has({"load_in_4bit", "load_in_8bit", "bnb_4bit_quant_type"});
  if (q.method.empty()) q.method = names_bitsandbytes ? "bitsandbytes" : fields.has({"quant_algo"}) ? "modelopt" : "";
  if (q.method == "bitsandbytes" || q.method == "bnb") read_bitsandbytes(fields, q);
  if (q.method == "awq" || q.method == "gptq" || q.method == "auto-round" || q.method == "autoround" ||
      q.method == "hqq")
    read_grouped_integers(fields, q);
  if (q.method == "fp8" || q.method == "fbgemm_fp8") read_fp8(fields, q);
  if (q.method == "compressed-tensors") read_compressed_tensors(fields, q);
  if (q.method.starts_with("modelopt")) read_modelopt_algorithm(fields, q);
  if (q.method == "mxfp4") set_mxfp4(q);
  if (q.format.empty()) q.format = q.method;
  q.not_converted =
      fields.texts({"modules_to_not_convert", "llm_int8_skip_modules", "ignore", "ignored_layers", "exclude_modules"});
  if (!problems.empty()) return unknown("quantization_config: " + join(problems, "; "));
  return as_read(std::move(q));
}

Known<ModelQuantization> read_modelopt_quantization(const ConfigValue& document) {
  const ConfigValue* const section = document.find("quantization");
  if (section == nullptr || section->kind != ConfigValue::Kind::map)
    return unknown("hf_quant_config.json has no section quantization");
  std::vector<std::string> problems;
  const ConfigFields fields(*section, problems);
  ModelQuantization q = untold("hf_quant_config.json does not tell");
  q.method = "modelopt";
  read_modelopt_algorithm(fields, q);
  q.not_converted = fields.texts({"exclude_modules"});
  return as_read(std::move(q));
}

}  // namespace sparkops::facts
