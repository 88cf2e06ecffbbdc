#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/known.h"

namespace sparkops::facts {

/// One reading on a thread of its own that nobody has to wait for. The thread shares its result with whoever holds the
/// part; when the reading hangs, it is left behind and its result is dropped with the last holder. So `read` must own
/// everything that it uses. An exception becomes an unknown value.
template <class T>
class TimedPart {
 public:
  using Clock = std::chrono::steady_clock;

  /// `name` starts the sentence when the part is late: "NVML", "the kernel log".
  TimedPart(std::string name, std::function<Known<T>()> read) : name_(std::move(name)) {
    try {
      std::thread([state = state_, name = name_, read = std::move(read)] { state->set(guarded(name, read)); }).detach();
    } catch (const std::system_error& error) {
      state_->set(unknown(name_ + ": no thread could be started (" + error.what() + ")"));
    }
  }

  /// The result, or unknown when it is not there at `deadline`.
  [[nodiscard]] Known<T> wait_until(Clock::time_point deadline) const {
    std::unique_lock lock(state_->mutex);
    const bool in_time = state_->done.wait_until(lock, deadline, [&] { return state_->value.has_value(); });
    if (in_time) return *state_->value;
    const double waited_s = std::chrono::duration<double>(deadline - started_).count();
    std::string tenths = std::to_string(waited_s);
    tenths.resize(tenths.find('.') + 2);
    return unknown(name_ + " did not answer within " + tenths + " s");
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<Known<T>> value;

    void set(Known<T> result) {
      const std::lock_guard lock(mutex);
      value = std::move(result);
      done.notify_all();
    }
  };

  static Known<T> guarded(const std::string& name, const std::function<Known<T>()>& read) {
    try {
      return read();
    } catch (const std::exception& error) {
      return unknown(name + ": reading failed (" + error.what() + ")");
    }
  }

  std::string name_;
  Clock::time_point started_ = Clock::now();
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace sparkops::facts
