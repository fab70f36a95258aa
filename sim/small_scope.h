// Small scope: every interleaving of a few clients on a few slots, by search over hashed states.
//
// Clients and store are a model; what a record is, whether it is valid, and what it does to a state
// is the product's own manifest code (MakeRecord, EncodeRecord, DecodeRecord, Apply). Two processes
// run one producer, so they open over each other. A put is
// sent, then applied or dropped, then answered or timed out, in any order with everything else, and
// may be applied after its client gave up or died. A reclaimer moves the boundary, lets L pass, and
// removes slots. Time is one bit: when L has passed after a move, no look from before it is fresh.
//
// The same protocol as model/*.pml, from the other side: there the rules are written out by hand,
// here they are the code's.
#pragma once

#include <cstdint>
#include <string>

namespace lakestream::sim {

struct SmallScope {
  uint32_t slots = 4;  // versions that there may be
  uint32_t puts_a_client = 2;
  uint32_t crashes = 1;
  uint32_t restarts = 0;  // a third process may take the place of one that died
  bool reclaims = true;
  // Deliberate bugs, to see that the search finds them.
  bool timeout_is_lost = false;     // an undecided slot is left for the next one
  bool no_boundary_check = false;   // a success or a record is believed as it comes
  bool no_grace = false;            // slots go as soon as the boundary has passed them
  bool refused_is_success = false;  // "condition not met" counts as committed
  bool open_recovers_early =
      false;  // an open names whatever session is current when it is sent anew
};

struct SmallScopeResult {
  uint64_t states = 0;
  uint64_t transitions = 0;
  std::string violation;  // "": none; else what broke, and the way there
};

SmallScopeResult SearchSmallScope(const SmallScope& scope, uint64_t states_max = 50'000'000);

}  // namespace lakestream::sim
