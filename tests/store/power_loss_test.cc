// The local store on a file system that fails or loses power at each of its calls, one after the
// other. Each operation is run as often as it makes calls.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <optional>

#include "base/text.h"
#include "store/local_folder.h"
#include "store/local_store.h"
#include "tests/store/simulated_file_system.h"
#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();
const std::string kRoot = "/data/stream";
const std::string kKey = "log/main/7";
const std::string kOld = "the old content";
const std::string kNew = "the new content, which is longer than the old one";

using Content = std::optional<std::string>;  // nullopt: no object

// One operation on kKey, what is there before and what after it.
struct Operation {
  std::string name;
  Content before;
  Content after;
  std::function<Status(LocalStore&)> run;
};

Status PutOnce(LocalStore& store, const PutOptions& options) {
  LS_ASSIGN_OR_RETURN(const PutResult put, PutBytes(store, kKey, AsBytes(kNew), options, kNever));
  return put.stored ? OkStatus() : AbortedError("not stored");
}

Status PutOverCurrent(LocalStore& store) {
  LS_ASSIGN_OR_RETURN(const ObjectInfo info, store.Head(kKey, kNever));
  PutOptions options;
  options.if_match = info.etag;
  return PutOnce(store, options);
}

Status UploadInParts(LocalStore& store) {
  LS_ASSIGN_OR_RETURN(auto upload, store.StartUpload(kKey, kNever));
  const ConstBytes first = AsBytes(kNew).first(20);
  const ConstBytes second = AsBytes(kNew).subspan(20);
  LS_RETURN_IF_ERROR(upload->PutPart(2, {&second, 1}, kNever));
  LS_RETURN_IF_ERROR(upload->PutPart(1, {&first, 1}, kNever));
  return upload->Complete(kNever).status();
}

std::vector<Operation> Operations() {
  const auto put = [](LocalStore& store) { return PutOnce(store, {}); };
  const auto put_if_absent = [](LocalStore& store) {
    PutOptions options;
    options.if_absent = true;
    return PutOnce(store, options);
  };
  const auto remove = [](LocalStore& store) { return store.Delete({&kKey, 1}, kNever); };
  return {{"Put", std::nullopt, kNew, put},
          {"PutIfAbsent", std::nullopt, kNew, put_if_absent},
          {"Overwrite", kOld, kNew, put},
          {"CompareAndSwap", kOld, kNew, PutOverCurrent},
          {"Upload", std::nullopt, kNew, UploadInParts},
          {"UploadOver", kOld, kNew, UploadInParts},
          {"Delete", kOld, std::nullopt, remove}};
}

class PowerLossTest : public testing::TestWithParam<Operation> {
 protected:
  // A file system with an object beside the key, and the old object.
  void Prepare() {
    files_ = std::make_shared<SimulatedFileSystem>();
    auto store = Open();
    ASSERT_THAT(PutBytes(*store, "data/x", AsBytes("neighbour"), {}, kNever), IsOk());
    if (!GetParam().before) return;
    ASSERT_THAT(PutBytes(*store, kKey, AsBytes(*GetParam().before), {}, kNever), IsOk());
  }
  std::unique_ptr<LocalStore> Open() {
    LocalStoreOptions options;
    options.files = files_;
    return *LocalStore::Open(kRoot, options, RealRuntime());
  }
  // Runs the operation in a new store ("process") with the fault. False if it was not reached.
  bool RunWith(const SimulatedFileSystem::Fault& fault) {
    Prepare();
    store_ = Open();
    files_->Arm(fault);
    status_ = GetParam().run(*store_);
    return !files_->faulty_call().empty();
  }
  // As a new process sees it; a torn object shows as neither.
  Content Current() {
    const Result<Buffer> data = GetBytes(*Open(), kKey, kNever);
    if (data.status().code() == Code::kNotFound) return std::nullopt;
    return data.ok() ? std::string(data->text()) : data.status().ToString();
  }
  void ExpectNeighbourAndNothingElse() {
    auto store = Open();
    EXPECT_EQ(GetBytes(*store, "data/x", kNever)->text(), "neighbour");
    const Result<ListPage> page = store->List({}, kNever);
    ASSERT_THAT(page, IsOk());
    for (const ObjectInfo& object : page->objects) {
      EXPECT_TRUE(object.key == "data/x" || object.key == kKey) << object.key;
    }
  }
  std::vector<std::string> Temporaries() {
    std::vector<std::string> names;
    for (const std::string& path : files_->AllFiles()) {
      const bool lock = path.find("/lock-") != std::string::npos;
      if (path.find(kTemporaryFolder) != std::string::npos && !lock) names.push_back(path);
    }
    return names;
  }

  std::shared_ptr<SimulatedFileSystem> files_;
  std::unique_ptr<LocalStore> store_;
  Status status_;
};

INSTANTIATE_TEST_SUITE_P(Operations, PowerLossTest, testing::ValuesIn(Operations()),
                         [](const auto& test) { return test.param.name; });

// The operations that leave something to read; a delete does not.
std::vector<Operation> Writes() {
  std::vector<Operation> writes = Operations();
  std::erase_if(writes, [](const Operation& operation) { return !operation.after; });
  return writes;
}

class PowerLossOfAWriteTest : public PowerLossTest {};

INSTANTIATE_TEST_SUITE_P(Operations, PowerLossOfAWriteTest, testing::ValuesIn(Writes()),
                         [](const auto& test) { return test.param.name; });

TEST_P(PowerLossTest, H55AcknowledgedMeansThereAndElseWholeOrAbsent) {
  const Operation& operation = GetParam();
  size_t acknowledged = 0;
  for (size_t call = 1;; ++call) {
    bool reached = false;
    for (const Survivors survivors :
         {Survivors::kNothing, Survivors::kNames, Survivors::kSome, Survivors::kEverything}) {
      for (uint64_t seed = 0; seed < (survivors == Survivors::kSome ? 8 : 1); ++seed) {
        SCOPED_TRACE(Str("power lost at call ", call, ", survivors ", static_cast<int>(survivors),
                         ", seed ", seed));
        reached = RunWith({.at_call = call, .error_number = EIO, .for_ever = true});
        store_.reset();
        files_->PowerLoss(survivors, seed);
        const Content current = Current();
        if (status_.ok()) {
          ++acknowledged;
          EXPECT_EQ(current, operation.after);
        } else {
          EXPECT_TRUE(current == operation.before || current == operation.after)
              << current.value_or("absent");
        }
        ExpectNeighbourAndNothingElse();
      }
    }
    if (!reached) break;
    ASSERT_LT(call, 200u);
  }
  EXPECT_GT(acknowledged, 0u);
}

TEST_P(PowerLossTest, H56AFailedCallLeavesNoPartialNameAndNoTemporaryFile) {
  const Operation& operation = GetParam();
  size_t failures = 0;
  for (const int error_number : {ENOSPC, EDQUOT, EIO, EACCES, EROFS, EMFILE}) {
    for (size_t call = 1; RunWith({.at_call = call, .error_number = error_number}); ++call) {
      SCOPED_TRACE(Str("error ", error_number, " at call ", call, ", ", files_->faulty_call(),
                       ", answered ", status_.ToString()));
      const Content current = Current();
      if (status_.ok()) {
        EXPECT_EQ(current, operation.after);
      } else if (status_.code() == Code::kUnknownOutcome || operation.name == "Delete") {
        EXPECT_TRUE(current == operation.before || current == operation.after);
      } else {
        EXPECT_EQ(current, operation.before);
        ++failures;
      }
      if (!status_.ok() && status_.code() != Code::kUnknownOutcome &&
          (error_number == ENOSPC || error_number == EDQUOT)) {
        EXPECT_THAT(status_, IsCode(Code::kResourceExhausted));
        EXPECT_THAT(status_, HasReason(Reason::kDiskFull));
      }
      store_.reset();
      if (files_->faulty_call() != "unlink") {
        EXPECT_EQ(Temporaries(), std::vector<std::string>());
      }
      ExpectNeighbourAndNothingElse();
      ASSERT_LT(call, 200u);
    }
  }
  EXPECT_TRUE(failures > 0 || operation.name == "Delete");
}

// As on a network file system that lost the answer: the caller must hear "stored" or "unknown", and
// never that nothing happened.
TEST_P(PowerLossTest, ACallThatWasAppliedButAnsweredWithAnErrorIsNotTakenForNothing) {
  const Operation& operation = GetParam();
  for (const int error_number : {EIO, EEXIST, ENOENT, ETIMEDOUT}) {
    const SimulatedFileSystem::Fault fault{.error_number = error_number, .applied = true};
    for (size_t call = 1;; ++call) {
      SimulatedFileSystem::Fault at = fault;
      at.at_call = call;
      if (!RunWith(at)) break;
      const std::string faulty = files_->faulty_call();
      if (faulty != "link" && faulty != "rename") continue;
      SCOPED_TRACE(Str("error ", error_number, " at call ", call, ", ", faulty));
      EXPECT_THAT(status_, IsOk());
      EXPECT_EQ(Current(), operation.after);
      store_.reset();
      EXPECT_EQ(Temporaries(), std::vector<std::string>());
    }
  }
}

// What a reader saw after a failed sync of the folder must not vanish: the ledger takes its own
// commit in the slot for committed.
TEST_P(PowerLossOfAWriteTest, H55WhatIsReadAfterAnUnknownOutcomeSurvivesThePowerLoss) {
  size_t unknown = 0;
  for (size_t call = 1; RunWith({.at_call = call, .error_number = EIO}); ++call) {
    if (status_.code() != Code::kUnknownOutcome) continue;
    ++unknown;
    const Result<Buffer> seen = GetBytes(*store_, kKey, kNever);
    const Content content = seen.ok() ? Content(std::string(seen->text())) : std::nullopt;
    store_.reset();
    files_->PowerLoss(Survivors::kNothing);
    if (content) {
      EXPECT_EQ(Current(), content);
    }
  }
  EXPECT_GT(unknown, 0u);
}

TEST_P(PowerLossOfAWriteTest, ReadersWaitWhileAFolderCannotBeSynced) {
  for (size_t call = 1; RunWith({.at_call = call, .error_number = EIO, .for_ever = true}); ++call) {
    if (status_.code() != Code::kUnknownOutcome || files_->faulty_call() != "fsync") continue;
    EXPECT_THAT(store_->Head(kKey, kNever), IsCode(Code::kUnavailable));
    EXPECT_THAT(GetBytes(*store_, kKey, kNever), IsCode(Code::kUnavailable));
    files_->Arm({});
    EXPECT_EQ(GetBytes(*store_, kKey, kNever)->text(), kNew);
  }
}

// A process made folders and was killed before it synced them; the next one finds them there.
TEST_P(PowerLossOfAWriteTest, H55FoldersOfADeadProcessAreMadeDurableByTheNext) {
  for (size_t call = 1;; ++call) {
    SCOPED_TRACE(Str("the first process died at call ", call));
    const bool reached = RunWith({.at_call = call, .error_number = EIO, .for_ever = true});
    store_.reset();
    files_->Arm({});
    ASSERT_THAT(PutBytes(*Open(), "log/main/8", AsBytes("eight"), {}, kNever), IsOk());
    files_->PowerLoss(Survivors::kNothing);
    const Result<Buffer> eight = GetBytes(*Open(), "log/main/8", kNever);
    ASSERT_THAT(eight, IsOk());
    EXPECT_EQ(eight->text(), "eight");
    if (!reached) break;
  }
}

// The root itself may be new, too.
TEST(PowerLossOfANewRootTest, H55AnAcknowledgedFirstWriteSurvives) {
  for (size_t call = 1;; ++call) {
    SCOPED_TRACE(Str("power lost at call ", call));
    auto files = std::make_shared<SimulatedFileSystem>();
    LocalStoreOptions options;
    options.files = files;
    auto store = *LocalStore::Open(kRoot, options, RealRuntime());
    files->Arm({.at_call = call, .error_number = EIO, .for_ever = true});
    const Status status = PutOnce(*store, {});
    const bool reached = !files->faulty_call().empty();
    files->PowerLoss(Survivors::kNothing);
    store = *LocalStore::Open(kRoot, options, RealRuntime());
    const Result<Buffer> data = GetBytes(*store, kKey, kNever);
    if (status.ok()) {
      EXPECT_EQ(data->text(), kNew);
    } else {
      EXPECT_TRUE(data.status().code() == Code::kNotFound || data->text() == kNew);
    }
    if (!reached) break;
    ASSERT_LT(call, 100u);
  }
}

// The promise that fsync = false gives up, so that the tests above are known to test something.
TEST(PowerLossWithoutFsyncTest, H55AcknowledgedObjectsMayBeLost) {
  auto files = std::make_shared<SimulatedFileSystem>();
  LocalStoreOptions options;
  options.files = files;
  options.fsync = false;
  auto store = *LocalStore::Open(kRoot, options, RealRuntime());
  EXPECT_FALSE(store->capabilities().durable);
  ASSERT_THAT(PutOnce(*store, {}), IsOk());
  files->PowerLoss(Survivors::kNothing);
  EXPECT_THAT(store->Head(kKey, kNever), IsCode(Code::kNotFound));
}

}  // namespace
}  // namespace lakestream
