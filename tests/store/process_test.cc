// Several processes on one local store: races, and death at any moment.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "store/local_store.h"
#include "tests/store/sample_object.h"
#include "tests/support/kill_process.h"
#include "tests/support/scoped_dir.h"
#include "tests/support/status_matchers.h"

extern char** environ;

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();

// A running ls_store_child whose output is read line by line. The destructor kills it.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    int ends[2];
    if (pipe(ends) != 0) return;
    arguments.insert(arguments.begin(), LS_STORE_CHILD);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    if (posix_spawn(&pid_, LS_STORE_CHILD, &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
  }
  ~Child() {
    Kill();
    if (output_ != nullptr) fclose(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Empty at the end of the output. A line that death cut off is not returned.
  std::string ReadLine() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF; c = std::fgetc(output_)) {
      if (c == '\n') return line;
      line.push_back(static_cast<char>(c));
    }
    return "";
  }
  std::vector<std::string> ReadAll() {
    std::vector<std::string> lines;
    for (std::string line = ReadLine(); !line.empty(); line = ReadLine()) lines.push_back(line);
    return lines;
  }
  // Nothing if it was waited for already.
  void Kill() {
    if (pid_ <= 0) return;
    KillProcess(pid_);
    (void)Wait();
  }
  int Wait() {
    int state = -1;
    waitpid(pid_, &state, 0);
    pid_ = -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  }

 private:
  pid_t pid_ = -1;
  FILE* output_ = nullptr;
};

class ProcessTest : public testing::Test {
 protected:
  std::unique_ptr<Child> Start(const std::string& command, size_t writer, size_t number = 0) {
    return std::make_unique<Child>(std::vector<std::string>{
        command, root_.path(), std::to_string(writer), std::to_string(number)});
  }
  std::string Read(const std::string& key) {
    const Result<Buffer> data = GetBytes(*store_, key, kNever);
    return data.ok() ? std::string(data->text()) : data.status().ToString();
  }

  ScopedDir root_;
  const std::unique_ptr<LocalStore> store_ = *LocalStore::Open(root_.path(), {}, RealRuntime());
};

TEST_F(ProcessTest, OneProcessWinsEachKey) {
  constexpr size_t kProcesses = 4;
  constexpr size_t kKeys = 60;
  std::vector<std::unique_ptr<Child>> children;
  for (size_t writer = 0; writer < kProcesses; ++writer) {
    children.push_back(Start("race", writer, kKeys));
  }
  std::map<std::string, size_t> winners;
  for (size_t writer = 0; writer < kProcesses; ++writer) {
    for (const std::string& key : children[writer]->ReadAll()) {
      EXPECT_TRUE(winners.emplace(key, writer).second) << key << " was won twice";
    }
    EXPECT_EQ(children[writer]->Wait(), 0);
  }
  ASSERT_EQ(winners.size(), kKeys);
  for (size_t i = 0; i < kKeys; ++i) {
    const std::string key = Str("race/", i);
    EXPECT_TRUE(Read(key) == SampleObject(winners[key], i)) << key;
  }
}

TEST_F(ProcessTest, CompareAndSwapLosesNoIncrementBetweenProcesses) {
  constexpr size_t kProcesses = 3;
  constexpr size_t kIncrements = 25;
  const std::string zeros(kProcesses, '\0');
  ASSERT_THAT(PutBytes(*store_, "counters", AsBytes(zeros), {}, kNever), IsOk());
  std::vector<std::unique_ptr<Child>> children;
  for (size_t writer = 0; writer < kProcesses; ++writer) {
    children.push_back(Start("count", writer, kIncrements));
  }
  for (auto& child : children) {
    EXPECT_EQ(child->ReadAll(), std::vector<std::string>());
    EXPECT_EQ(child->Wait(), 0);
  }
  EXPECT_EQ(Read("counters"), std::string(kProcesses, static_cast<char>(kIncrements)));
}

// Kills writers after some lines of output, which is anywhere in their next writes.
TEST_F(ProcessTest, E1KilledWritersLeaveOnlyWholeObjectsAndAllAcknowledgedOnes) {
  std::vector<std::string> acknowledged;
  for (size_t round = 0; round < 12; ++round) {
    auto first = Start("write", 2 * round);
    auto second = Start("write", 2 * round + 1);
    for (size_t line = 0; line < 1 + round; ++line) acknowledged.push_back(first->ReadLine());
    for (Child* child : {first.get(), second.get()}) {
      child->Kill();
      for (const std::string& line : child->ReadAll()) acknowledged.push_back(line);
    }
  }
  for (const std::string& key : acknowledged) EXPECT_TRUE(IsWholeSample(Read(key))) << key;
  ListOptions options;
  size_t listed = 0;
  for (bool more = true; more;) {
    const Result<ListPage> page = store_->List(options, kNever);
    ASSERT_THAT(page, IsOk());
    for (const ObjectInfo& object : page->objects) {
      EXPECT_TRUE(IsWholeSample(Read(object.key))) << object.key;
    }
    listed += page->objects.size();
    more = page->more;
    if (more) options.start_after = page->objects.back().key;
  }
  EXPECT_GT(listed, 12u);
  ASSERT_THAT(store_->AbortStaleUploads({"", INT64_MAX}, kNever), IsOk());
  EXPECT_THAT(PutBytes(*store_, "shared", AsBytes("after"), {}, kNever), IsOk());
  EXPECT_EQ(Read("shared"), "after");
}

TEST_F(ProcessTest, E2WritersOfOneKeyNeverShareATemporaryFile) {
  std::vector<std::unique_ptr<Child>> children;
  for (size_t writer = 0; writer < 3; ++writer) children.push_back(Start("write", writer));
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_FALSE(children[i % 3]->ReadLine().empty());
    const std::string shared = Read("shared");
    if (i >= 9) {
      EXPECT_TRUE(IsWholeSample(shared)) << shared.substr(0, 80);
    }
  }
}

}  // namespace
}  // namespace lakestream
