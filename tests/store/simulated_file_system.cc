#include "tests/store/simulated_file_system.h"

#include <algorithm>
#include <cerrno>
#include <random>

#include "store/durable_folders.h"

namespace lakestream {

struct SimulatedFileSystem::Node {
  FileKind kind = FileKind::kFile;
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> synced_bytes;
  Entries entries;
  Entries synced_entries;

  void PowerLoss(Survivors survivors, std::mt19937_64& coin);
};

void SimulatedFileSystem::Node::PowerLoss(Survivors survivors, std::mt19937_64& coin) {
  const bool some = survivors == Survivors::kSome;
  if (kind == FileKind::kFile) {
    if (some && bytes.size() > synced_bytes.size() && coin() % 2 == 0) {
      bytes.resize(synced_bytes.size() + coin() % (bytes.size() - synced_bytes.size() + 1));
    } else if (survivors != Survivors::kEverything) {
      bytes = synced_bytes;
    }
    synced_bytes = bytes;
    return;
  }
  if (survivors == Survivors::kNothing) entries = synced_entries;
  if (some) {
    Entries kept = synced_entries;
    for (const auto& [name, node] : entries) {
      if (coin() % 2 == 0) kept[name] = node;
    }
    for (const auto& [name, node] : synced_entries) {
      if (!entries.contains(name) && coin() % 2 == 0) kept.erase(name);
    }
    entries = kept;
  }
  synced_entries = entries;
  for (const auto& [name, node] : entries) node->PowerLoss(survivors, coin);
}

class SimulatedFileSystem::SimulatedFile final : public File {
 public:
  SimulatedFile(SimulatedFileSystem& files, std::shared_ptr<Node> node, std::string path)
      : files_(files), node_(std::move(node)), path_(std::move(path)) {}

  Result<FileInfo> Stat() override {
    LS_RETURN_IF_ERROR(files_.Call("stat", path_, [] { return 0; }));
    return InfoOf(*node_);
  }
  Result<size_t> ReadAt(uint64_t offset, MutableBytes into) override {
    LS_RETURN_IF_ERROR(files_.Call("read", path_, [] { return 0; }));
    if (offset >= node_->bytes.size()) return size_t{0};
    const size_t size = std::min<uint64_t>(into.size(), node_->bytes.size() - offset);
    std::copy_n(node_->bytes.begin() + static_cast<long>(offset), size, into.begin());
    return size;
  }
  // A failed write leaves half of its bytes.
  Status Append(std::span<const ConstBytes> pieces) override {
    std::vector<uint8_t> all;
    for (ConstBytes piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
    size_t size = all.size() / 2;
    const Status status = files_.Call("write", path_, [&] {
      size = all.size();
      return 0;
    });
    if (!files_.dead_ || status.ok()) {
      node_->bytes.insert(node_->bytes.end(), all.begin(), all.begin() + static_cast<long>(size));
    }
    return status;
  }
  Status SetModified(int64_t modified_ns) override {
    return files_.Call("futimens", path_, [&] {
      node_->modified_ns = modified_ns;
      return 0;
    });
  }
  Status Touch() override {
    return files_.Call("futimens", path_, [&] {
      node_->modified_ns = files_.Tick();
      return 0;
    });
  }
  Status Sync() override {
    return files_.Call("fdatasync", path_, [&] {
      node_->synced_bytes = node_->bytes;
      return 0;
    });
  }

 private:
  SimulatedFileSystem& files_;
  const std::shared_ptr<Node> node_;
  const std::string path_;
};

class SimulatedFileSystem::SimulatedLock final : public FileLock {
 public:
  SimulatedLock(SimulatedFileSystem& files, std::string path)
      : files_(files), path_(std::move(path)) {}
  ~SimulatedLock() override { files_.locks_.erase(path_); }

 private:
  SimulatedFileSystem& files_;
  const std::string path_;
};

namespace {

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
constexpr int64_t kTickNs = 4'000'000;

}  // namespace

SimulatedFileSystem::SimulatedFileSystem() : clock_ns_(kStartNs) {
  root_ = NewNode(FileKind::kFolder);
}
SimulatedFileSystem::~SimulatedFileSystem() = default;

void SimulatedFileSystem::Arm(const Fault& fault) {
  fault_ = fault;
  calls_ = 0;
  dead_ = false;
  faulty_call_.clear();
}

Status SimulatedFileSystem::Call(std::string_view name, const std::string& path,
                                 const std::function<int()>& effect) {
  ++calls_;
  if (dead_) return FileError(fault_.error_number, name, path);
  if (calls_ == fault_.at_call) {
    faulty_call_ = name;
    dead_ = fault_.for_ever;
    if (fault_.applied) (void)effect();
    return FileError(fault_.error_number, name, path);
  }
  const int error_number = effect();
  return error_number == 0 ? OkStatus() : FileError(error_number, name, path);
}

void SimulatedFileSystem::PowerLoss(Survivors survivors, uint64_t seed) {
  std::mt19937_64 coin(seed);
  root_->PowerLoss(survivors, coin);
  locks_.clear();
  Arm({});
}

std::vector<std::string> SimulatedFileSystem::AllFiles() const {
  std::vector<std::string> paths;
  const std::function<void(const Node&, const std::string&)> visit = [&](const Node& folder,
                                                                         const std::string& base) {
    for (const auto& [name, node] : folder.entries) {
      if (node->kind == FileKind::kFile) paths.push_back(base + "/" + name);
      visit(*node, base + "/" + name);
    }
  };
  visit(*root_, "");
  return paths;
}

std::shared_ptr<SimulatedFileSystem::Node> SimulatedFileSystem::NewNode(FileKind kind) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->inode = ++inodes_;
  node->modified_ns = Tick();
  return node;
}

int64_t SimulatedFileSystem::Tick() {
  clock_ns_ += kTickNs / 3;
  return clock_ns_ / kTickNs * kTickNs;
}

std::shared_ptr<SimulatedFileSystem::Node> SimulatedFileSystem::Find(
    const std::string& path) const {
  if (path == "/") return root_;
  const Node* parent = Parent(path);
  if (parent == nullptr) return nullptr;
  const auto found = parent->entries.find(NameOf(path));
  return found == parent->entries.end() ? nullptr : found->second;
}

SimulatedFileSystem::Node* SimulatedFileSystem::Parent(const std::string& path) const {
  const std::shared_ptr<Node> parent = Find(ParentOf(path));
  return parent != nullptr && parent->kind == FileKind::kFolder ? parent.get() : nullptr;
}

FileInfo SimulatedFileSystem::InfoOf(const Node& node) {
  FileInfo info;
  info.kind = node.kind;
  info.device = 1;
  info.inode = node.inode;
  info.bytes = node.bytes.size();
  info.modified_ns = node.modified_ns;
  return info;
}

Result<std::unique_ptr<File>> SimulatedFileSystem::OpenForRead(const std::string& path) {
  std::shared_ptr<Node> node;
  LS_RETURN_IF_ERROR(Call("open", path, [&] {
    node = Find(path);
    return node == nullptr ? ENOENT : 0;
  }));
  return std::unique_ptr<File>(std::make_unique<SimulatedFile>(*this, node, path));
}

Result<std::unique_ptr<File>> SimulatedFileSystem::CreateNew(const std::string& path) {
  std::shared_ptr<Node> node;
  LS_RETURN_IF_ERROR(Call("create", path, [&] {
    Node* parent = Parent(path);
    if (parent == nullptr) return ENOENT;
    if (parent->entries.contains(NameOf(path))) return EEXIST;
    node = parent->entries[NameOf(path)] = NewNode(FileKind::kFile);
    return 0;
  }));
  return std::unique_ptr<File>(std::make_unique<SimulatedFile>(*this, node, path));
}

Result<FileInfo> SimulatedFileSystem::Stat(const std::string& path) {
  std::shared_ptr<Node> node;
  LS_RETURN_IF_ERROR(Call("stat", path, [&] {
    node = Find(path);
    return node == nullptr ? ENOENT : 0;
  }));
  return InfoOf(*node);
}

Status SimulatedFileSystem::Link(const std::string& from, const std::string& to) {
  return Call("link", to, [&] {
    const std::shared_ptr<Node> node = Find(from);
    Node* parent = Parent(to);
    if (node == nullptr || parent == nullptr) return ENOENT;
    return parent->entries.emplace(NameOf(to), node).second ? 0 : EEXIST;
  });
}

Status SimulatedFileSystem::Rename(const std::string& from, const std::string& to) {
  return Call("rename", to, [&] {
    const std::shared_ptr<Node> node = Find(from);
    const std::shared_ptr<Node> there = Find(to);
    Node* parent = Parent(to);
    if (node == nullptr || parent == nullptr) return ENOENT;
    if (there != nullptr && there->kind == FileKind::kFolder) return EISDIR;
    parent->entries[NameOf(to)] = node;
    Parent(from)->entries.erase(NameOf(from));
    return 0;
  });
}

Status SimulatedFileSystem::RemoveFile(const std::string& path) {
  return Call("unlink", path, [&] {
    const std::shared_ptr<Node> node = Find(path);
    if (node == nullptr) return ENOENT;
    if (node->kind == FileKind::kFolder) return EISDIR;
    Parent(path)->entries.erase(NameOf(path));
    return 0;
  });
}

Status SimulatedFileSystem::MakeFolder(const std::string& path) {
  return Call("mkdir", path, [&] {
    Node* parent = Parent(path);
    if (parent == nullptr) return ENOENT;
    if (parent->entries.contains(NameOf(path))) return EEXIST;
    parent->entries[NameOf(path)] = NewNode(FileKind::kFolder);
    return 0;
  });
}

Status SimulatedFileSystem::SyncFolder(const std::string& path) {
  return Call("fsync", path, [&] {
    const std::shared_ptr<Node> node = Find(path);
    if (node == nullptr) return ENOENT;
    node->synced_entries = node->entries;
    return 0;
  });
}

Result<std::vector<FolderEntry>> SimulatedFileSystem::ReadFolder(const std::string& path) {
  std::shared_ptr<Node> node;
  LS_RETURN_IF_ERROR(Call("readdir", path, [&] {
    node = Find(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
    return node == nullptr ? ENOENT : 0;
  }));
  std::vector<FolderEntry> entries;
  for (const auto& [name, child] : node->entries) entries.push_back({name, child->kind});
  return entries;
}

Result<std::unique_ptr<FileLock>> SimulatedFileSystem::TryLock(const std::string& path) {
  // The lock belongs to the descriptor, which a failed call closes: it is never held after a
  // failure.
  bool locked = false;
  const Status called = Call("flock", path, [&] {
    Node* parent = Parent(path);
    if (parent == nullptr) return ENOENT;
    if (!parent->entries.contains(NameOf(path))) {
      parent->entries[NameOf(path)] = NewNode(FileKind::kFile);
    }
    locked = locks_.insert(path).second;
    return locked ? 0 : EWOULDBLOCK;
  });
  if (!called.ok()) {
    if (locked) locks_.erase(path);
    return called;
  }
  return std::unique_ptr<FileLock>(std::make_unique<SimulatedLock>(*this, path));
}

}  // namespace lakestream
