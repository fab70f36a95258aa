// Folders that may not be written or read. Rights do not hold for root, so a child process gives up
// its own first.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "store/local_store.h"
#include "tests/support/scoped_dir.h"
#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();
constexpr unsigned kNobody = 65534;

// The code that `body` answers as a user without rights; -1 if it could not be asked.
int CodeAsNobody(const std::function<Status()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const bool ready = geteuid() != 0 ||
                       (setgroups(0, nullptr) == 0 && setgid(kNobody) == 0 && setuid(kNobody) == 0);
    _exit(ready ? static_cast<int>(body().code()) : 255);
  }
  int state = -1;
  if (child < 0 || waitpid(child, &state, 0) != child || !WIFEXITED(state)) return -1;
  return WEXITSTATUS(state) == 255 ? -1 : WEXITSTATUS(state);
}

class PermissionTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(PutBytes(*Open(), "a/readable", AsBytes("1"), {}, kNever), IsOk());
    ASSERT_THAT(PutBytes(*Open(), "a/secret", AsBytes("2"), {}, kNever), IsOk());
    ASSERT_EQ(chmod(dir_.path().c_str(), 0755), 0);
    for (const char* folder : {"root", "root/a", "root/.lakestream-tmp"}) {
      ASSERT_EQ(chmod((dir_ / folder).c_str(), 0555), 0);
    }
    ASSERT_EQ(chmod((dir_ / "root/a/readable").c_str(), 0444), 0);
    ASSERT_EQ(chmod((dir_ / "root/a/secret").c_str(), 0000), 0);
  }
  void TearDown() override {
    for (const char* folder : {"root", "root/a", "root/.lakestream-tmp"}) {
      (void)chmod((dir_ / folder).c_str(), 0755);
    }
  }
  std::unique_ptr<LocalStore> Open() { return *LocalStore::Open(dir_ / "root", {}, RealRuntime()); }
  void ExpectDenied(const std::function<Status(LocalStore&)>& body) {
    EXPECT_EQ(CodeAsNobody([&] { return body(*Open()); }),
              static_cast<int>(Code::kPermissionDenied));
  }

  ScopedDir dir_;
};

TEST_F(PermissionTest, AReaderNeedsNoRightToWrite) {
  EXPECT_EQ(CodeAsNobody([&] {
              auto store = Open();
              LS_RETURN_IF_ERROR(GetBytes(*store, "a/readable", kNever).status());
              LS_ASSIGN_OR_RETURN(const ObjectInfo info, store->Head("a/secret", kNever));
              // It cannot ask the file system for its time, and must not take its own for that.
              if (info.date_ms != 0) return DataLossError("where does that time come from?");
              return store->List({}, kNever).status();
            }),
            static_cast<int>(Code::kOk));
}

TEST_F(PermissionTest, WritesToAFolderWithoutTheRightAreDenied) {
  ExpectDenied([](LocalStore& store) {
    return PutBytes(store, "a/new", AsBytes("x"), {}, kNever).status();
  });
  ExpectDenied([](LocalStore& store) {
    PutOptions options;
    options.if_absent = true;
    return PutBytes(store, "b/new", AsBytes("x"), options, kNever).status();
  });
  ExpectDenied([](LocalStore& store) {
    const std::string key = "a/readable";
    return store.Delete({&key, 1}, kNever);
  });
  EXPECT_EQ(GetBytes(*Open(), "a/readable", kNever)->text(), "1");
  EXPECT_THAT(Open()->Head("a/new", kNever), IsCode(Code::kNotFound));
}

TEST_F(PermissionTest, ARootThatCannotBeMadeIsDenied) {
  EXPECT_EQ(CodeAsNobody([&] {
              auto store = *LocalStore::Open(dir_ / "root/sub/stream", {}, RealRuntime());
              return PutBytes(*store, "x", AsBytes("x"), {}, kNever).status();
            }),
            static_cast<int>(Code::kPermissionDenied));
}

TEST_F(PermissionTest, AnObjectWithoutTheRightToReadIsDenied) {
  ExpectDenied([](LocalStore& store) { return GetBytes(store, "a/secret", kNever).status(); });
}

}  // namespace
}  // namespace lakestream
