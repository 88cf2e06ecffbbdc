#include "facts/machine/boot_records.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace sparkops::facts {

namespace {

/// Where struct utmp keeps its fields (glibc, bits/utmp.h; the first 336 bytes are alike).
struct Layout {
  std::size_t record_size;
  std::size_t seconds_offset;
  std::size_t seconds_size;
  std::size_t microseconds_offset;
};
constexpr Layout k_layout_32_bit_time{384, 340, 4, 344};
constexpr Layout k_layout_64_bit_time{400, 344, 8, 352};

constexpr std::size_t k_user_offset = 44;
constexpr std::size_t k_user_size = 32;
constexpr std::int16_t k_run_level = 1;     // RUN_LVL
constexpr std::int16_t k_boot_time = 2;     // BOOT_TIME
constexpr std::int16_t k_largest_type = 9;  // ACCOUNTING
constexpr std::int64_t k_year_2000 = 946684800;
constexpr std::int64_t k_year_2100 = 4102444800;

template <class Number>
Number number_at(std::string_view record, std::size_t offset) {
  Number number{};
  std::memcpy(&number, record.data() + offset, sizeof number);
  return number;
}

std::string_view user_of(std::string_view record) {
  const std::string_view field = record.substr(k_user_offset, k_user_size);
  return field.substr(0, field.find('\0'));
}

LoginRecord::Kind kind_of(std::int16_t type, std::string_view user) {
  if (type == k_boot_time) return LoginRecord::Kind::boot;
  if (type == k_run_level && user == "shutdown") return LoginRecord::Kind::shutdown;
  return LoginRecord::Kind::other;
}

std::optional<LoginRecord> parse_record(std::string_view record, const Layout& layout) {
  const auto type = number_at<std::int16_t>(record, 0);
  const std::int64_t seconds = layout.seconds_size == 4 ? number_at<std::int32_t>(record, layout.seconds_offset)
                                                        : number_at<std::int64_t>(record, layout.seconds_offset);
  const auto microseconds = number_at<std::int32_t>(record, layout.microseconds_offset);
  if (type < 0 || type > k_largest_type || seconds < k_year_2000 || seconds > k_year_2100 || microseconds < 0 ||
      microseconds > 999'999)
    return std::nullopt;
  return LoginRecord{kind_of(type, user_of(record)), Timestamp{seconds * 1000 + microseconds / 1000}};
}

/// All records, or nothing when one of them makes no sense in this layout.
std::optional<std::vector<LoginRecord>> parse_as(std::string_view bytes, const Layout& layout) {
  // A power cut may have torn the last record.
  const std::size_t count = bytes.size() / layout.record_size;
  std::vector<LoginRecord> records;
  records.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view bytes_of_record = bytes.substr(i * layout.record_size, layout.record_size);
    // A power cut leaves blocks of zeros where a record was still to be written.
    if (bytes_of_record.find_first_not_of('\0') == std::string_view::npos) continue;
    const auto record = parse_record(bytes_of_record, layout);
    if (!record) return std::nullopt;
    records.push_back(*record);
  }
  if (records.empty()) return std::nullopt;
  return records;
}

}  // namespace

Result<std::vector<LoginRecord>> parse_login_records(std::string_view bytes) {
  auto with_32_bits = parse_as(bytes, k_layout_32_bit_time);
  auto with_64_bits = parse_as(bytes, k_layout_64_bit_time);
  if (with_32_bits && with_64_bits) {
    // A single short record may pass for both: the size that divides the file decides.
    const bool first_fits = bytes.size() % k_layout_32_bit_time.record_size == 0;
    const bool second_fits = bytes.size() % k_layout_64_bit_time.record_size == 0;
    if (first_fits == second_fits) return failure(ErrorKind::malformed, "var/log/wtmp: layout not recognised");
    return first_fits ? std::move(*with_32_bits) : std::move(*with_64_bits);
  }
  if (with_32_bits) return std::move(*with_32_bits);
  if (with_64_bits) return std::move(*with_64_bits);
  return failure(ErrorKind::malformed, bytes.empty() ? "var/log/wtmp: empty (this system does not keep login records)"
                                                     : "var/log/wtmp: layout not recognised");
}

LastBoot last_boot_of(const std::vector<LoginRecord>& records, const Known<Timestamp>& boot_time) {
  const auto unknown_both = [](const std::string& reason) { return LastBoot{unknown(reason), unknown(reason)}; };
  if (!boot_time) return unknown_both("the time of this boot is not known: " + boot_time.reason());
  const auto is_boot = [](const LoginRecord& record) { return record.kind == LoginRecord::Kind::boot; };
  const auto current = std::find_if(records.rbegin(), records.rend(), is_boot);
  if (current == records.rend()) return unknown_both("var/log/wtmp holds no boot");
  // The clock may be set after the record is written.
  constexpr std::int64_t k_tolerance_ms = std::int64_t{10} * 60 * 1000;
  if (std::abs(current->time.unix_ms - boot_time->unix_ms) > k_tolerance_ms)
    return unknown_both("var/log/wtmp does not know this boot (its last one began " + to_rfc3339(current->time) + ")");
  const auto before = std::find_if(std::next(current), records.rend(), is_boot);
  if (before == records.rend()) return unknown_both("var/log/wtmp reaches back to this boot only");
  const bool shut_down = std::any_of(
      std::next(current), before, [](const LoginRecord& record) { return record.kind == LoginRecord::Kind::shutdown; });
  return {as_derived(shut_down ? BootEnd::shutdown : BootEnd::without_shutdown), as_read(std::next(current)->time)};
}

}  // namespace sparkops::facts
