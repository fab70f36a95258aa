// One process of a chaos run (README.md): chaos_worker <role> <uri> key=value...
//
//   create    the stream
//   produce   name= branch= pace_ms= large_every= finish=  items 0, 1, 2, ... until the file
//             `finish` exists
//   consume   job= run= rank= ranks= dp= cp= dp_size= start= log=   reads to the end, as a rank
//   operate   checkpoints, trims, branches, at random, for ever
//   observe   reads any branch from its first step on, attached to nothing, for ever
//   reclaim   passes of reclamation, for ever
//   settle    keep=  ends runs, pending checkpoints and all branches but one, trims to the last
//             `keep` checkpoints (0: to the end), reclaims until nothing is left to do
//
// Says what it knows as lines of JSON on stderr, written at once: a kill loses nothing that was
// said. The exit code tells the driver what to do next, see Fail().
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "codec/checksum.h"
#include "lakestream/admin.h"
#include "lakestream/consumer.h"
#include "lakestream/lifecycle.h"
#include "lakestream/object_store.h"
#include "lakestream/producer.h"

namespace lakestream {
namespace {

using std::chrono::milliseconds;

void Say(int file, std::string line) {
  line += '\n';
  if (write(file, line.data(), line.size()) < 0) std::abort();  // one write: a line is whole
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

// What may never come of a fault. The rest is a fault's consequence, and another try helps.
bool IsViolation(const Status& status) {
  return status.code() == Code::kDataLoss || status.code() == Code::kInternal ||
         status.code() == Code::kInvalidArgument || status.code() == Code::kUnimplemented;
}

void SayError(std::string_view what, const Status& status) {
  Say(STDERR_FILENO, Str("{\"", IsViolation(status) ? "violation" : "error",
                         "\": ", Quoted(Str(what, ": ", status.ToString())), "}"));
}

int Fail(std::string_view what, const Status& status) {
  SayError(what, status);
  if (IsViolation(status)) return 9;
  switch (status.reason()) {
    case Reason::kRunOver:
      return 3;
    case Reason::kStepTrimmed:
      return 4;
    case Reason::kSessionFenced:
      return 5;
    case Reason::kBranchClosed:
    case Reason::kBranchMissing:
      return 6;
    default:
      return 1;
  }
}

class Words {
 public:
  Words(int argc, char** argv) {
    for (int i = 3; i < argc; ++i) {
      const std::string word = argv[i];
      const size_t at = word.find('=');
      words_[word.substr(0, at)] = word.substr(at + 1);
    }
  }
  std::string Text(const std::string& name, const std::string& otherwise = "") const {
    const auto found = words_.find(name);
    return found == words_.end() ? otherwise : found->second;
  }
  uint64_t Number(const std::string& name, uint64_t otherwise = 0) const {
    const auto found = words_.find(name);
    return found == words_.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 10);
  }

 private:
  std::map<std::string, std::string> words_;
};

// Words in the one large slice of a large item: enough for an upload in parts.
constexpr uint64_t kLargeWords = 9'000'000;

// The deterministic source: which words stand in the slice (dp, cp) of an item. judge.py has it,
// too.
std::vector<uint64_t> WordsOf(const std::string& producer, uint64_t item, uint32_t dp, uint32_t cp,
                              bool large) {
  const std::string id = Str(producer, "/", item, "/", dp, "/", cp);
  const uint64_t word = Checksum64({reinterpret_cast<const uint8_t*>(id.data()), id.size()});
  std::vector<uint64_t> words(large ? kLargeWords : 20 + word % 300, word);
  words[0] = item;
  return words;
}

// The cursor behind an item; now and then too large for a record.
std::string StateBehind(uint64_t items) {
  std::string state = std::to_string(items);
  if (items % 5 == 3) state += std::string(2000, ' ');
  return state;
}

Tgb MakeTgb(const Mesh& mesh, const std::string& producer, uint64_t item, bool large) {
  Tgb tgb(mesh);
  for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
      const std::vector<uint64_t> words = WordsOf(producer, item, dp, cp, large && dp + cp == 0);
      const TensorView tensor{producer,
                              DType::kU64,
                              {words.size()},
                              {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 8}};
      (void)tgb.SetSlice(dp, cp, std::span(&tensor, 1));
    }
  }
  return tgb;
}

class Worker {
 public:
  Worker(std::string uri, Words words)
      : uri_(std::move(uri)),
        words_(std::move(words)),
        runtime_(RealRuntime([](LogLevel level, std::string_view text) {
          // An error that the library reports is one that no fault may cause.
          Say(STDERR_FILENO, Str("{\"", level == LogLevel::kError ? "violation" : "log",
                                 "\": ", Quoted(text), "}"));
        })) {}

  int Run(const std::string& role) {
    auto store = OpenStore(uri_, {}, runtime_);
    if (!store.ok()) return Fail("store", store.status());
    store_ = *store;
    if (role == "create") return Create();
    auto stream = Stream::Open(store_, runtime_, Soon(), words_.Text("branch", "main"));
    if (!stream.ok()) return Fail("open", stream.status());
    stream_ = *stream;
    if (role == "produce") return Produce();
    if (role == "consume") return Consume();
    if (role == "operate") return Operate();
    if (role == "observe") return Observe();
    if (role == "reclaim") return ReclaimForEver();
    if (role == "settle") return Settle();
    return 2;
  }

 private:
  Deadline Soon() { return After(*runtime_, milliseconds(words_.Number("timeout_ms", 20000))); }
  void Sleep(uint64_t ms) { (void)SleepFor(*runtime_, milliseconds(ms), Deadline::Never()); }
  uint64_t Below(uint64_t n) { return runtime_->Random64() % std::max<uint64_t>(n, 1); }
  // Out of a hundred times.
  bool Chance(uint64_t times) { return Below(100) < times; }

  int Create() {
    StreamSpec spec{.mesh = {2, 2}, .snapshot_interval = 8, .index_page_steps = 16};
    spec.reclaim_grace = milliseconds(words_.Number("grace_ms", 2000));
    std::string names = words_.Text("producers");
    for (size_t at = 0; at < names.size();) {
      const size_t end = std::min(names.find(',', at), names.size());
      spec.producers.push_back(names.substr(at, end - at));
      at = end + 1;
    }
    auto stream = Stream::OpenOrCreate(store_, runtime_, spec, Soon());
    return stream.ok() ? 0 : Fail("create", stream.status());
  }

  int Produce() {
    ProducerOptions options;
    options.name = words_.Text("name");
    options.commit_interval = milliseconds(words_.Number("commit_ms", 15));
    options.object_bytes_target = 30000;
    options.ahead_steps_max = words_.Number("ahead");
    options.run_timeout = std::chrono::seconds(3);
    options.reclaim_interval = milliseconds(words_.Number("reclaim_ms"));
    options.reclaim = Rules();
    auto opened = Producer::Open(stream_, options, Soon());
    if (opened.status().reason() == Reason::kSealed) return 0;
    if (!opened.ok()) return Fail("open", opened.status());
    Producer& producer = **opened;
    uint64_t items = std::strtoull(producer.recovered_state().c_str(), nullptr, 10);
    Say(STDERR_FILENO, Str("{\"session\": ", producer.session(), ", \"recovered\": ", items, "}"));
    const std::string finish = words_.Text("finish");
    const uint64_t large_every = words_.Number("large_every");
    // The last state is one that lies in a data object, and so keeps that.
    while (access(finish.c_str(), F_OK) != 0 || items % 5 != 3) {
      for (uint64_t burst = 1 + Below(8); burst > 0; --burst, ++items) {
        const bool large = large_every > 0 && items % large_every == large_every - 1;
        Tgb tgb = MakeTgb(stream_->info().spec.mesh, options.name, items, large);
        const Status wrote = producer.Write(std::move(tgb), StateBehind(items + 1), Soon());
        if (!wrote.ok()) return Fail("write", wrote);
      }
      if (Chance(30)) {
        const Status flushed = producer.Flush(Soon());
        if (!flushed.ok()) return Fail("flush", flushed);
        SayDone(options.name, items);
      }
      if (Below(1000) < 3) return 7;  // the driver lets it sleep for a while
      Sleep(Below(2 * words_.Number("pace_ms", 20)));
    }
    const Status finished = producer.Finish(Soon());
    if (!finished.ok()) return Fail("finish", finished);
    SayDone(options.name, items);
    return 0;
  }
  void SayDone(const std::string& name, uint64_t items) {
    Say(STDERR_FILENO, Str("{\"committed\": ", Quoted(name), ", \"branch\": ",
                           Quoted(stream_->info().branch.name), ", \"items\": ", items, "}"));
  }

  int Consume() {
    ConsumerOptions options;
    options.dp_index = static_cast<uint32_t>(words_.Number("dp"));
    options.cp_index = static_cast<uint32_t>(words_.Number("cp"));
    options.mesh = Mesh{static_cast<uint32_t>(words_.Number("dp_size", 2)), 2};
    options.start_step = words_.Number("start");
    options.prefetch_steps = 24;
    options.poll_max = milliseconds(300);
    ConsumerRun run{.job = words_.Text("job"), .run = words_.Text("run")};
    run.rank = static_cast<uint32_t>(words_.Number("rank"));
    run.ranks = static_cast<uint32_t>(words_.Number("ranks", 1));
    run.report_interval = milliseconds(150);
    if (!run.job.empty()) options.run = run;
    const int log = open(words_.Text("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (log < 0) return 2;
    auto consumer = Consumer::Open(stream_, options, Soon());
    if (!consumer.ok()) return FailToRead("open", consumer.status());
    while (true) {
      auto next = (*consumer)->Next(Soon());
      if (next.status().code() == Code::kDeadlineExceeded) continue;
      if (!next.ok()) return FailToRead("next", next.status());
      if (!*next) break;
      std::string line = std::to_string((*next)->step);
      for (const SliceView& slice : (*next)->slices) {
        line += Str(" ", ToHex(Checksum64(slice.payload.bytes())));
      }
      Say(log, line);
      // What is in the log would survive this process: from there on it would go on.
      if (options.run && (*next)->step % 8 == 7) {
        const Status durable = (*consumer)->SetDurable((*next)->step + 1);
        if (!durable.ok()) return Fail("durable", durable);
      }
      if (Chance(3)) Sleep(Below(40));
    }
    const Status closed = (*consumer)->Close(Soon());
    if (!closed.ok()) return Fail("close", closed);
    Say(log, "end");
    return 0;
  }

  // Who comes too late is told where to go on.
  int FailToRead(std::string_view what, const Status& status) {
    if (status.reason() == Reason::kStepTrimmed) {
      const auto report = Trim(*stream_, {.dry_run = true}, Soon());
      if (report.ok()) Say(STDERR_FILENO, Str("{\"trimmed\": ", report->from, "}"));
    }
    return Fail(what, status);
  }

  static std::string ToHex(uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
  }

  // ---- operator

  int Operate() {
    while (true) {
      Sleep(20 + Below(250));
      const uint64_t what = Below(100);
      if (what < 40) {
        Checkpoint();
      } else if (what < 65) {
        TrimNow();
      } else if (what < 80) {
        ReadACheckpoint();
      } else if (what < 88) {
        ChangeACheckpoint();
      } else {
        Branches();
      }
    }
  }

  Result<Step> EndOfStream() {
    LS_ASSIGN_OR_RETURN(const StreamStatus status, GetStatus(*stream_, Soon()));
    return status.next_step;
  }

  void Checkpoint() {
    auto end = EndOfStream();
    if (!end.ok()) return SayError("status", end.status());
    SaveCheckpointOptions options;
    options.name = Str("c", runtime_->Random64() % 1000000);
    options.step = *end - std::min(*end, Below(30));
    options.note = Str("model/", options.step);
    options.parts = Chance(30) ? 3 : 0;
    options.attempt = options.parts > 0 ? "a1" : "";
    Result<bool> live = false;
    // Some attempts stay torn: the rest is reclamation's.
    for (uint64_t part = Chance(20) ? 1 : 0; part < std::max(options.parts, 1u); ++part) {
      options.part = static_cast<uint32_t>(part);
      live = SaveCheckpoint(*stream_, options, Soon());
      if (!live.ok()) return SayError("checkpoint", live.status());
    }
    if (*live) {
      Say(STDERR_FILENO,
          Str("{\"checkpoint\": ", Quoted(options.name), ", \"step\": ", options.step, "}"));
    }
  }

  // By rules, or just so, near the end: then it must be refused as long as anybody needs the steps.
  void TrimNow() {
    TrimOptions options;
    options.rules.keep_last = static_cast<uint32_t>(Below(4));
    if (Chance(60)) {
      auto end = EndOfStream();
      if (!end.ok()) return SayError("status", end.status());
      options.to = *end - std::min(*end, Below(80));
    }
    const auto report = Trim(*stream_, options, Soon());
    if (report.status().reason() == Reason::kHeldBack) return;
    if (!report.ok()) return SayError("trim", report.status());
    Say(STDERR_FILENO, Str("{\"trimmed\": ", report->to, "}"));
  }

  Result<CheckpointInfo> AnyCheckpoint() {
    LS_ASSIGN_OR_RETURN(auto checkpoints, ListCheckpoints(*stream_, Soon()));
    std::erase_if(checkpoints, [](const CheckpointInfo& c) { return !c.live; });
    if (checkpoints.empty()) return NotFoundError("no checkpoint");
    return checkpoints[Below(checkpoints.size())];
  }

  // Every step from a live checkpoint on can be read, for as long as it is live.
  void ReadACheckpoint() {
    const auto checkpoint = AnyCheckpoint();
    if (checkpoint.status().code() == Code::kNotFound) return;
    if (!checkpoint.ok()) return SayError("list", checkpoint.status());
    auto end = EndOfStream();
    if (!end.ok()) return SayError("status", end.status());
    for (Step step = checkpoint->step; step < std::min(*end, checkpoint->step + 3); ++step) {
      const auto slice = ReadSlice(*stream_, step, 0, 1, Soon());
      if (slice.ok()) continue;
      const auto now = FindCheckpoint(*stream_, checkpoint->name, Soon());
      const bool trimmed = slice.status().reason() == Reason::kStepTrimmed;
      if (!trimmed || !now.ok()) return SayError("read", slice.status());
      return SayError(Str("step ", step, " of the live checkpoint ", checkpoint->name),
                      DataLossError(slice.status().message()));
    }
  }

  void ChangeACheckpoint() {
    const auto checkpoint = AnyCheckpoint();
    if (!checkpoint.ok()) return;
    const Status changed = Chance(50) ? PinCheckpoint(*stream_, checkpoint->name,
                                                      Chance(30) && !checkpoint->pinned, Soon())
                                      : DeleteCheckpoint(*stream_, checkpoint->name, Soon());
    if (!changed.ok()) SayError("change", changed);
  }

  void Branches() {
    const auto branches = ListBranches(*stream_, Soon());
    if (!branches.ok()) return SayError("branches", branches.status());
    std::vector<std::string> alive;
    for (const BranchSummary& branch : *branches) {
      if (!branch.deleted) alive.push_back(branch.info.name);
    }
    const std::string any = alive.empty() ? "" : alive[Below(alive.size())];
    if (alive.size() > 2 || (!alive.empty() && Chance(15))) {
      const Status deleted = DeleteBranch(*stream_, any, Soon());
      if (!deleted.ok()) SayError("delete branch", deleted);
    } else if (alive.empty() || Chance(50)) {
      Fork(*stream_);
    } else {
      auto branch = Stream::Open(store_, runtime_, Soon(), any);
      if (!branch.ok()) return SayError("open branch", branch.status());
      Chance(40) ? Fork(**branch) : TrimOnBranch(**branch);
    }
  }

  void Fork(Stream& from) {
    const auto status = GetStatus(from, Soon());
    if (!status.ok()) return SayError("status", status.status());
    const std::string name = Str("b", runtime_->Random64() % 1000000);
    const Step end = status->next_step;
    const Status made = CreateBranch(from, name, end - std::min(end, Below(40)), Soon());
    if (!made.ok()) return SayError("fork", made);
    Say(STDERR_FILENO, Str("{\"forked\": ", Quoted(name), "}"));
  }

  // A branch gives up steps that it shares, or its own.
  void TrimOnBranch(Stream& branch) {
    const auto status = GetStatus(branch, Soon());
    if (!status.ok()) return SayError("status", status.status());
    const Step end = status->next_step;
    const auto report = Trim(branch, {.to = end - std::min(end, Below(30))}, Soon());
    if (!report.ok()) SayError("trim branch", report.status());
  }

  // ---- observer

  int Observe() {
    while (true) {
      Sleep(Below(300));
      const Status seen = ObserveOnce();
      if (!seen.ok()) SayError("observe", seen);
    }
  }

  // Whoever reads without being attached may be told that a step is trimmed, but never meets a
  // gap, other bytes, or nothing.
  Status ObserveOnce() {
    LS_ASSIGN_OR_RETURN(const auto branches, ListBranches(*stream_, Soon()));
    const uint64_t which = Below(branches.size() + 1);
    const std::string name = which == 0 ? "main" : branches[which - 1].info.name;
    LS_ASSIGN_OR_RETURN(const auto stream, Stream::Open(store_, runtime_, Soon(), name));
    LS_ASSIGN_OR_RETURN(const TrimReport trim, Trim(*stream, {.dry_run = true}, Soon()));
    ConsumerOptions options;
    options.dp_index = static_cast<uint32_t>(Below(2));
    options.cp_index = static_cast<uint32_t>(Below(2));
    options.start_step = trim.from;
    options.prefetch_steps = static_cast<uint32_t>(1 + Below(30));
    LS_ASSIGN_OR_RETURN(const auto consumer, Consumer::Open(stream, options, Soon()));
    for (uint64_t count = Below(100); count > 0; --count) {
      LS_ASSIGN_OR_RETURN(const auto next, consumer->Next(After(*runtime_, milliseconds(3000))));
      if (!next) break;
      Say(STDERR_FILENO, Str("{\"read\": ", Quoted(name), ", \"step\": ", next->step, ", \"dp\": ",
                             options.dp_index, ", \"cp\": ", options.cp_index, ", \"hash\": \"",
                             ToHex(Checksum64(next->slice().payload.bytes())), "\"}"));
      if (Chance(10)) Sleep(Below(200));
    }
    return OkStatus();
  }

  // ---- reclamation

  ReclaimOptions Rules() {
    ReclaimOptions options;
    options.fence_after = milliseconds(words_.Number("fence_ms", 3000));
    options.abandon_after = milliseconds(words_.Number("abandon_ms", 6000));
    options.detach_after = milliseconds(words_.Number("detach_ms", 30000));
    return options;
  }

  int ReclaimForEver() {
    while (true) {
      const auto report = Reclaim(*stream_, Rules(), Soon());
      if (!report.ok()) {
        SayError("reclaim", report.status());
      } else if (report->removed() > 0 || !report->ended.empty()) {
        SayReport(*report);
      }
      Sleep(50 + Below(400));
    }
  }
  void SayReport(const ReclaimReport& report) {
    std::string ended;
    for (const std::string& what : report.ended) ended += what + "; ";
    Say(STDERR_FILENO, Str("{\"removed\": ", report.removed(), ", \"data\": ", report.data_objects,
                           ", \"log\": ", report.log_records, ", \"uploads\": ", report.uploads,
                           ", \"ended\": ", Quoted(ended), "}"));
  }

  Status EndAll() {
    LS_ASSIGN_OR_RETURN(const auto runs, ListRuns(*stream_, Soon()));
    for (const RunInfo& run : runs) {
      LS_RETURN_IF_ERROR(DetachRun(*stream_, run.job, run.run, Soon()));
    }
    LS_ASSIGN_OR_RETURN(const auto branches, ListBranches(*stream_, Soon()));
    bool kept = false;
    for (auto branch = branches.rbegin(); branch != branches.rend(); ++branch) {
      if (branch->deleted || !std::exchange(kept, true)) continue;
      const Status deleted = DeleteBranch(*stream_, branch->info.name, Soon());
      // What the kept one descends from stays.
      if (!deleted.ok() && deleted.reason() != Reason::kHeldBack) return deleted;
    }
    const auto keep = static_cast<uint32_t>(words_.Number("keep"));
    LS_RETURN_IF_ERROR(Trim(*stream_, {.rules = {.keep_last = keep}}, Soon()).status());
    if (keep > 0) return OkStatus();
    LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(*stream_, Soon()));
    for (const CheckpointInfo& checkpoint : checkpoints) {
      LS_RETURN_IF_ERROR(PinCheckpoint(*stream_, checkpoint.name, false, Soon()));
      LS_RETURN_IF_ERROR(DeleteCheckpoint(*stream_, checkpoint.name, Soon()));
    }
    LS_ASSIGN_OR_RETURN(const Step end, EndOfStream());
    return Trim(*stream_, {.to = end}, Soon()).status();
  }

  int Settle() {
    const Status ended = EndAll();
    if (!ended.ok()) return Fail("settle", ended);
    // Left-overs are told from what is under way by their age; then three passes find nothing.
    const TimePoint all_old = runtime_->Now() + milliseconds(words_.Number("quiet_ms", 4000));
    for (int idle_passes = 0; idle_passes < 3 || runtime_->Now() < all_old;) {
      const auto report = Reclaim(*stream_, Rules(), Soon());
      if (!report.ok()) return Fail("reclaim", report.status());
      const bool idle = report->removed() == 0 && report->uploads == 0 && report->ended.empty() &&
                        report->next_release_ms == 0;
      idle_passes = idle ? idle_passes + 1 : 0;
      if (!idle && (report->removed() > 0 || !report->ended.empty())) SayReport(*report);
      Sleep(200);
    }
    return 0;
  }

  const std::string uri_;
  const Words words_;
  const std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<ObjectStore> store_;
  std::shared_ptr<Stream> stream_;
};

}  // namespace
}  // namespace lakestream

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  signal(SIGPIPE, SIG_IGN);
  return lakestream::Worker(argv[2], lakestream::Words(argc, argv)).Run(argv[1]);
}
