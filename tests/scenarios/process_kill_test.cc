// Real processes on the local store, killed at random moments.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "base/text.h"
#include "lakestream/consumer.h"
#include "lakestream/object_store.h"
#include "tests/support/kill_process.h"
#include "tests/support/scoped_dir.h"

extern char** environ;

namespace lakestream {
namespace {

constexpr uint64_t kItems = 150;
const std::vector<std::string> kNames = {"video", "image", "text"};

class ProcessKillTest : public ::testing::Test {
 protected:
  ~ProcessKillTest() override {
    for (const auto& [pid, name] : running_) {
      KillProcess(pid);
      waitpid(pid, nullptr, 0);
    }
  }
  void Start(const std::string& name) {
    std::vector<std::string> words = {LS_SCENARIO_WORKER, uri_, name, std::to_string(kItems)};
    words.insert(words.end(), kNames.begin(), kNames.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    ASSERT_EQ(posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
    running_[pid] = name;
  }
  // Takes note of processes that have ended. A worker that fails by itself is started again as a
  // supervisor would.
  void Reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const std::string name = running_[pid];
      running_.erase(pid);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        ++done_;
        continue;
      }
      ++restarts_;
      Start(name);
    }
  }
  void KillOne() {
    auto victim = running_.begin();
    std::advance(victim, random_() % running_.size());
    KillProcess(victim->first);
    ++kills_;
  }
  ScopedDir dir_;
  const std::string uri_ = Str("file://", dir_.path(), "/stream");
  std::map<pid_t, std::string> running_;
  std::mt19937 random_{20261201};
  size_t done_ = 0;
  int kills_ = 0;
  int restarts_ = 0;
};

// C12, C15, H25: whenever a producer dies, its successor goes on exactly behind the last committed
// batch.
TEST_F(ProcessKillTest, C12_C15_KilledProducersWriteEveryItemOnce) {
  for (const std::string& name : kNames) Start(name);
  while (done_ < kNames.size()) {
    usleep(2000 + random_() % 25000);
    Reap();
    if (!running_.empty() && kills_ < 60) KillOne();
    ASSERT_LT(restarts_, 500);
  }
  EXPECT_GT(kills_, 20);

  auto runtime = RealRuntime();
  const Deadline soon = After(*runtime, std::chrono::seconds(60));
  auto store = OpenStore(uri_, {}, runtime);
  ASSERT_TRUE(store.ok()) << store.status();
  auto stream = Stream::Open(*store, runtime, soon);
  ASSERT_TRUE(stream.ok()) << stream.status();
  using Item = std::pair<std::string, uint64_t>;  // producer, number
  std::vector<std::vector<Item>> of_rank;
  for (const auto& [dp, cp] : {std::pair{0u, 0u}, std::pair{1u, 1u}}) {
    auto consumer = Consumer::Open(*stream, {.dp_index = dp, .cp_index = cp}, soon);
    ASSERT_TRUE(consumer.ok()) << consumer.status();
    std::vector<Item>& items = of_rank.emplace_back();
    while (true) {
      auto next = (*consumer)->Next(soon);
      ASSERT_TRUE(next.ok()) << next.status();
      if (!*next) break;
      const TensorView& tensor = (*next)->slice().tensors.at(0);
      uint64_t item = 0;
      std::memcpy(&item, tensor.data.data(), sizeof item);
      items.emplace_back(tensor.name, item);
    }
  }
  EXPECT_EQ(of_rank[0], of_rank[1]);  // one order for all ranks
  std::map<std::string, std::vector<uint64_t>> of_producer;
  for (const auto& [producer, item] : of_rank[0]) of_producer[producer].push_back(item);
  std::vector<uint64_t> crash_free(kItems);
  std::iota(crash_free.begin(), crash_free.end(), 0);
  EXPECT_EQ(of_producer.size(), kNames.size());
  for (const auto& [producer, items] : of_producer) EXPECT_EQ(items, crash_free) << producer;
}

}  // namespace
}  // namespace lakestream
