// SimulatedFileSystem: a FileSystem in memory that can fail at any call and lose its power.
//
// It is as forgetful as POSIX allows: what was not synced may be gone. Content survives a power
// loss as of the last File::Sync, the entries of a folder as of the last SyncFolder of it; a folder
// whose own entry is lost is lost with all that is in it. What of the rest survives is chosen by
// the test.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/file_system.h"

namespace lakestream {

// What of the unsynced survives a power loss.
enum class Survivors {
  kNothing,     // the worst honest disk
  kNames,       // names without the content behind them: a journal of metadata only
  kSome,        // each change by a coin (see PowerLoss), content cut anywhere
  kEverything,  // as if only the processes had died
};

// Confined to one thread.
class SimulatedFileSystem final : public FileSystem {
 public:
  struct Fault {
    size_t at_call = 0;     // 1 is the next call; 0: never
    int error_number = 0;   // what the call answers
    bool applied = false;   // the call takes effect nevertheless, as when an answer is lost
    bool for_ever = false;  // all later calls fail too (and take no effect)
  };

  SimulatedFileSystem();
  ~SimulatedFileSystem() override;

  // Counts calls anew from here.
  void Arm(const Fault& fault);
  size_t calls() const { return calls_; }
  // "write", "link", ...: the call that the fault hit; empty if it was not reached.
  const std::string& faulty_call() const { return faulty_call_; }

  // Forgets what was not synced, drops locks, repairs faults. Open files are dead.
  void PowerLoss(Survivors survivors, uint64_t seed = 0);

  // Paths of all files that are reachable.
  std::vector<std::string> AllFiles() const;

  Result<std::unique_ptr<File>> OpenForRead(const std::string& path) override;
  Result<std::unique_ptr<File>> CreateNew(const std::string& path) override;
  Result<FileInfo> Stat(const std::string& path) override;
  Status Link(const std::string& from, const std::string& to) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status RemoveFile(const std::string& path) override;
  Status MakeFolder(const std::string& path) override;
  Status SyncFolder(const std::string& path) override;
  Result<std::vector<FolderEntry>> ReadFolder(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> TryLock(const std::string& path) override;

 private:
  struct Node;
  using Entries = std::map<std::string, std::shared_ptr<Node>>;
  struct Place;
  class SimulatedFile;
  class SimulatedLock;

  // Counts the call and runs `effect`, or fails it as the fault says. `effect` returns an errno.
  Status Call(std::string_view name, const std::string& path, const std::function<int()>& effect);
  std::shared_ptr<Node> NewNode(FileKind kind);
  int64_t Tick();  // the clock goes on a little
  std::shared_ptr<Node> Find(const std::string& path) const;
  // The folder that holds `path`, null if missing.
  Node* Parent(const std::string& path) const;
  static FileInfo InfoOf(const Node& node);

  std::shared_ptr<Node> root_;
  uint64_t inodes_ = 0;
  int64_t clock_ns_;
  std::set<std::string> locks_;
  Fault fault_;
  size_t calls_ = 0;
  bool dead_ = false;
  std::string faulty_call_;
};

}  // namespace lakestream
