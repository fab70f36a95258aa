#include "manifest/apply.h"

#include <algorithm>

#include "base/text.h"
#include "manifest/stream_json.h"

namespace lakestream {
namespace {

constexpr size_t kRowsMax = 4096;  // checkpoints, jobs, branches: bounds a snapshot

class Applier {
 public:
  Applier(const StreamInfo& info, const Record& record, State& state)
      : info_(info), record_(record), state_(state) {}

  Status operator()(const OpenChange& open) {
    LS_RETURN_IF_ERROR(CheckNotSealed("an open"));
    if (!ValidateName("producer", open.producer).ok())
      return DataLossError("a producer name is not valid");
    const auto& declared = info_.spec.producers;
    if (!declared.empty() &&
        std::find(declared.begin(), declared.end(), open.producer) == declared.end()) {
      return DataLossError(Str("producer ", open.producer, " is not one of the declared ones"));
    }
    const auto existing = state_.rows.find(open.producer);
    const SessionId current = existing == state_.rows.end() ? 0 : existing->second.session;
    if (current != open.expected_session) {
      return DataLossError(Str("opens producer ", open.producer, " over session ",
                               open.expected_session, " while ", current, " is current"));
    }
    BeginSession(open.producer);
    return OkStatus();
  }

  Status operator()(const FenceChange& fence) {
    LS_RETURN_IF_ERROR(CheckNotSealed("a fence"));
    const auto row = state_.rows.find(fence.producer);
    if (row == state_.rows.end() || row->second.session != fence.expected_session) {
      return DataLossError(Str("fences session ", fence.expected_session, " of producer ",
                               fence.producer, ", which is not current"));
    }
    BeginSession(fence.producer);
    return OkStatus();
  }

  Status operator()(const PublishChange& publish) {
    const Entry& entry = publish.entry;
    LS_RETURN_IF_ERROR(CheckNotSealed("an entry"));
    ProducerRow* row = state_.FindSession(entry.session);
    if (row == nullptr)
      return DataLossError(Str("publishes for session ", entry.session, ", which is not current"));
    if (entry.first_sequence != row->next_sequence) {
      return DataLossError(Str("publishes sequence ", entry.first_sequence, " of session ",
                               entry.session, " while ", row->next_sequence, " is next"));
    }
    if (entry.object < row->next_object) {
      return DataLossError(Str("publishes object ", entry.object, " of session ", entry.session,
                               " after object ", row->next_object - 1));
    }
    if (entry.object == UINT32_MAX) return DataLossError("publishes an object without successor");
    LS_RETURN_IF_ERROR(CheckOrder(entry.session));
    row->finished = false;
    row->next_object = entry.object + 1;
    row->next_sequence += entry.tgb_count();
    row->tgbs += entry.tgb_count();
    row->state = entry.state;
    const bool extent = entry.state.kind == StateRef::Kind::kExtent;
    row->state_session = extent ? entry.session : 0;
    row->state_object = extent ? entry.object : 0;
    state_.tail.push_back({state_.next_step, entry});
    state_.next_step += entry.tgb_count();
    state_.slice_bytes += entry.layout.FrameBytes();
    state_.data_objects += 1;
    return OkStatus();
  }

  Status operator()(const FinishChange& finish) {
    LS_RETURN_IF_ERROR(CheckNotSealed("a finish"));
    ProducerRow* row = state_.FindSession(finish.session);
    if (row == nullptr || row->finished) {
      return DataLossError(
          Str("finishes session ", finish.session, ", which is not current or finished"));
    }
    row->finished = true;
    state_.sealed = AllDeclaredFinished();
    return OkStatus();
  }

  Status operator()(const SealChange&) {
    LS_RETURN_IF_ERROR(CheckNotSealed("a seal"));
    state_.sealed = true;
    return OkStatus();
  }

  Status operator()(const BeginCheckpointChange& begin) {
    if (!ValidateName("checkpoint", begin.name).ok()) return Invalid("checkpoint", begin.name);
    if (begin.step < state_.trim_step || begin.step > state_.next_step) {
      return DataLossError(Str("checkpoint ", begin.name, " at step ", begin.step,
                               " lies outside of steps ", state_.trim_step, " to ",
                               state_.next_step));
    }
    const auto existing = state_.checkpoints.find(begin.name);
    if (existing != state_.checkpoints.end() && existing->second.live) {
      return DataLossError(Str("begins checkpoint ", begin.name, ", which exists"));
    }
    if (existing == state_.checkpoints.end() && state_.checkpoints.size() >= kRowsMax) {
      return DataLossError("has too many checkpoints");
    }
    state_.checkpoints[begin.name] = {record_.version,  begin.attempt, begin.step, begin.parts,
                                      begin.parts == 0, begin.pinned,  begin.note, begin.time_ms};
    return OkStatus();
  }

  Status operator()(const CompleteCheckpointChange& complete) {
    CheckpointRow* row = FindCheckpoint(complete.name, complete.begun);
    if (row == nullptr || row->live) return Invalid("completed checkpoint", complete.name);
    row->live = true;
    return OkStatus();
  }

  Status operator()(const DropCheckpointChange& drop) {
    if (FindCheckpoint(drop.name, drop.begun) == nullptr)
      return Invalid("dropped checkpoint", drop.name);
    state_.checkpoints.erase(drop.name);
    return OkStatus();
  }

  Status operator()(const PinCheckpointChange& pin) {
    CheckpointRow* row = FindCheckpoint(pin.name, pin.begun);
    if (row == nullptr) return Invalid("pinned checkpoint", pin.name);
    row->pinned = pin.pinned;
    return OkStatus();
  }

  Status operator()(const TrimChange& trim) {
    const Step last = state_.FirstCheckpointStep();
    if (trim.step <= state_.trim_step || trim.step > last) {
      return DataLossError(Str("trims to step ", trim.step, ", which is not above ",
                               state_.trim_step, " and at most ", last));
    }
    state_.trim_step = trim.step;
    return OkStatus();
  }

  Status operator()(const AttachChange& attach) {
    if (!ValidateName("job", attach.job).ok() || !ValidateName("run", attach.run).ok())
      return Invalid("job", attach.job);
    if (attach.start < state_.trim_step || attach.start > state_.next_step) {
      return DataLossError(Str("attaches job ", attach.job, " at step ", attach.start,
                               " outside of steps ", state_.trim_step, " to ", state_.next_step));
    }
    const auto existing = state_.runs.find(attach.job);
    if (attach.ranks == 0 || (existing == state_.runs.end() && state_.runs.size() >= kRowsMax) ||
        (existing != state_.runs.end() && existing->second.run == attach.run)) {
      return Invalid("attach of job", attach.job);
    }
    state_.runs[attach.job] = {attach.run, attach.ranks, attach.start, attach.time_ms};
    return OkStatus();
  }

  Status operator()(const DetachChange& detach) {
    const auto row = state_.runs.find(detach.job);
    if (row == state_.runs.end() || row->second.run != detach.run)
      return Invalid("detach of job", detach.job);
    state_.runs.erase(row);
    return OkStatus();
  }

  Status operator()(const ForkChange& fork) {
    if (!ValidateName("branch", fork.branch).ok() || fork.branch == info_.branch.name ||
        state_.branches.contains(fork.branch) || state_.branches.size() >= kRowsMax) {
      return Invalid("branch", fork.branch);
    }
    if (fork.step < state_.trim_step || fork.step > state_.next_step) {
      return DataLossError(Str("forks branch ", fork.branch, " at step ", fork.step,
                               " outside of steps ", state_.trim_step, " to ", state_.next_step));
    }
    state_.branches[fork.branch] = {fork.step, record_.version, state_.trim_step,
                                    BranchRoot(fork.branch)};
    return OkStatus();
  }

  Status operator()(const CloseChange&) {
    if (info_.branch.is_main()) return DataLossError("closes the main branch");
    if (!state_.branches.empty()) return DataLossError("closes a branch that has branches");
    state_.closed = true;
    return OkStatus();
  }

  Status operator()(const ForgetBranchChange& forget) {
    if (state_.branches.erase(forget.branch) == 0) return Invalid("branch", forget.branch);
    return OkStatus();
  }

 private:
  Status Invalid(std::string_view what, std::string_view name) const {
    return DataLossError(Str(what, " '", name, "' is not valid here"));
  }

  void BeginSession(const std::string& producer) {
    ProducerRow& row = state_.rows[producer];
    state_.producer_of_session.erase(row.session);
    row.session = ++state_.sessions_opened;
    row.next_sequence = 0;
    row.next_object = 0;
    state_.producer_of_session[row.session] = producer;
  }

  CheckpointRow* FindCheckpoint(const std::string& name, Version begun) {
    const auto row = state_.checkpoints.find(name);
    return row == state_.checkpoints.end() || row->second.begun != begun ? nullptr : &row->second;
  }

  // Differs for each branch that ever is, so that records of one are never taken for another's.
  Hash128 BranchRoot(const std::string& name) const {
    ByteWriter writer;
    writer.Raw(record_.previous);
    writer.Raw(record_.commit_id);
    writer.String(name);
    return HashBytes128(writer.bytes());
  }

  Status CheckNotSealed(std::string_view what) const {
    if (!state_.sealed) return OkStatus();
    return DataLossError(Str(what, " follows the seal"));
  }

  Status CheckOrder(SessionId session) {
    const uint64_t rank = SessionRank(record_.version, session, state_.sessions_opened);
    if (any_published_ && rank < last_rank_)
      return DataLossError("entries are not in the order of their ranks");
    any_published_ = true;
    last_rank_ = rank;
    return OkStatus();
  }

  bool AllDeclaredFinished() const {
    const auto& declared = info_.spec.producers;
    return !declared.empty() &&
           std::all_of(declared.begin(), declared.end(), [&](const std::string& name) {
             const auto row = state_.rows.find(name);
             return row != state_.rows.end() && row->second.finished;
           });
  }

  const StreamInfo& info_;
  const Record& record_;
  State& state_;
  bool any_published_ = false;
  uint64_t last_rank_ = 0;
};

Status CheckFollows(const StreamInfo& info, const Record& record, const State& state) {
  if (record.stream != UuidBytes(info)) {
    return FailedPreconditionError(Str("the record belongs to another stream than ", info.uuid,
                                       "; objects of two streams were mixed"),
                                   Reason::kStreamMismatch);
  }
  if (record.version != state.version + 1) {
    return DataLossError(
        Str("the record calls itself version ", record.version, ", expected ", state.version + 1));
  }
  if (record.previous != state.hash) {
    return DataLossError(
        Str("version ", record.version, " does not follow the version ", state.version,
            " that was read here: history was rewritten, or the store let two writers "
            "create one object; stop all writers and run 'lakestream verify'"),
        Reason::kHistoryChanged);
  }
  if (state.closed) return DataLossError(Str("version ", record.version, " follows the close"));
  if (record.first_step != state.next_step) {
    return DataLossError(Str("version ", record.version, " begins at step ", record.first_step,
                             ", expected ", state.next_step));
  }
  return OkStatus();
}

// Takes the pages that `state.next_step` has passed out of the tail.
std::vector<IndexPage> TakeSealedPages(uint64_t page_steps, Step first_open, State& state) {
  std::vector<IndexPage> pages;
  const uint64_t open_page = state.next_step / page_steps;
  for (uint64_t page = first_open / page_steps; page < open_page; ++page) {
    IndexPage sealed{page, {}};
    const Step from = page * page_steps;
    for (const PlacedEntry& placed : state.tail) {
      if (placed.end_step() > from && placed.first_step < from + page_steps)
        sealed.entries.push_back(placed);
    }
    pages.push_back(std::move(sealed));
  }
  const Step open_from = open_page * page_steps;
  std::erase_if(state.tail,
                [&](const PlacedEntry& placed) { return placed.end_step() <= open_from; });
  return pages;
}

}  // namespace

uint64_t SessionRank(Version version, SessionId session, uint64_t sessions_opened) {
  // A multiplicative hash (Knuth, TAOCP 6.4) spreads the first place over the sessions as versions
  // go by.
  const uint64_t pivot = (version * 0x9E3779B97F4A7C15u) % sessions_opened + 1;
  return session >= pivot ? session - pivot : session + sessions_opened - pivot;
}

Result<std::vector<IndexPage>> Apply(const StreamInfo& info, const Record& record,
                                     const Hash128& record_hash, State& state) {
  LS_RETURN_IF_ERROR(CheckFollows(info, record, state));
  const Step first_step = state.next_step;
  Applier applier(info, record, state);
  for (const Change& change : record.changes) {
    if (state.closed) return DataLossError(Str("version ", record.version, " follows the close"));
    if (Status status = std::visit(applier, change); !status.ok()) {
      return status.WithContext(Str("version ", record.version));
    }
  }
  if (record.next_step != state.next_step) {
    return DataLossError(Str("version ", record.version, " claims to end at step ",
                             record.next_step, ", its entries end at ", state.next_step));
  }
  state.version = record.version;
  state.hash = record_hash;
  state.last_commit_ms = record.time_ms;
  return TakeSealedPages(info.spec.index_page_steps, first_step, state);
}

Record MakeRecord(const StreamInfo& info, const State& state, std::vector<Change> changes,
                  const CommitId& commit_id, int64_t time_ms) {
  Record record;
  record.stream = UuidBytes(info);
  record.version = state.version + 1;
  record.previous = state.hash;
  record.commit_id = commit_id;
  record.time_ms = time_ms;
  record.first_step = state.next_step;
  record.next_step = state.next_step;
  for (const Change& change : changes) {
    if (const auto* publish = std::get_if<PublishChange>(&change)) {
      record.next_step += publish->entry.tgb_count();
    }
  }
  record.changes = std::move(changes);
  return record;
}

}  // namespace lakestream
