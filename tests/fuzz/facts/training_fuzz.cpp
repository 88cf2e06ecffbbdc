#include <cstdint>
#include <string>
#include <string_view>

#include "facts/workload/config_readers.h"
#include "facts/workload/dataset_sample.h"
#include "facts/workload/python_tokens.h"
#include "facts/workload/python_training.h"
#include "facts/workload/training_config.h"

/// Any bytes as a Python script, a notebook, a line of a dataset, and as a configuration of a training run.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto script = read_python_settings(text, "f.py")) (void)read_training_settings(script->training);
  if (const auto code = python_of_notebook(text)) (void)read_python_settings(*code, "f.ipynb");
  (void)read_sample(text);
  if (const auto documents = parse_yaml(text))
    for (const ConfigValue& document : *documents) {
      std::vector<Setting> settings;
      append_settings(document, "f", settings);
      (void)read_training_settings(settings);
    }
  return 0;
}
