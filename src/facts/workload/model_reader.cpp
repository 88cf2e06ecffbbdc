#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "facts/workload/adapter_config.h"
#include "facts/workload/architecture_reader.h"
#include "facts/workload/config_readers.h"
#include "facts/workload/gguf.h"
#include "facts/workload/model.h"
#include "facts/workload/model_files.h"
#include "facts/workload/model_quantization.h"
#include "facts/workload/safetensors.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_largest_config = std::size_t{4} << 20;
constexpr std::size_t k_largest_index = std::size_t{128} << 20;
constexpr std::string_view k_config = "config.json";
constexpr std::string_view k_adapter = "adapter_config.json";
constexpr std::string_view k_index = "model.safetensors.index.json";

/// Puts together what lies in one directory.
class ModelReader {
 public:
  ModelReader(const Root& root, std::string directory, std::string name)
      : root_(root), directory_(std::move(directory)) {
    model_.name = std::move(name);
    model_.where = directory_.empty() ? "." : directory_;
    model_.architecture = unknown("there is no config.json");
    model_.dtype = unknown("there is no config.json");
    model_.quantization = unknown("there is no config.json");
    model_.tensors = unknown("there are no weight files");
    model_.adapter = unknown("there is no adapter_config.json");
  }

  Result<Model> read_all() {
    if (const auto listed = list(); !listed) return tl::unexpected(listed.error());
    if (has(k_config)) read_config();
    if (has(k_adapter)) read_adapter();
    const bool adapter_alone = model_.adapter.known() && !has(k_config);
    if (adapter_alone) {
      const std::string base = model_.adapter->base_model.value_or("one that is not named");
      model_.tensors = unknown("only an adapter lies here; its base model is " + base);
    } else {
      read_weights();
    }
    return finish();
  }

  /// The GGUF model that the file is one part of.
  Result<Model> read_one_gguf(const std::string& file) {
    if (const auto listed = list(); !listed) return tl::unexpected(listed.error());
    if (const auto read = read_gguf(file); !read) return tl::unexpected(read.error());
    return finish();
  }

  /// A safetensors file that was named: with the others of its set, and with the config beside it.
  Result<Model> read_one_safetensors(const std::string& file) {
    if (const auto listed = list(); !listed) return tl::unexpected(listed.error());
    if (has(k_config)) read_config();
    const WeightFiles chosen = choose_safetensors(names_, {});
    const bool in_set = std::find(chosen.files.begin(), chosen.files.end(), file) != chosen.files.end();
    if (in_set) model_.doubts.insert(model_.doubts.end(), chosen.doubts.begin(), chosen.doubts.end());
    auto totals = read_safetensors(root_, directory_, in_set ? chosen.files : std::vector<std::string>{file}, sum());
    if (!totals) return tl::unexpected(totals.error());
    keep(std::move(*totals), in_set ? chosen.files : std::vector<std::string>{file});
    return finish();
  }

 private:
  [[nodiscard]] std::string in_directory(std::string_view name) const {
    return directory_.empty() ? std::string(name) : directory_ + "/" + std::string(name);
  }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

  Result<void> list() {
    auto entries = root_.list(directory_.empty() ? "." : directory_);
    if (!entries) return tl::unexpected(entries.error());
    for (DirectoryEntry& entry : *entries)
      if (entry.kind != FileKind::directory) names_.push_back(std::move(entry.name));
    return {};
  }

  Result<ConfigValue> read_json(std::string_view name) {
    const auto text = root_.read(in_directory(name), k_largest_config);
    if (!text) return tl::unexpected(text.error());
    auto document = parse_json(*text);
    if (!document) return failure(ErrorKind::malformed, std::string(name) + ": " + document.error().message);
    model_.files.emplace_back(name);
    return document;
  }

  void read_config() {
    const auto config = read_json(k_config);
    if (!config) {
      model_.architecture = unknown(config.error());
      model_.dtype = unknown(config.error());
      model_.quantization = unknown(config.error());
      return;
    }
    take_architecture(*config, std::string(k_config));
    const ConfigValue* const text_section = config->find("text_config");
    std::string dtype;
    for (const ConfigValue* const section : {&*config, text_section})
      for (const std::string_view key : {"dtype", "torch_dtype"})
        if (section != nullptr && section->find(key) != nullptr && dtype.empty()) dtype = section->find(key)->text();
    model_.dtype = unknown("config.json has no dtype");
    if (!dtype.empty()) model_.dtype = as_read(dtype.starts_with("torch.") ? dtype.substr(6) : std::string(dtype));
    model_.quantization = read_model_quantization(*config);
    if (model_.quantization || !has("hf_quant_config.json")) return;
    if (const auto document = read_json("hf_quant_config.json"))
      model_.quantization = read_modelopt_quantization(*document);
  }

  void take_architecture(const ConfigValue& config, const std::string& file) {
    auto reading = read_architecture(config);
    if (!reading) {
      model_.architecture = unknown(file + ": " + reading.error().message);
      return;
    }
    model_.architecture = as_read(std::move(reading->architecture));
    model_.doubts.insert(model_.doubts.end(), reading->doubts.begin(), reading->doubts.end());
  }

  void read_adapter() {
    const auto document = read_json(k_adapter);
    auto adapter = document ? read_adapter_config(*document) : tl::unexpected(document.error());
    if (adapter)
      model_.adapter = as_read(std::move(*adapter));
    else
      model_.adapter = unknown(std::string(k_adapter) + ": " + adapter.error().message);
  }

  [[nodiscard]] TensorSum sum() const {
    const auto layers = model_.architecture ? static_cast<std::int64_t>(model_.architecture->layers.size()) : 0;
    return {layers, model_.quantization};
  }

  void keep(TensorTotals totals, const std::vector<std::string>& files) {
    model_.files.insert(model_.files.end(), files.begin(), files.end());
    model_.tensors = as_read(std::move(totals));
  }

  void read_weights() {
    WeightFiles chosen = choose_safetensors(names_, {});
    const bool several = chosen.files.empty() || !chosen.doubts.empty();
    if (several && has(k_index)) chosen = choose_safetensors(names_, files_of_index());
    model_.doubts.insert(model_.doubts.end(), chosen.doubts.begin(), chosen.doubts.end());
    if (!chosen.files.empty()) {
      auto totals = read_safetensors(root_, directory_, chosen.files, sum());
      if (totals) return keep(std::move(*totals), chosen.files);
      model_.tensors = unknown(totals.error());
      model_.doubts.push_back("the weight files could not be read: " + totals.error().message);
      return;
    }
    const std::vector<std::string> models = gguf_models(names_);
    if (models.size() == 1) {
      if (const auto read = read_gguf(models.front()); !read) model_.tensors = unknown(read.error());
    } else if (models.size() > 1) {
      model_.tensors = unknown(std::to_string(models.size()) + " GGUF models lie here; name one of them, such as " +
                               in_directory(models.front()));
    }
  }

  std::vector<std::string> files_of_index() {
    const auto text = root_.read(in_directory(k_index), k_largest_index);
    auto files = text ? parse_safetensors_index(*text) : tl::unexpected(text.error());
    if (files) return std::move(*files);
    model_.doubts.push_back(std::string(k_index) + ": " + files.error().message);
    return {};
  }

  Result<void> read_gguf(const std::string& file) {
    const WeightFiles parts = gguf_parts(names_, file);
    model_.doubts.insert(model_.doubts.end(), parts.doubts.begin(), parts.doubts.end());
    GgufHeader whole;
    std::vector<std::uint64_t> sizes;
    for (const std::string& part : parts.files) {
      const auto opened = root_.open_file(in_directory(part));
      if (!opened) return tl::unexpected(opened.error());
      auto header = read_gguf_header(**opened);
      if (!header) return failure(header.error().kind, part + ": " + header.error().message);
      sizes.push_back((*opened)->size());
      if (whole.version == 0)
        whole = std::move(*header);
      else
        std::move(header->tensors.begin(), header->tensors.end(), std::back_inserter(whole.tensors));
    }
    if (!model_.architecture) {
      const auto config = config_of_gguf(whole);
      if (config)
        take_architecture(*config, file);
      else
        model_.architecture = unknown(file + ": " + config.error().message);
    }
    TensorSum tensors = sum();
    for (const GgufTensor& tensor : whole.tensors)
      tensors.add_weights({tensor.name, tensor.type->name, tensor.elements, tensor.bytes, 0, 0});
    for (const std::uint64_t size : sizes) tensors.add_file(size);
    keep(tensors.finish(), parts.files);
    model_.quantization = quantization_of_gguf(*model_.tensors);
    model_.dtype = unknown("GGUF does not tell what it is computed in");
    return {};
  }

  Result<Model> finish() {
    const bool nothing = model_.files.empty() && !model_.tensors && !model_.architecture && !model_.adapter;
    if (nothing) {
      const bool broken = has(k_config) || has(k_adapter) || !gguf_models(names_).empty();
      const std::string why = has(k_config) ? model_.architecture.reason()
                              : broken      ? model_.tensors.reason()
                                            : "no config.json, safetensors, GGUF or adapter_config.json";
      return failure(broken ? ErrorKind::malformed : ErrorKind::not_found,
                     model_.where + ": no model in it (" + why + ")");
    }
    model_.parameters = model_.tensors ? model_.tensors->parameters : Known<std::int64_t>(model_.tensors.as_unknown());
    return std::move(model_);
  }

  const Root& root_;
  std::string directory_;
  std::vector<std::string> names_;
  Model model_;
};

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : slash == 0 ? "/" : path.substr(0, slash);
}

std::string last_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

Result<Model> read_model(const Root& root, std::string_view path) {
  std::string where(path);
  while (where.size() > 1 && where.ends_with('/')) where.pop_back();
  const auto status = root.status(where.empty() ? "." : where);
  if (!status) return tl::unexpected(status.error());
  if (status->kind == FileKind::directory) {
    if (last_of(where).starts_with("models--")) {
      const auto snapshot = find_snapshot(root, where);
      if (!snapshot) return tl::unexpected(snapshot.error());
      where = *snapshot;
    }
    return ModelReader(root, where, std::string(path)).read_all();
  }
  const std::string file = last_of(where);
  ModelReader reader(root, parent_of(where), std::string(path));
  if (file.ends_with(".gguf")) return reader.read_one_gguf(file);
  if (file.ends_with(".safetensors")) return reader.read_one_safetensors(file);
  if (file.ends_with(".json")) return reader.read_all();
  return failure(ErrorKind::not_found,
                 where + ": no model file; read are directories, config.json, *.safetensors and *.gguf");
}

Result<Model> find_model(const std::string& path_or_name) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path_or_name, error);
  if (!error && std::filesystem::exists(absolute, error)) {
    auto model = read_model(Root::live(), absolute.lexically_normal().string());
    if (model) model->name = path_or_name;
    return model;
  }
  const std::string cache = hub_cache_directory();
  const bool is_name = !path_or_name.empty() && path_or_name.front() != '/' && path_or_name.front() != '.' &&
                       std::count(path_or_name.begin(), path_or_name.end(), '/') <= 1;
  if (!is_name || cache.empty()) return failure(ErrorKind::not_found, path_or_name + ": no such file or directory");
  const std::string folder = cache + "/" + hub_folder(path_or_name);
  if (!std::filesystem::exists(folder, error))
    return failure(ErrorKind::not_found, path_or_name + ": neither a path nor in the Hugging Face cache " + cache);
  auto model = read_model(Root::live(), std::filesystem::absolute(folder, error).string());
  if (model) model->name = path_or_name;
  return model;
}

}  // namespace sparkops::facts
