/* The boundary, and what is removed behind it: whom to believe when a name can be free again.
   README.md says what stands for what.

   `#ifdef`s are deliberate bugs; "mutation NAME: property" says which property has to see it. */

#define SLOTS 4    /* of the log: as many as all that can happen needs */
#define PROMPT 3   /* records of writers that are never late */
#define INTERVAL 2 /* from one snapshot to the next */
#define CLIENTS 2  /* 0 reads; 1 writes one record; both may be late with everything */
#define prompt 2   /* who wrote a record: 1, or one of the prompt writers */
#define GRACE 2    /* reclaim_grace, in ticks of the store's clock */
#ifdef BELIEVE_TOO_LONG /* mutation BELIEVE_TOO_LONG: outcome */
#define HALF 2
#else
#define HALF 1 /* half of it */
#endif

#define one_order 2    /* property: nobody believes a record that the log never had */
#define exactly_once 3 /* property: no item is in the log twice */
#define needed 5       /* property: what somebody may need is there */
#define outcome 9      /* property: a commit that was acknowledged is in the log */

/* ---- The store. Its clock is known by ages only, which stand still at the last one that matters. */

byte slot_of[SLOTS + 2]; /* whose record is in each slot of the log; 0: none */
bit snapshot[SLOTS + 1];
byte boundary;  /* the snapshot that it names; log records up to it are released */
byte stood_for; /* ticks since it was moved */

/* Ghost: the log as it was written, and where in it the clients' records are. */
byte real[SLOTS + 2];
byte head;
byte place[CLIENTS];

mtype = { none, on_its_way, stored_soon, stored_late };
typedef Client {
  byte looked;   /* ticks since it looked at the boundary */
  byte first;    /* what it saw, until it has caught up with that */
  byte slot;     /* of the put under way */
  mtype request; /* "soon": the store's date is at most HALF after the look */
  bit copies     /* there are puts with an unknown end: they may still land */
};
Client client[CLIENTS];

proctype Clock() {
  byte c;
end:
  do
  :: d_step { true ->
       stood_for = (stood_for < GRACE -> stood_for + 1 : GRACE);
       for (c : 0 .. CLIENTS - 1) {
         client[c].looked = (client[c].looked <= HALF -> client[c].looked + 1 : HALF + 1)
       }
       c = 0 }
  od
}

/* Put-if-absent, whenever it arrives: it knows names that are, not names that were. */
inline Land(c) {
  slot_of[client[c].slot] = c;
  if
  :: client[c].slot > head ->
     assert(exactly_once && place[c] == 0);
     head++;
     assert(one_order && client[c].slot == head);
     real[head] = c;
     place[c] = head
  :: else
  fi
}

proctype Network(byte c) {
end:
  do
  :: d_step { client[c].request == on_its_way && slot_of[client[c].slot] == 0 ->
       Land(c); client[c].request = (client[c].looked <= HALF -> stored_soon : stored_late) }
  :: d_step { client[c].copies && slot_of[client[c].slot] == 0 -> Land(c) }
  od
}

/* The rest of the world: adds to the log, and writes snapshots of what the log says, at any time. */
proctype Others() {
  byte written;
end:
  do
  :: d_step { written < PROMPT ->
       written++; head++; slot_of[head] = prompt; real[head] = prompt }
  :: d_step { head >= INTERVAL && !snapshot[INTERVAL] -> snapshot[INTERVAL] = 1 }
  :: d_step { head >= 2 * INTERVAL && !snapshot[2 * INTERVAL] -> snapshot[2 * INTERVAL] = 1 }
  od
}

/* ---- Clients: Follower, BoundaryGuard, Committer. What a process does between two requests is one
   step here: nobody can see it. */

#define My client[c]
#define next (version + 1)

inline Look() {
  My.first = boundary;
  My.looked = 0
}

#ifdef TRUST_READS /* mutation TRUST_READS: outcome */
#define IsLookOld false
#else
#define IsLookOld (My.looked > HALF)
#endif
#ifdef TRUST_WRITES /* mutation TRUST_WRITES: outcome */
#define IsPutLate false
#else
#define IsPutLate (My.request == stored_late)
#endif

proctype Process(byte c) {
  byte version; /* that the follower is at */
  byte got;     /* whose record the store has shown, or taken, in slot `next` */
  bit is_old;   /* the last look is, for that */

end_follow: /* Follower::CatchUp, and at the end of the log what the client is for */
  atomic {
    if
    :: My.looked > 0 -> Look(); goto jump /* a client may look at any time */
    :: slot_of[next] != 0 ->
       got = slot_of[next];
       is_old = IsLookOld
    :: slot_of[next] == 0 && c == 0 -> goto end_follow
    :: slot_of[next] == 0 && c > 0 && place[c] > 0 && place[c] <= version ->
       version = 0;
       My.looked = HALF + 1;
       goto end_done
    :: slot_of[next] == 0 && c > 0 && (place[c] == 0 || place[c] > version) ->
       My.slot = next;
       My.request = on_its_way;
       goto await
    fi;

judge: /* BoundaryGuard::Keeps */
    if
    :: is_old -> Look(); is_old = 0
    :: else
    fi;
    if
    :: next > My.first ->
       assert(outcome && (My.slot == 0 || got != c || real[next] == c)); /* acknowledged */
       assert(one_order && got == real[next]);
       version++
    :: next <= My.first
    fi;
    got = 0;
    My.slot = 0;
    My.request = none;
    My.copies = 0;

jump: /* Follower::CatchUpWithBoundary */
    if
    :: version >= My.first -> My.first = 0; goto end_follow
    :: version < My.first
    fi
  };
  atomic {
    if
    :: snapshot[My.first] -> version = My.first
    :: !snapshot[My.first] -> assert(needed && boundary > My.first); Look()
    fi;
    goto jump
  };

await: /* Committer::Decide */
  atomic {
    if
    :: My.request == stored_soon || My.request == stored_late ->
       got = c;
       is_old = IsPutLate;
       goto judge
    :: My.request != none -> /* another answer, or none in time: the slot decides */
       My.copies = My.copies || My.request == on_its_way;
       if
       :: slot_of[next] != 0 -> got = slot_of[next]; is_old = IsLookOld; goto judge
       :: slot_of[next] == 0 -> My.request = on_its_way; goto await
       fi
    fi
  };

end_done:
  false
}

/* ---- Reclamation: BranchPass */

#ifdef NO_GRACE /* mutation NO_GRACE: outcome */
#define Stood (boundary > 0)
#else
#define Stood (boundary > 0 && stood_for >= GRACE)
#endif
#ifdef BOUNDARY_BACKWARD /* mutation BOUNDARY_BACKWARD: needed */
#define IsStill(known) true
#else
#define IsStill(known) (boundary == known)
#endif
#ifdef CUT_WITHOUT_SNAPSHOT /* mutation CUT_WITHOUT_SNAPSHOT: needed */
#define HasSnapshot(v) (head >= v)
#else
#define HasSnapshot(v) snapshot[v]
#endif

#define IsUsed(n) (n <= known && slot_of[n] != 0)

proctype Reclaimer() {
  byte known;  /* the boundary, as this pass has read it */
  byte target;
  byte v;

end_pass:
  atomic { boundary == 0 || Stood -> known = boundary };

  do /* RemoveManifest: in the order of the names, with pauses anywhere */
  :: d_step { known > INTERVAL && snapshot[INTERVAL] ->
       assert(needed && INTERVAL < boundary);
       snapshot[INTERVAL] = 0 }
  :: d_step { IsUsed(1) || IsUsed(2) || IsUsed(3) || IsUsed(4) ->
       v = (IsUsed(1) -> 1 : (IsUsed(2) -> 2 : (IsUsed(3) -> 3 : 4)));
       assert(needed && v <= boundary);
       slot_of[v] = 0;
       v = 0 }
  :: else -> break
  od;

  atomic { /* Advance */
    if
    :: known < INTERVAL && HasSnapshot(INTERVAL) -> target = INTERVAL
    :: known < 2 * INTERVAL && HasSnapshot(2 * INTERVAL) -> target = 2 * INTERVAL
    :: true -> known = 0; goto end_pass
    fi
  };
  atomic { /* MoveBoundary */
    if
    :: IsStill(known) -> boundary = target; stood_for = 0
    :: else
    fi;
    known = 0;
    target = 0;
    goto end_pass
  }
}

init {
  atomic {
    client[0].looked = HALF + 1; /* never so far */
    client[1].looked = HALF + 1;
    run Clock();
    run Others();
    run Process(0);
    run Network(1);
    run Process(1);
    run Reclaimer();
    run Reclaimer()
  }
}
