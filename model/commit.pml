/* Commit and recovery: who may write the next slot of the log, what became of a put, and how a
   producer that crashed, or runs twice, goes on. README.md says what stands for what.

   `#ifdef`s are deliberate bugs; "mutation NAME: property" says which property has to see it. */

#define SLOTS 7             /* of the log: as many as all that can happen needs */
#define ItemsOf(p) (2 - (p)) /* that a producer's source yields */
/* Starts of producers' processes. Producer 0 has two that may run at once, the first of which is
   started again after a crash: starts 0, then 1; and 2. Producer 1 has start 3. */
#define STARTS 4
#define ProducerOf(start) (start / 3)

#define one_order 2    /* property: a slot never changes, and slots have no gaps */
#define exactly_once 3 /* property: each item of a producer is in the log once, in order */
#define no_zombie 4    /* property: only the current session writes; an open replaces what it read */
#define outcome 9      /* property: what a caller is told of its commit is true, and stays true */

/* What the log says at each version. */
typedef Row {
  byte session; /* the current one; 0: none */
  byte sequence;
  byte items; /* published by all sessions: the cursor of the source */
  byte opener /* ghost: the start whose session it is, plus 1 */
};
typedef Version {
  Row row[2];
  byte sessions_opened
};
Version at[SLOTS + 1];

/* The store: the commit id in each slot (start + 1); 0: the slot is empty. */
byte slot_of[SLOTS + 1];

/* A start's attempt under way: a put of exact bytes to one slot. */
mtype = { none, on_its_way, stored, taken };
typedef Attempt {
  byte slot;
  bit publishes; /* else it opens a session */
  byte session;  /* the own one; of an open: the one that it replaces */
  byte sequence;
  byte item;
  byte count;
  mtype request;   /* the put whose answer its writer waits for */
  bit copies;      /* there are puts with an unknown end: they may still land */
  bit ended;       /* the writer's process has */
  bit told_failed; /* ghost: the caller was told that it is not in the log */
  bit forgotten;   /* (mutations only) */
  byte count_sent
};
Attempt attempt[STARTS];

inline Forget(a) {
  attempt[a].slot = 0;
  attempt[a].publishes = 0;
  attempt[a].session = 0;
  attempt[a].sequence = 0;
  attempt[a].item = 0;
  attempt[a].count = 0;
  attempt[a].count_sent = 0;
  attempt[a].request = none;
  attempt[a].copies = 0
}

/* ---- The manifest: what follows from the record of attempt a in slot n */

inline Keep(n, p) {
  at[n].row[p].session = at[n - 1].row[p].session;
  at[n].row[p].sequence = at[n - 1].row[p].sequence;
  at[n].row[p].items = at[n - 1].row[p].items;
  at[n].row[p].opener = at[n - 1].row[p].opener
}

inline Apply(a, n, p, items_sent) {
  Keep(n, 0);
  Keep(n, 1);
  at[n].sessions_opened = at[n - 1].sessions_opened;
  assert(no_zombie && attempt[a].session == at[n].row[p].session);
  if
  :: attempt[a].publishes ->
     assert(exactly_once && attempt[a].sequence == at[n].row[p].sequence);
     assert(exactly_once && attempt[a].item == at[n].row[p].items);
     at[n].row[p].sequence = at[n].row[p].sequence + items_sent;
     at[n].row[p].items = at[n].row[p].items + items_sent
  :: else ->
     at[n].sessions_opened = at[n].sessions_opened + 1;
     at[n].row[p].session = at[n].sessions_opened;
     at[n].row[p].sequence = 0;
     at[n].row[p].opener = a + 1
  fi
}

/* ---- The store, and the way to it */

#ifdef PUT_WITHOUT_CONDITION /* mutation PUT_WITHOUT_CONDITION: one_order */
#define IsFree(n) true
#else
#define IsFree(n) (slot_of[n] == 0)
#endif

inline Land(a, id, items_sent) {
  assert(one_order && slot_of[attempt[a].slot] == 0);
  assert(one_order && (attempt[a].slot == 1 || slot_of[attempt[a].slot - 1] != 0));
  assert(outcome && !attempt[a].told_failed);
  slot_of[attempt[a].slot] = id;
  Apply(a, attempt[a].slot, ProducerOf(a), items_sent);
  for (other : 0 .. STARTS - 1) { /* the others' puts to this slot change nothing any more */
    if
    :: other != a && attempt[other].slot == attempt[a].slot ->
       Forget(other);
       attempt[other].request = (attempt[other].ended -> none : taken)
    :: else
    fi
  }
  other = 0;
  if
  :: attempt[a].ended -> Forget(a)
  :: else
  fi
}

/* How the puts of one start reach the store. A request that is lost is one that never lands; an
   answer that is lost, one that its writer does not wait for. */
proctype Network(byte a) {
  byte other;
end:
  do
  :: d_step { attempt[a].request == on_its_way && IsFree(attempt[a].slot) ->
       attempt[a].request = stored; Land(a, a + 1, attempt[a].count) }
  :: d_step { attempt[a].copies && IsFree(attempt[a].slot) -> /* long after it was sent */
       Land(a, a + 1 + STARTS * attempt[a].forgotten, attempt[a].count_sent) }
  od
}

/* ---- A producer's process: OpenSession, Producer, Committer, Follower */

#define mine (a + 1)
#define Row_ at[version].row[p]
#define Try attempt[a]

#ifdef SKIP_ROW_CHECK /* mutation SKIP_ROW_CHECK: no_zombie */
#define IsOwnRow (session != 0)
#else
#define IsOwnRow (session != 0 && Row_.session == session)
#endif
#ifdef OPEN_WITHOUT_EXPECTATION /* mutation OPEN_WITHOUT_EXPECTATION: no_zombie */
#define MayOpen (session == 0)
#else
#define MayOpen (session == 0 && Row_.session == expected)
#endif

inline CatchUp() {
  do
  :: version < SLOTS && slot_of[version + 1] != 0 -> version++
  :: else -> break
  od
}

inline Send() {
  Try.slot = version + 1;
  Try.count_sent = Try.count;
  Try.request = on_its_way;
  version = 0
}

inline Committed() { /* the slot holds the own id: fold it, tell the caller what the log has */
  version = Try.slot;
  if
  :: Try.publishes -> assert(outcome && Try.item + Try.count == Row_.items)
  :: else ->
     session = Row_.session;
     expected = 0;
#ifndef RECOVER_BEFORE_OPEN /* mutation RECOVER_BEFORE_OPEN: exactly_once */
     cursor = Row_.items
#endif
  fi;
  Forget(a)
}

inline Lost() {
  CatchUp();
  Forget(a)
}

inline LoseMemory() {
  version = 0;
  expected = 0;
  session = 0;
  cursor = 0
}

/* What a process does between two requests is one step here: nobody can see it. */
proctype Writer(byte a) {
  byte p = ProducerOf(a);
  byte version;  /* that the follower is at; 0 while it waits, since it catches up then */
  byte expected; /* the session that the open is to replace */
  byte session;  /* the own one, once it is open */
  byte cursor;   /* where the source goes on: what the open recovered */

start:
  atomic {
    CatchUp();
    expected = Row_.session;
#ifdef RECOVER_BEFORE_OPEN
    cursor = Row_.items;
#endif

plan: /* on the state at `version` */
    if
    :: MayOpen ->
       Try.session = expected
    :: IsOwnRow && Row_.items < ItemsOf(p) ->
       Try.publishes = 1;
       Try.session = session;
       Try.sequence = Row_.sequence;
       Try.item = cursor + Row_.sequence;
       if /* group commit: one TGB, or all there are */
       :: Try.count = 1
       :: Row_.items + 1 < ItemsOf(p) -> Try.count = ItemsOf(p) - Row_.items
       fi
    :: IsOwnRow && Row_.items >= ItemsOf(p) -> goto over /* all is published */
    :: !MayOpen && !IsOwnRow -> /* fenced, and not by itself */
       assert(outcome && Row_.opener != mine);
       goto over
    fi;
    Send();
    goto await;

over:
    LoseMemory()
  };
end:
  false;

await:
  atomic {
    if
    :: Try.request == stored -> Committed(); goto plan
    :: Try.request == stored /* the answer is lost */
    :: Try.request == taken -> Lost(); goto plan /* whatever the answer */
    :: Try.request == on_its_way -> /* time is up, or the connection gone */
       Try.copies = 1;
#ifdef TIMEOUT_IS_FAILURE /* mutation TIMEOUT_IS_FAILURE: outcome */
       Try.told_failed = 1;
       goto over
#endif
    :: Try.request == on_its_way /* answer: not applied, try again */
#ifndef REFUSAL_IS_FINAL /* mutation REFUSAL_IS_FINAL: outcome */
    :: Try.request == on_its_way && !Try.copies -> /* answer: not applied, and never will be */
       Forget(a);
#else
    :: Try.request == on_its_way ->
       Try.told_failed = 1;
#endif
       Try.request = none;
       goto over
    :: Try.request == on_its_way && !IsFree(Try.slot) -> /* answer: taken, by an older put */
#ifdef STATUS_DECIDES /* mutation STATUS_DECIDES: outcome */
       assert(outcome && slot_of[Try.slot] != mine)
#endif
    :: true -> /* a crash */
       Try.ended = 1;
       if /* what is on its way stays on its way; the next life knows nothing */
       :: Try.slot != 0 && slot_of[Try.slot] == 0 -> Try.copies = 1; Try.request = none
       :: else -> Forget(a)
       fi;
       LoseMemory();
       if
       :: a == 0 -> a = 1; goto start
       :: else -> goto over
       fi
    fi;

    /* Committer::Decide: by reading the slot, however many deadlines pass meanwhile. */
    if
    :: slot_of[Try.slot] == mine -> Committed(); goto plan
    :: slot_of[Try.slot] != mine && slot_of[Try.slot] != 0 -> Lost(); goto plan
    :: slot_of[Try.slot] == 0 -> /* the same bytes to the same slot */
#ifdef SKIP_SLOT /* mutation SKIP_SLOT: one_order */
       if
       :: Try.slot < SLOTS -> Try.slot = Try.slot + 1
       :: true
       fi;
#endif
#ifdef FORGET_UNDECIDED /* mutation FORGET_UNDECIDED: outcome */
       Try.forgotten = Try.copies;
#endif
#ifdef GROW_ATTEMPT /* mutation GROW_ATTEMPT: outcome */
       Try.count = Try.publishes * (ItemsOf(p) - Try.item);
#endif
       Try.request = on_its_way;
       goto await
    fi
  };
}

init {
  byte i;
  atomic {
    for (i : 0 .. STARTS - 1) {
      run Network(i);
      if
      :: i != 1 -> run Writer(i)
      :: else
      fi
    };
    i = 0
  }
}
