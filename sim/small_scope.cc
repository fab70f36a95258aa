#include "sim/small_scope.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "codec/checksum.h"
#include "manifest/apply.h"
#include "manifest/state.h"

namespace lakestream::sim {
namespace {

constexpr size_t kSlotsMax = 6;
constexpr size_t kClientsMax = 3;
constexpr size_t kPutsMax = 6;
constexpr char kProducer[] = "a";

using RecordId = uint8_t;                       // index into Library; 0: none
using Chain = std::array<RecordId, kSlotsMax>;  // what stands in slots 1, 2, ...

enum class Phase : uint8_t { kAbsent, kOpening, kPublishing, kDone, kFenced, kDead };

struct Client {
  Phase step = Phase::kAbsent;
  uint8_t known = 0;      // versions folded
  uint8_t waits_for = 0;  // put (1-based) whose answer it waits for
  uint8_t undecided = 0;  // slot of its attempt, to be read; 0: none
  RecordId attempt = 0;
  uint8_t puts = 0;
  uint8_t look = 0;  // the boundary that it saw
  uint8_t look_fresh = 0;
  uint8_t expected = 0;  // session that its open replaces, plus 1; 0: not chosen
  uint8_t session = 0;   // its own, once open
  Chain chain{};
};

enum class PutStage : uint8_t { kNone, kSent, kStored, kRefused, kOver };
struct Put {
  PutStage stage = PutStage::kNone;
  uint8_t client = 0;
  uint8_t slot = 0;
  RecordId record = 0;
};

// Plain bytes: compared and hashed as such.
struct Scene {
  std::array<Client, kClientsMax> clients{};
  std::array<Put, kPutsMax> puts{};
  Chain stored{};   // what the store holds
  Chain history{};  // what first stood in each slot
  uint8_t boundary = 0;
  uint8_t grace_over = 1;
  uint8_t removed = 0;  // slots up to this are gone
  uint8_t crashes = 0;
};
static_assert(std::has_unique_object_representations_v<Scene>);

// All records that any client ever planned, as the product encodes them; and the states that chains
// of them give.
class Library {
 public:
  Library() {
    info_.uuid = std::string(32, 'a');
    info_.spec.mesh = {1, 1};
    info_.spec.index_page_steps = 64;
  }

  // Null if the chain's last record is not valid behind the others.
  const State* StateOf(const Chain& chain, uint8_t length) {
    if (length == 0) return &Remember("", EmptyState(info_));
    const std::string key(chain.begin(), chain.begin() + length);
    if (const auto found = states_.find(key); found != states_.end()) return found->second.get();
    const State* before = StateOf(chain, length - 1);
    if (before == nullptr) return nullptr;
    State state = *before;
    const std::vector<uint8_t>& bytes = records_[chain[length - 1]];
    const auto record = DecodeRecord(bytes, info_.spec.mesh);
    const bool valid = record.ok() && Apply(info_, *record, RecordHash(bytes), state).ok();
    if (!valid) return states_.emplace(key, nullptr).first->second.get();
    return &Remember(key, std::move(state));
  }

  // The record of this client's plan behind that state; equal plans are one.
  RecordId Plan(uint8_t client, uint8_t attempt, const State& state, Change change) {
    CommitId id{};
    id[0] = client + 1;
    id[1] = attempt;
    std::vector<uint8_t> bytes = EncodeRecord(MakeRecord(info_, state, {std::move(change)}, id, 0));
    const std::string key(bytes.begin(), bytes.end());
    const auto [found, is_new] = ids_.emplace(key, static_cast<RecordId>(records_.size()));
    if (is_new) records_.push_back(std::move(bytes));
    return found->second;
  }
  bool full() const { return records_.size() >= 255; }

 private:
  const State& Remember(const std::string& key, State state) {
    return *states_.emplace(key, std::make_unique<State>(std::move(state))).first->second;
  }

  StreamInfo info_;
  std::vector<std::vector<uint8_t>> records_{{}};
  std::unordered_map<std::string, RecordId> ids_;
  std::unordered_map<std::string, std::unique_ptr<State>> states_;
};

class Search {
 public:
  Search(const SmallScope& scope, uint64_t states_max) : scope_(scope), states_max_(states_max) {}

  SmallScopeResult Run() {
    Scene start;
    for (uint8_t c = 0; c < 2; ++c) start.clients[c].step = Phase::kOpening;
    Add(start, 0, "start");
    while (!queue_.empty() && result_.violation.empty()) {
      const auto [world, hash] = queue_.front();
      queue_.pop_front();
      from_ = hash;
      moves_ = 0;
      Expand(world);
      if (moves_ == 0) CheckEnd(world);
      if (seen_.size() > states_max_ || library_.full()) {
        result_.violation = "the scope is too large to be searched";
      }
    }
    result_.states = seen_.size();
    return result_;
  }

 private:
  // ---- the graph

  void Add(const Scene& world, uint64_t from, const std::string& what) {
    ++result_.transitions;
    ++moves_;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&world);
    const uint64_t hash = Checksum64({bytes, sizeof world});
    if (!seen_.emplace(hash, Origin{from, Intern(what)}).second) return;
    queue_.emplace_back(world, hash);
  }
  // The same few sentences come up millions of times.
  uint32_t Intern(const std::string& text) {
    const auto [found, is_new] = text_ids_.emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  void Go(const Scene& world, const std::string& what) { Add(world, from_, what); }

  void Violate(const std::string& what) {
    if (!result_.violation.empty()) return;
    std::vector<std::string> way;
    for (uint64_t at = from_; at != 0; at = seen_.at(at).from)
      way.push_back(texts_[seen_.at(at).text]);
    std::reverse(way.begin(), way.end());
    result_.violation = what;
    for (const std::string& step : way) result_.violation += "\n  " + step;
  }

  // ---- what can happen next

  void Expand(const Scene& world) {
    for (uint8_t c = 0; c < kClientsMax; ++c) ExpandClient(world, c);
    for (uint8_t p = 0; p < kPutsMax; ++p) ExpandPut(world, p);
    if (scope_.reclaims) ExpandReclaimer(world);
  }

  void ExpandPut(const Scene& world, uint8_t p) {
    const Put& put = world.puts[p];
    if (put.stage != PutStage::kSent) return;
    Scene next = world;
    RecordId& slot = next.stored[put.slot - 1];
    next.puts[p].stage = slot == 0 ? PutStage::kStored : PutStage::kRefused;
    if (slot == 0) {
      slot = put.record;
      RecordId& first = next.history[put.slot - 1];
      if (first == 0) {
        first = put.record;
        if (library_.StateOf(next.history, put.slot) == nullptr) {
          return Violate(Str("slot ", int{put.slot}, " holds a record that is not valid there"));
        }
      }
    }
    if (world.clients[put.client].waits_for != p + 1) next.puts[p].stage = PutStage::kOver;
    Go(next, Str("put ", int{p}, " of client ", int{put.client}, " to slot ", int{put.slot},
                 slot == put.record ? " is applied" : " is refused"));
    Scene lost = world;
    lost.puts[p].stage = PutStage::kOver;
    if (world.clients[put.client].waits_for == p + 1) GiveUp(lost, put.client);
    Go(lost, Str("put ", int{p}, " is lost"));
  }

  void ExpandReclaimer(const Scene& world) {
    const uint8_t head = Head(world.history);
    // One version stays, and the slots released before are gone.
    if (world.removed == world.boundary && world.boundary + 1 < head) {
      Scene next = world;
      ++next.boundary;
      next.grace_over = 0;
      Go(next, Str("the boundary moves to ", int{next.boundary}));
    }
    if (world.grace_over == 0) {
      Scene next = world;
      next.grace_over = 1;
      for (Client& client : next.clients) client.look_fresh = 0;
      Go(next, "L passes");
    }
    if (world.removed < world.boundary && (world.grace_over == 1 || scope_.no_grace)) {
      Scene next = world;
      next.stored[next.removed++] = 0;
      Go(next, Str("slot ", int{next.removed}, " is removed"));
    } else if (world.removed > 0) {
      for (uint8_t s = 0; s < world.removed; ++s) {
        if (world.stored[s] == 0) continue;
        Scene next = world;
        next.stored[s] = 0;
        Go(next, Str("slot ", s + 1, ", which came back, is removed"));
      }
    }
  }

  void ExpandClient(const Scene& world, uint8_t c) {
    const Client& client = world.clients[c];
    if (client.step == Phase::kDead) {
      // A new process of the same producer, once.
      if (c < 2 && scope_.restarts > 0 && world.clients[2].step == Phase::kAbsent) {
        Scene next = world;
        next.clients[2].step = Phase::kOpening;
        Go(next, Str("client 2 starts in place of client ", int{c}));
      }
      return;
    }
    if (client.step != Phase::kOpening && client.step != Phase::kPublishing) return;
    if (world.crashes < scope_.crashes) {
      Scene next = world;
      ++next.crashes;
      next.clients[c] = Client{.step = Phase::kDead};
      Go(next, Str("client ", int{c}, " dies"));
    }
    if (client.waits_for != 0) return Answer(world, c);
    if (client.undecided != 0) return Decide(world, c);
    ReadOn(world, c);
  }

  void Answer(const Scene& world, uint8_t c) {
    const uint8_t p = world.clients[c].waits_for - 1;
    Scene timed_out = world;
    GiveUp(timed_out, c);
    Go(timed_out, Str("client ", int{c}, " times out"));
    const Put& put = world.puts[p];
    if (put.stage == PutStage::kSent) return;
    Scene next = world;
    Client& client = next.clients[c];
    next.puts[p].stage = PutStage::kOver;
    client.waits_for = 0;
    const bool success = put.stage == PutStage::kStored || scope_.refused_is_success;
    if (!success) {
      client.undecided = put.slot;
      return Go(next, Str("client ", int{c}, " is told that slot ", int{put.slot}, " is taken"));
    }
    if (!Keeps(next, client, put.slot)) {
      Jump(next, client);
      client.attempt = 0;
      return Go(next,
                Str("client ", int{c}, ": its success is void, it goes on from the boundary"));
    }
    client.undecided = 0;
    Committed(next, c, put.slot);
    Go(next, Str("client ", int{c}, " is told that slot ", int{put.slot}, " is its own"));
  }

  void GiveUp(Scene& world, uint8_t c) {
    Client& client = world.clients[c];
    const Put& put = world.puts[client.waits_for - 1];
    client.undecided = scope_.timeout_is_lost ? 0 : put.slot;
    if (scope_.timeout_is_lost) client.attempt = 0;
    client.waits_for = 0;
    // What was applied but not answered is over for the client.
    for (Put& other : world.puts) {
      if (other.client == c &&
          (other.stage == PutStage::kStored || other.stage == PutStage::kRefused))
        other.stage = PutStage::kOver;
    }
  }

  // Reads the slot of the undecided attempt.
  void Decide(const Scene& world, uint8_t c) {
    Scene next = world;
    Client& client = next.clients[c];
    const uint8_t slot = client.undecided;
    const RecordId found = world.stored[slot - 1];
    if (found == 0) {
      if (!Keeps(next, client, slot)) {
        Jump(next, client);
        client.undecided = client.attempt = 0;
        return Go(next, Str("client ", int{c}, ": slot ", int{slot}, " is reclaimed"));
      }
      return Send(next, c, slot, "sends again");
    }
    if (!Keeps(next, client, slot)) {
      Jump(next, client);
      client.undecided = client.attempt = 0;
      return Go(next, Str("client ", int{c}, ": what stands in slot ", int{slot}, " is void"));
    }
    client.undecided = 0;
    if (found == client.attempt) {
      Committed(next, c, slot);
      return Go(next, Str("client ", int{c}, " finds its own record in slot ", int{slot}));
    }
    client.attempt = 0;
    FoldInto(client, slot, found);
    Go(next, Str("client ", int{c}, " finds another's record in slot ", int{slot}));
  }

  void ReadOn(const Scene& world, uint8_t c) {
    Scene next = world;
    Client& client = next.clients[c];
    const uint8_t slot = client.known + 1;
    if (slot > scope_.slots) return;  // out of this scope
    const RecordId found = world.stored[slot - 1];
    if (!Keeps(next, client, slot)) {
      Jump(next, client);
      return Go(next, Str("client ", int{c}, " goes on from the boundary"));
    }
    if (found != 0) {
      FoldInto(client, slot, found);
      return Go(next, Str("client ", int{c}, " reads slot ", int{slot}));
    }
    // The head, as far as it knows: plan, and send.
    const State* state = library_.StateOf(client.chain, client.known);
    if (state == nullptr) return Violate(Str("client ", int{c}, " believes an invalid log"));
    const auto row = state->rows.find(kProducer);
    const auto current = static_cast<uint8_t>(row == state->rows.end() ? 0 : row->second.session);
    Change change = SealChange();
    if (client.step == Phase::kOpening) {
      if (client.expected == 0 || scope_.open_recovers_early) client.expected = current + 1;
      if (client.expected != current + 1) {
        client.step = Phase::kFenced;
        return Go(next, Str("client ", int{c}, ": another open won"));
      }
      change = OpenChange{kProducer, current};
    } else {
      if (current != client.session) {
        client.step = Phase::kFenced;
        return Go(next, Str("client ", int{c}, " is fenced"));
      }
      if (row->second.next_sequence > 0) {
        client.step = Phase::kDone;
        return Go(next, Str("client ", int{c}, " finds its item published"));
      }
      Entry entry;
      entry.session = client.session;
      entry.layout = {1, {{1, 2}}};
      change = PublishChange{entry};
    }
    client.attempt = library_.Plan(c, slot, *state, std::move(change));
    Send(next, c, slot, "sends");
  }

  void Send(Scene& next, uint8_t c, uint8_t slot, const char* what) {
    Client& client = next.clients[c];
    if (client.puts == scope_.puts_a_client + (client.step == Phase::kPublishing ? 1 : 0)) return;
    for (uint8_t p = 0; p < kPutsMax; ++p) {
      Put& put = next.puts[p];
      if (put.stage != PutStage::kNone && put.stage != PutStage::kOver) continue;
      put = {PutStage::kSent, c, slot, client.attempt};
      client.waits_for = p + 1;
      client.undecided = 0;
      ++client.puts;
      return Go(next, Str("client ", int{c}, " ", what, " put ", int{p}, " to slot ", int{slot}));
    }
  }

  // ---- what a client believes

  // The guard: whether slot `slot` still counts, with a fresh look if the last one is old.
  bool Keeps(const Scene& world, Client& client, uint8_t slot) {
    if (scope_.no_boundary_check) return true;
    if (client.look_fresh == 0) {
      client.look = world.boundary;
      client.look_fresh = 1;
    }
    return slot > client.look;
  }

  // Behind the boundary: from the snapshot that it names, which is the history's.
  void Jump(const Scene& world, Client& client) {
    client.look = world.boundary;
    client.look_fresh = 1;
    if (client.known >= world.boundary) return;
    client.chain = Chain{};
    std::copy_n(world.history.begin(), world.boundary, client.chain.begin());
    client.known = world.boundary;
  }

  void FoldInto(Client& client, uint8_t slot, RecordId record) {
    if (slot <= client.known) return;
    client.chain[client.known++] = record;
    if (library_.StateOf(client.chain, client.known) == nullptr)
      Violate(Str("a client reads a record in slot ", int{slot}, " that is not valid there"));
  }

  void Committed(Scene& world, uint8_t c, uint8_t slot) {
    Client& client = world.clients[c];
    if (world.history[slot - 1] != client.attempt) {
      return Violate(Str("client ", int{c}, " believes that it committed slot ", int{slot},
                         ", which is another's in the history"));
    }
    FoldInto(client, slot, client.attempt);
    client.attempt = 0;
    if (client.step == Phase::kPublishing) {
      client.step = Phase::kDone;
    } else {
      const State* state = library_.StateOf(client.chain, client.known);
      if (state == nullptr) return;
      client.session = static_cast<uint8_t>(state->rows.at(kProducer).session);
      client.step = Phase::kPublishing;
    }
  }

  static uint8_t Head(const Chain& history) {
    uint8_t head = 0;
    while (head < kSlotsMax && history[head] != 0) ++head;
    return head;
  }

  // Nothing can happen any more: the item was published as often as somebody was told so.
  void CheckEnd(const Scene& world) {
    const uint8_t head = Head(world.history);
    for (uint8_t s = head; s < kSlotsMax; ++s) {
      if (world.history[s] != 0) return Violate(Str("slot ", int{head} + 1, " is a gap"));
    }
  }

  const SmallScope scope_;
  const uint64_t states_max_;
  Library library_;
  SmallScopeResult result_;
  struct Origin {
    uint64_t from = 0;
    uint32_t text = 0;
  };
  std::unordered_map<uint64_t, Origin> seen_;
  std::unordered_map<std::string, uint32_t> text_ids_;
  std::vector<std::string> texts_;
  std::deque<std::pair<Scene, uint64_t>> queue_;
  uint64_t from_ = 0;
  uint64_t moves_ = 0;
};

}  // namespace

SmallScopeResult SearchSmallScope(const SmallScope& scope, uint64_t states_max) {
  return Search(scope, states_max).Run();
}

}  // namespace lakestream::sim
