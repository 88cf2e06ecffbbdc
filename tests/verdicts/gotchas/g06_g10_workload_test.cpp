#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "../machine_builder.h"
#include "base/text.h"

namespace sparkops::verdicts {
namespace {

using testing::change;
using testing::facts_of;
using ::testing::HasSubstr;
using testing::healthy_spark;

/// A workload written for the test, judged for a GB10.
struct Variant {
  std::string name;  ///< of the test
  std::string file;
  std::string text;
  std::string check;
  Status status;
  std::string words;  ///< of the headline
};

facts::Workload workload_of(const std::string& file, const std::string& text) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("sparkops_variant_" + std::to_string(::getpid()) + "_" + file);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / file) << text;
  auto workload = facts::read_workload((folder / file).string());
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(workload) << workload.error().message;
  return workload ? *workload : facts::Workload{};
}

Finding judged_for_gb10(const facts::Workload& workload, const std::string& check) {
  const facts::Machine machine;
  PreflightFacts facts = facts_of(machine);
  facts.judged = JudgedPlatform::gb10;
  facts.workload = &workload;
  return check == "G6" ? check_g06_contention(facts) : check_g10_parallelism(facts);
}

class WorkloadVariant : public ::testing::TestWithParam<Variant> {};

TEST_P(WorkloadVariant, IsJudged) {
  const Variant& variant = GetParam();
  const Finding finding = judged_for_gb10(workload_of(variant.file, variant.text), variant.check);
  EXPECT_EQ(to_string(finding.status), to_string(variant.status)) << finding.headline;
  EXPECT_THAT(finding.headline, HasSubstr(variant.words));
}

const std::string k_two_servers =
    "services:\n  a: {image: vllm/vllm-openai, command: \"--model x --gpu-memory-utilization {A}\"}\n"
    "  b: {image: lmsysorg/sglang, command: \"python -m sglang.launch_server --mem-fraction-static {B}\"{P}}\n";

std::string two_servers(const std::string& a, const std::string& b, const std::string& rest = "") {
  std::string text = k_two_servers;
  text.replace(text.find("{A}"), 3, a);
  text.replace(text.find("{B}"), 3, b);
  text.replace(text.find("{P}"), 3, rest);
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    G06, WorkloadVariant,
    ::testing::Values(
        Variant{"CapsBeyondThePool", "c.yaml", two_servers("0.6", "0.55"), "G6", Status::fail, "together"},
        Variant{"CapsNearThePool", "c.yaml", two_servers("0.45", "0.4"), "G6", Status::warn, "together"},
        Variant{"TwoSmallCaps", "c.yaml", two_servers("0.25", "0.3"), "G6", Status::pass, "stay for others"},
        Variant{"AProfileJoinsTheOthers", "c.yaml", two_servers("0.6", "0.55", ", profiles: [x]") + "    \n", "G6",
                Status::fail, "together"},
        Variant{"TwoProfilesNeverTogether", "c.yaml",
                "services:\n  a: {image: vllm/vllm-openai, command: \"--gpu-memory-utilization 0.6\", profiles: [p]}\n"
                "  b: {image: vllm/vllm-openai, command: \"--gpu-memory-utilization 0.6\", profiles: [q]}\n",
                "G6", Status::pass, "0.6"},
        Variant{"ForegroundCommandsTakeTurns", "c.sh",
                "vllm serve a --gpu-memory-utilization 0.6\nvllm serve b --gpu-memory-utilization 0.6\n", "G6",
                Status::pass, "0.6"},
        Variant{"BackgroundCommandsRunTogether", "c.sh",
                "vllm serve a --gpu-memory-utilization 0.6 &\nvllm serve b --gpu-memory-utilization 0.6 &\nwait\n",
                "G6", Status::fail, "claim 146 GiB together"},
        Variant{"HalfAndATrainer", "c.yaml",
                "services:\n  s: {image: vllm/vllm-openai, command: \"--gpu-memory-utilization 0.5\"}\n"
                "  t: {image: x, command: \"python train_lora.py\"}\n",
                "G6", Status::pass, "stay for the trainer"},
        Variant{"LargeCapAndATrainer", "c.yaml",
                "services:\n  s: {image: vllm/vllm-openai, command: \"--gpu-memory-utilization 0.7\"}\n"
                "  t: {image: x, command: \"python train_lora.py\"}\n",
                "G6", Status::warn, "the trainer has"},
        Variant{"FractionAboveOne", "c.sh", "vllm serve m --gpu-memory-utilization 1.5\n", "G6", Status::warn,
                "caps nothing"},
        Variant{"ValueSetElsewhere", "c.sh", "vllm serve m --gpu-memory-utilization $UTIL\n", "G6", Status::skip,
                "$UTIL"},
        Variant{"OnlyACgroupLimit", "c.yaml",
                "services:\n  s: {image: vllm/vllm-openai, command: \"--model m\", mem_limit: 64g}\n", "G6",
                Status::warn, "mem_limit 64g does not see CUDA memory"},
        Variant{"OllamaWithACap", "o.env", "OLLAMA_GPU_MEMORY=24GiB\n", "G6", Status::pass, "97.7 GiB of 121.7 GiB"},
        Variant{"KvCacheWithoutWeights", "c.sh", "vllm serve m --kv-cache-memory-bytes 8G\n", "G6", Status::warn,
                "weights"},
        Variant{"TensorRtOptionsAlone", "o.yaml", "kv_cache_config:\n  free_gpu_memory_fraction: 0.3\n", "G6",
                Status::pass, "0.3 of what is free"},
        Variant{"ATrainerAlone", "t.yaml", "learning_rate: 1e-4\n", "G6", Status::pass, "only heavy job"},
        Variant{"NothingThatHoldsMemory", "n.yaml", "title: x\n", "G6", Status::info, "not applicable"}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    G10, WorkloadVariant,
    ::testing::Values(
        Variant{"NemoTensorTraining", "n.yaml",
                "trainer: {num_nodes: 2, devices: 1}\nmodel: {tensor_model_parallel_size: 2, optim: {lr: 1e-4}}\n",
                "G10", Status::fail, "tensor parallel size 2 over 2 boxes"},
        Variant{"TorchtitanWithoutNodes", "t.toml",
                "[optimizer]\nlr = 1e-3\n[parallelism]\ntensor_parallel_degree = 4\n", "G10", Status::fail,
                "over 4 boxes (a Spark has one GPU)"},
        Variant{"HydraTensorTraining", "h.sh", "torchrun --nnodes=2 pretrain.py model.tensor_model_parallel_size=2\n",
                "G10", Status::fail, "trains"},
        Variant{"OneNodeKeepsTensorParallelInside", "o.sh",
                "torchrun --nproc_per_node 2 train.py --tensor-model-parallel-size 2\n", "G10", Status::pass,
                "needs 2 GPUs"},
        Variant{"TensorSizeOne", "o.sh", "torchrun --nnodes 2 train.py --tensor-model-parallel-size 1\n", "G10",
                Status::pass, "without tensor parallelism over 2 boxes"},
        Variant{"ZeroOverTwo", "z.sh", "deepspeed --num_nodes 2 train.py --zero_stage 3\n", "G10", Status::pass,
                "zero-3 over 2 boxes"},
        Variant{"PipelineOverTwo", "p.sh", "torchrun --nnodes 2 train.py --pipeline-model-parallel-size 2\n", "G10",
                Status::pass, "pipeline"},
        Variant{"DataParallelOverTheManagementPort", "d.sh",
                "export NCCL_SOCKET_IFNAME=enP7s7\ntorchrun --nnodes 2 train.py --fsdp full_shard\n", "G10",
                Status::warn, "slower than need be"},
        Variant{"UnreadableTensorSizeSuffix", "u.yaml",
                "services:\n  s: {image: vllm/vllm-openai, command: [vllm, serve, m, \"--tensor-parallel-size=2x\"]}\n",
                "G10", Status::skip, "tensor-parallel size '2x' cannot be read"},
        Variant{"UnreadableTensorSizeHuge", "u.yaml",
                "services:\n  s: {image: vllm/vllm-openai, command: [vllm, serve, m, "
                "\"--tensor-parallel-size=99999999999999999999\"]}\n",
                "G10", Status::skip, "tensor-parallel size '99999999999999999999' cannot be read"},
        Variant{
            "UnreadableTensorSizeVariable", "u.yaml",
            "services:\n  s: {image: vllm/vllm-openai, command: [vllm, serve, m, \"--tensor-parallel-size=${TP}\"]}\n",
            "G10", Status::skip, "tensor-parallel size"},
        Variant{
            "UnreadableTensorSizeWord", "u.yaml",
            "services:\n  s: {image: vllm/vllm-openai, command: [vllm, serve, m, \"--tensor-parallel-size=two\"]}\n",
            "G10", Status::skip, "tensor-parallel size 'two' cannot be read"},
        Variant{"UnreadableTensorSizeNegative", "u.yaml",
                "services:\n  s: {image: vllm/vllm-openai, command: [vllm, serve, m, \"--tensor-parallel-size=-2\"]}\n",
                "G10", Status::skip, "tensor-parallel size '-2' cannot be read"},
        Variant{"UnreadableTensorSizeZero", "u.yaml",
                "services:\n  s: {image: vllm/vllm-openai, command: [vllm, serve, m, \"--tensor-parallel-size=0\"]}\n",
                "G10", Status::skip, "tensor-parallel size '0' cannot be read"},
        Variant{"UnreadableTensorSizeOfAFile", "u.yaml", "learning_rate: 1\ntensor_parallel_size: 2x\nnum_nodes: 2\n",
                "G10", Status::skip, "tensor-parallel size '2x' cannot be read"},
        Variant{"UnreadableNodesZeroToZero", "n.sh", "torchrun --nnodes 0:0 train.py --ddp\n", "G10", Status::skip,
                "node count '0:0' cannot be read"},
        Variant{"UnreadableNodesWord", "n.sh", "torchrun --nnodes two train.py\n", "G10", Status::skip,
                "node count 'two' cannot be read"},
        Variant{"ElasticNodesCountAsTheLarger", "n.sh",
                "torchrun --nnodes 1:2 train.py --tensor-model-parallel-size 2\n", "G10", Status::fail, "over 2 boxes"},
        Variant{"UnreadableSizeOnASingleBox", "n.sh", "torchrun --nnodes 1 train.py --tensor-model-parallel-size 2x\n",
                "G10", Status::pass, "one box"},
        Variant{"UnreadableSizeOfTheGeneration", "n.sh",
                "torchrun --nnodes 2 train.py --ddp --rollout.tensor_model_parallel_size 2x\n", "G10", Status::skip,
                "of the generation '2x' cannot be read"},
        Variant{"NobodyNamesTheKind", "k.sh", "torchrun --nnodes 2 --nproc_per_node 1 train_tp.py\n", "G10",
                Status::skip,
                "2 boxes; the kind of parallelism is not on the command line, and train_tp.py is not read by this "
                "version"},
        Variant{"ADdpFlagNamesTheKind", "k.sh", "torchrun --nnodes 2 train.py --ddp_timeout 1800\n", "G10",
                Status::pass, "runs ddp over 2 boxes"},
        Variant{"AccelerateNamesTheKind", "k.sh", "accelerate launch --num_machines 2 train.py\n", "G10", Status::pass,
                "accelerate over 2 boxes"},
        Variant{"DeepSpeedNamesTheKind", "k.sh", "deepspeed --num_nodes 2 train.py\n", "G10", Status::pass,
                "deepspeed over 2 boxes"},
        Variant{"AFigureOfNodesAlone", "k.yaml", "learning_rate: 1\nnum_nodes: 2\n", "G10", Status::skip,
                "does not name the kind"},
        Variant{"ServingWithRdmaOff", "s.sh", "NCCL_IB_DISABLE=1 vllm serve m -tp 2\n", "G10", Status::warn,
                "switches RDMA off"},
        Variant{"ServingOverOneRail", "s.sh",
                "NCCL_IB_HCA=rocep1s0f0 vllm serve m --tensor-parallel-size 2 --nnodes 2\n", "G10", Status::warn,
                "one of the two rails"},
        Variant{"ServingOverBothRails", "s.sh",
                "NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0 NCCL_SOCKET_IFNAME=^docker0,lo vllm serve m -tp 2\n", "G10",
                Status::pass, "common practice"},
        Variant{
            "ServingWithAPinnedGid", "s.yaml",
            "services:\n  s: {image: lmsysorg/sglang, command: \"python -m sglang.launch_server --tp 2 --nnodes 2\", "
            "environment: [NCCL_IB_GID_INDEX=3]}\n",
            "G10", Status::warn, "drifts"},
        Variant{"MpirunOverTheManagementPort", "m.sh",
                "mpirun -np 2 -H a,b -x UCX_NET_DEVICES=enP7s7 trtllm-serve m --tp_size 2\n", "G10", Status::warn,
                "UCX_NET_DEVICES"},
        Variant{"NobodySaysWhetherItTrains", "u.yaml", "tensor_parallel_size: 2\nnum_nodes: 2\n", "G10", Status::warn,
                "nothing says whether it trains"},
        Variant{"CommentedOut", "c.yaml", "learning_rate: 1\n# tensor_parallel_size: 8\nnum_machines: 2\n", "G10",
                Status::pass, "over 2 boxes"},
        Variant{"SizeSetElsewhere", "e.sh", "torchrun --nnodes 2 train.py --tp $TP\n", "G10", Status::skip, "$TP"},
        Variant{"TrainerThatGenerates", "g.yaml",
                "learning_rate: 1e-6\nnum_machines: 2\nvllm_tensor_parallel_size: 2\n", "G10", Status::pass,
                "over 2 boxes"}),
    [](const auto& tested) { return tested.param.name; });

TEST(G10, WithoutAWorkloadItIsNotApplicable) {
  const facts::Machine machine = healthy_spark();
  const Finding finding = check_g10_parallelism(facts_of(machine));
  EXPECT_EQ(finding.status, Status::info);
  EXPECT_THAT(finding.headline, HasSubstr("not applicable"));
}

facts::NetworkLink port(const std::string& name, std::int64_t mtu) {
  facts::NetworkLink link;
  link.name = name;
  link.driver = as_read(std::string("mlx5_core"));
  link.up = as_read(true);
  link.mtu = as_read(mtu);
  link.has_address = as_read(true);
  link.speed_mbps = as_read(std::int64_t{200'000});
  link.rdma_state = as_read(std::string("4: ACTIVE"));
  link.rdma_rate = as_read(std::string("200 Gb/sec (2X NDR)"));
  return link;
}

Finding launched_over(const facts::NetworkLinks& links, const std::string& command) {
  facts::Machine machine = healthy_spark();
  machine.network_links = as_read(facts::NetworkLinks(links));
  const facts::Workload workload = workload_of("s.sh", command + "\n");
  PreflightFacts facts = facts_of(machine);
  facts.workload = &workload;
  return check_g10_parallelism(facts);
}

Finding serving_over(const facts::NetworkLinks& links) {
  return launched_over(links, "vllm serve m -tp 2");
}

TEST(G10, DataParallelOverATroubledLinkIsAWarningWithItsFix) {
  const std::string command = "torchrun --nnodes 2 train.py --fsdp full_shard";
  facts::NetworkLinks links;
  links.links = {port("enp1s0f0np0", 9000), port("enP2p1s0f0np0", 9000)};
  links.twins = {{0, 1}};
  EXPECT_EQ(launched_over(links, command).status, Status::pass);
  links.links[1].mtu = as_read(std::int64_t{1500});
  const Finding unequal = launched_over(links, command);
  EXPECT_EQ(unequal.status, Status::warn);
  ASSERT_FALSE(unequal.fixes.empty());
  EXPECT_EQ(unequal.fixes.front().run, "sudo ip link set enP2p1s0f0np0 mtu 9000");
  for (facts::NetworkLink& link : links.links) link.up = as_read(false);
  EXPECT_EQ(launched_over(links, command).status, Status::warn);
  EXPECT_THAT(launched_over(links, command).headline, HasSubstr("no ConnectX port is up"));
  for (facts::NetworkLink& link : links.links) link.up = unknown("operstate says 'unknown'");
  EXPECT_THAT(launched_over(links, command).headline, HasSubstr("no ConnectX port is known to be up"));
}

TEST(G10, AnUnknownKindComesWithWhatToLookFor) {
  facts::NetworkLinks links;
  links.links = {port("enp1s0f0np0", 9000), port("enP2p1s0f0np0", 9000)};
  links.twins = {{0, 1}};
  const Finding finding = launched_over(links, "torchrun --nnodes 2 train_tp.py");
  EXPECT_EQ(finding.status, Status::skip);
  ASSERT_EQ(finding.fixes.size(), 1U);
  EXPECT_THAT(finding.fixes.front().instruction, HasSubstr("tensor parallel training must stay on one box"));
}

TEST(G10, TheLinkOfThisMachineDecidesOverServing) {
  facts::NetworkLinks links;
  links.links = {port("enp1s0f0np0", 9000), port("enP2p1s0f0np0", 9000)};
  links.twins = {{0, 1}};
  EXPECT_EQ(serving_over(links).status, Status::pass);
  links.links[1].mtu = as_read(std::int64_t{1500});
  const Finding finding = serving_over(links);
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("enP2p1s0f0np0 has MTU 1500"));
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_EQ(finding.fixes.front().run, "sudo ip link set enP2p1s0f0np0 mtu 9000");
  links.links[1].up = as_read(false);
  EXPECT_THAT(serving_over(links).headline, HasSubstr("half the link is unused"));
  EXPECT_THAT(serving_over({}).headline, HasSubstr("no ConnectX port"));
}

facts::Process process(std::int64_t pid, std::vector<std::string> command, std::optional<Bytes> on_gpu,
                       std::int64_t parent = 1) {
  facts::Process made;
  made.pid = pid;
  made.parent = parent;
  made.command_line = as_read(std::move(command));
  made.state = as_read(std::string("S"));
  made.on_gpu = on_gpu.has_value();
  if (on_gpu) made.gpu_memory = as_read(Bytes(*on_gpu));
  return made;
}

Finding with_processes(std::vector<facts::Process> processes, bool gpu_readable = true) {
  facts::Machine machine = healthy_spark();
  facts::ProcessTable table;
  table.process_count = as_read(std::int64_t{300});
  table.processes = std::move(processes);
  machine.processes = as_read(facts::ProcessTable(table));
  if (!gpu_readable) machine.gpus = unknown("no driver");
  return check_g06_contention(facts_of(machine));
}

TEST(G06, WorkersCountToTheirServer) {
  const Finding finding =
      with_processes({process(50, {"vllm", "serve", "m", "--gpu-memory-utilization", "0.3"}, std::nullopt),
                      process(51, {"VLLM::EngineCore"}, gibibytes(34), 50)});
  EXPECT_EQ(finding.status, Status::pass) << finding.headline;
  EXPECT_THAT(finding.headline, HasSubstr("0.3"));
}

TEST(G06, AnEngineWithoutItsServerIsAnOrphan) {
  const Finding finding = with_processes({process(51, {"VLLM::EngineCore"}, gibibytes(34))});
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("outlived"));
  ASSERT_FALSE(finding.fixes.empty());
  EXPECT_EQ(finding.fixes.front().run, "kill 51");
}

TEST(G06, CapsAndKnownBytesBeyondThePoolFail) {
  const Finding finding =
      with_processes({process(50, {"vllm", "serve", "m", "--gpu-memory-utilization", "0.7"}, gibibytes(80)),
                      process(60, {"python", "train.py"}, gibibytes(40))});
  EXPECT_EQ(finding.status, Status::fail);
  EXPECT_THAT(finding.headline, HasSubstr("together"));
}

TEST(G06, ASmallTunerBesideACappedServerIsFine) {
  const Finding finding =
      with_processes({process(50, {"vllm", "serve", "m", "--gpu-memory-utilization", "0.5"}, gibibytes(58)),
                      process(60, {"python", "train.py"}, gibibytes(3))});
  EXPECT_EQ(finding.status, Status::pass) << finding.headline;
}

TEST(G06, AnIdleOllamaIsAReading) {
  const Finding finding = with_processes({process(70, {"/usr/local/bin/ollama", "serve"}, std::nullopt)});
  EXPECT_EQ(finding.status, Status::pass) << finding.headline;
  EXPECT_THAT(finding.headline, HasSubstr("holds nothing now"));
}

TEST(G06, WithoutTheGpusListTheProcessTableAloneMayStillTell) {
  EXPECT_EQ(with_processes({}, false).status, Status::skip);
  EXPECT_THAT(with_processes({}, false).headline, HasSubstr("no driver"));
  EXPECT_EQ(with_processes({process(70, {"vllm", "serve", "m"}, std::nullopt)}, false).status, Status::warn);
}

TEST(G06, AContainerWithMuchMemoryInUseElsewhereIsNoPass) {
  facts::Machine machine = healthy_spark();
  change(machine.container, [](facts::Container& container) { container.inside = as_read(true); });
  EXPECT_EQ(check_g06_contention(facts_of(machine)).status, Status::pass);
  change(machine.memory, [](facts::Memory& memory) { memory.info.available = as_read(gibibytes(40)); });
  const Finding finding = check_g06_contention(facts_of(machine));
  EXPECT_EQ(finding.status, Status::warn);
  EXPECT_THAT(finding.headline, HasSubstr("cannot be seen by whom"));
}

/// Published inputs with right answers that lie beside a checkout on some machines.
TEST(WorkloadCases, AreRightOnG6AndG10) {
  const std::filesystem::path cases = std::filesystem::path(SPARKOPS_SOURCE) / ".." / "shared" / "cases";
  std::ifstream table(cases / "cases.csv");
  if (!table) GTEST_SKIP() << "no ../shared/cases/cases.csv beside this checkout";
  std::size_t judged = 0;
  for (std::string line; std::getline(table, line);) {
    const std::vector<std::string_view> fields = split(line, ',');
    const std::size_t answer = 5;  // "preflight --json --only G10 …" holds no comma: id,area,input,command,expect
    if (fields.size() < answer || fields[1] != "workload") continue;
    const std::size_t equals = fields[4].find('=');
    const std::string check(fields[4].substr(0, equals));
    if (check != "G6" && check != "G10") continue;
    const auto workload = facts::read_workload((cases / std::string(fields[2])).string());
    ASSERT_TRUE(workload) << workload.error().message;
    const Finding finding = judged_for_gb10(*workload, check);
    const std::vector<std::string_view> right = split(fields[4].substr(equals + 1), '|');
    EXPECT_THAT(right, ::testing::Contains(to_string(finding.status))) << line << "\n" << finding.headline;
    ++judged;
  }
  EXPECT_GT(judged, 0U);
}

}  // namespace
}  // namespace sparkops::verdicts
