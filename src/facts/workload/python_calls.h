#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "facts/workload/config_value.h"

namespace sparkops::facts {

/// One argument of a call.
struct PythonArgument {
  std::string keyword;      ///< empty for a positional one
  ConfigValue value;        ///< null for None and for what cannot be told
  std::string cannot_tell;  ///< why, when it is no literal; empty otherwise
  int line = 0;
};

/// A call of something by its name, wherever it stands: in a function that is never called, too.
struct PythonCall {
  std::string name;  ///< dotted, as written: "FastLanguageModel.from_pretrained"
  std::vector<PythonArgument> arguments;
  int line = 0;

  /// The part behind the last dot.
  [[nodiscard]] std::string_view last_name() const;
  [[nodiscard]] const PythonArgument* find(std::string_view keyword) const;
};

/// What a Python file says without being run.
struct PythonScript {
  std::vector<std::string> imports;  ///< top-level modules: "trl", "unsloth"
  std::vector<PythonCall> calls;     ///< of the names asked for
};

/// Values of names known from elsewhere (options on the command line): they replace defaults of argparse.
using PythonNames = std::vector<std::pair<std::string, std::string>>;

/// Reads a script: literals (texts, numbers, True, None, lists, tuples, dictionaries, products and sums of whole
/// numbers), names that are assigned one literal once, and defaults of add_argument behind a dotted name
/// ("args.batch_size"). Dotted names such as torch.bfloat16 stand for themselves. Everything else is not told, and why.
/// `wanted` decides by the last part of a call's name. Nothing is run or imported. Errors: malformed.
[[nodiscard]] Result<PythonScript> read_python(std::string_view source, bool (*wanted)(const PythonCall&),
                                               const PythonNames& known = {});

}  // namespace sparkops::facts
