#include "facts/machine/nvml_notebook.h"

#include <algorithm>
#include <utility>

namespace sparkops::facts {

NvmlAnswer NvmlNotebook::ask(NvmlAnswers& page, std::string call, const std::function<NvmlAnswer()>& question) {
  locked([&] { running_ = Running{call, Clock::now()}; });
  NvmlAnswer answer = question();
  locked([&] {
    running_.reset();
    page[std::move(call)] = answer;
  });
  return answer;
}

void NvmlNotebook::ask_many(NvmlAnswers& page, const std::string& call, const std::vector<std::string>& calls,
                            const std::function<std::vector<NvmlAnswer>()>& question) {
  locked([&] { running_ = Running{call, Clock::now()}; });
  const std::vector<NvmlAnswer> answers = question();
  locked([&] {
    running_.reset();
    for (std::size_t i = 0; i < std::min(calls.size(), answers.size()); ++i) page[calls[i]] = answers[i];
  });
}

std::optional<NvmlNotebook::Pending> NvmlNotebook::pending() const {
  return locked([&]() -> std::optional<Pending> {
    if (!running_) return std::nullopt;
    NvmlAnswer answer;
    answer.kind = NvmlAnswer::Kind::no_return;
    answer.waited_s = std::chrono::duration<double>(Clock::now() - running_->since).count();
    return Pending{running_->call, answer};
  });
}

}  // namespace sparkops::facts
