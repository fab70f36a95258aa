#include <map>
#include <set>

#include "base/text.h"
#include "sim/checkers/checkers.h"

namespace lakestream::sim {
namespace {

constexpr char kName[] = "no_zombie";

}  // namespace

std::vector<Violation> CheckNoZombie(const Evidence& evidence) {
  std::vector<Violation> violations;
  std::map<std::string, SessionId> current;
  std::map<SessionId, std::string> producer_of;
  std::map<SessionId, uint64_t> next_sequence;
  for (const ViewRecord& record : evidence.log.records) {
    const std::string where = Str("record ", record.version);
    for (const ViewOpen& open : record.opens) {
      SessionId& newest = current[open.producer];
      if (open.expected != newest || open.session <= newest) {
        violations.push_back(
            {kName, Str(where, ": session ", open.session, " of ", open.producer,
                        " replaces session ", open.expected, ", but ", newest, " is current")});
      }
      newest = open.session;
      if (!open.fence) producer_of[open.session] = open.producer;
    }
    const auto check = [&](SessionId session, const char* what) {
      const auto owner = producer_of.find(session);
      if (owner != producer_of.end() && current[owner->second] == session) return;
      violations.push_back({kName, Str(where, ": session ", session, " ", what,
                                       " but is not the current one of its producer")});
    };
    for (const ViewEntry& entry : record.entries) {
      check(entry.session, "publishes");
      uint64_t& next = next_sequence[entry.session];
      if (entry.first_sequence != next) {
        violations.push_back({kName, Str(where, ": session ", entry.session, " publishes sequence ",
                                         entry.first_sequence, ", but ", next, " is next")});
      }
      next = entry.first_sequence + entry.tgbs;
    }
    for (const SessionId session : record.finishes) check(session, "finishes");
  }
  // A number names one session of one producer, for every actor.
  std::set<SessionId> seen;
  for (const SessionOpened& opened : evidence.history.sessions) {
    const auto owner = producer_of.find(opened.session);
    const bool own = owner != producer_of.end() && owner->second == ProducerName(opened.producer);
    if (own && seen.insert(opened.session).second) continue;
    violations.push_back({kName, Str("session ", opened.session, " of producer ", opened.producer,
                                     " is not its own: two opens got it, or none committed it")});
  }
  return violations;
}

}  // namespace lakestream::sim
