#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace sparkops {

/// Where a value comes from; every view shows it.
enum class Origin {
  measured,       ///< this program timed or counted it
  read,           ///< the machine or a file says so
  derived,        ///< computed from other known values
  default_value,  ///< nobody said otherwise
  knowledge,      ///< published, with the date it was last verified
};

/// An origin with the date that only `knowledge` has (ISO 8601, e.g. "2026-11-30"; empty otherwise).
struct Provenance {
  Origin origin = Origin::read;
  std::string date;
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// "measured", "read", "derived", "default" or "knowledge:DATE", as the JSON contract writes it.
[[nodiscard]] std::string to_string(const Provenance& provenance);

/// The state of a value that could not be had, with the reason in words.
struct Unknown {
  std::string reason;
};

[[nodiscard]] inline Unknown unknown(std::string reason) {
  return Unknown{std::move(reason)};
}
[[nodiscard]] inline Unknown unknown(const Error& error) {
  return Unknown{error.message};
}

/// A value with its origin, or unknown with a reason. Never zero and never a silent default.
template <class T>
class Known {
 public:
  Known() : reason_("not read") {}
  Known(Unknown unknown) : reason_(std::move(unknown.reason)) {}
  Known(T value, Provenance provenance) : value_(std::move(value)), provenance_(std::move(provenance)) {}

  [[nodiscard]] bool known() const { return value_.has_value(); }
  explicit operator bool() const { return known(); }

  /// The value. Only for a known one: check first.
  [[nodiscard]] const T& operator*() const { return value_.value(); }
  [[nodiscard]] const T* operator->() const { return &value_.value(); }

  [[nodiscard]] const Provenance& provenance() const { return provenance_; }
  /// Why the value is unknown; empty for a known one.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] Unknown as_unknown() const { return Unknown{reason_}; }

  [[nodiscard]] T value_or(T fallback) const { return value_ ? *value_ : std::move(fallback); }

  /// A value computed from this one (origin `derived`), or unknown for the same reason.
  template <class Function>
  [[nodiscard]] auto derive(Function function) const -> Known<std::decay_t<std::invoke_result_t<Function, const T&>>> {
    if (!value_) return Unknown{reason_};
    return {function(*value_), Provenance{Origin::derived, {}}};
  }

 private:
  std::optional<T> value_;
  Provenance provenance_;
  std::string reason_;
};

template <class T>
[[nodiscard]] Known<std::decay_t<T>> as_read(T&& value) {
  return {std::forward<T>(value), {Origin::read, {}}};
}
template <class T>
[[nodiscard]] Known<std::decay_t<T>> as_measured(T&& value) {
  return {std::forward<T>(value), {Origin::measured, {}}};
}
template <class T>
[[nodiscard]] Known<std::decay_t<T>> as_derived(T&& value) {
  return {std::forward<T>(value), {Origin::derived, {}}};
}
template <class T>
[[nodiscard]] Known<std::decay_t<T>> as_default(T&& value) {
  return {std::forward<T>(value), {Origin::default_value, {}}};
}
template <class T>
[[nodiscard]] Known<std::decay_t<T>> as_knowledge(T&& value, std::string date) {
  return {std::forward<T>(value), {Origin::knowledge, std::move(date)}};
}

/// A successful result as `read`, a failed one as unknown with its message.
template <class T>
[[nodiscard]] Known<T> as_read(Result<T> result) {
  if (!result) return unknown(result.error());
  return {std::move(*result), {Origin::read, {}}};
}

}  // namespace sparkops
