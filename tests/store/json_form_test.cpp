#include "store/json_form.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sparkops::store {
namespace {

TEST(ObjectWriter, AKnownValueIsPlainAndItsOriginStandsBeside) {
  Json json = Json::object();
  ObjectWriter(json).write("pool_bytes", as_knowledge(gibibytes(2), "2026-11-30"));
  EXPECT_EQ(json.dump(), R"json({"pool_bytes":2147483648,"origin":{"pool_bytes":"knowledge:2026-11-30"}})json");
}

TEST(ObjectWriter, AnUnknownValueIsNullWithItsReason) {
  Json json = Json::object();
  ObjectWriter(json).write("power_w", Known<Watts>(unknown("NVML: Not Supported (3)")));
  EXPECT_EQ(json.dump(), R"json({"power_w":null,"unknown":{"power_w":"NVML: Not Supported (3)"}})json");
}

TEST(FindingJson, HasTheContractsKeys) {
  Finding finding;
  finding.id = "G3";
  finding.status = Status::warn;
  finding.headline = "bytes \x01 that are not printable";
  finding.evidence.push_back({"free: 3 GiB", {Origin::read, {}}});
  finding.fixes.push_back({.run = "true", .instruction = "nothing", .needs_root = true, .changes = "", .verify = ""});
  const Json json = to_json(finding);
  EXPECT_EQ(json["status"], "warn");
  EXPECT_EQ(json["headline"], "bytes \\x01 that are not printable");
  EXPECT_EQ(json["evidence"][0]["origin"], "read");
  EXPECT_EQ(json["fix"][0]["do"], "nothing");
  EXPECT_EQ(json["fix"][0]["needs_root"], true);
  for (const char* key : {"where", "who", "sources"}) EXPECT_TRUE(json.contains(key)) << key;
}

}  // namespace
}  // namespace sparkops::store
