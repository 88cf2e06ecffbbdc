#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "facts/workload/known_programs.h"
#include "facts/workload/options.h"
#include "facts/workload/workload.h"

namespace sparkops::facts {

/// As recognise_program; where the words name no program of their own (a compose command of flags alone, or none), by
/// the image.
[[nodiscard]] Program identify_program(const std::vector<std::string>& words, const Known<std::string>& image);

/// The server whose options these are, for recipes that hold arguments without a program.
[[nodiscard]] Known<ServerKind> server_of_options(const CommandOptions& options);

/// Whether options or configuration keys are those of a trainer.
[[nodiscard]] bool is_training_key(std::string_view canonical_last_part);

/// The server that an image is made for.
[[nodiscard]] Known<ServerKind> server_of_image(std::string_view image);

}  // namespace sparkops::facts
