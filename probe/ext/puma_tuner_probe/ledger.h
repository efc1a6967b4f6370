/* The ledger: what a process has recorded, in a file mapped into memory. Whoever ends, and however, the file stays; any
 * process may read it at any time (lib/puma_tuner/probe/ledger.rb). One process writes, holding its GVL, so nobody
 * locks; a reader sees by an entry's `turn` (odd: being written) that it must look again.
 *
 *   header | entries | histograms, a block per entry that has any | traces | locks | lanes
 *
 * Everything is an unsigned 64-bit number in the machine's order, or text ended by zeros. Blocks that nobody uses take no
 * memory. Numbers only grow, so two readings make a window; traces alone begin anew when a reader changes `epoch`, and lanes
 * when one changes `lanes_order`. */
#ifndef PUMA_TUNER_LEDGER_H
#define PUMA_TUNER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buckets.h"
#include "parts.h"

#define LEDGER_MAGIC 0x7265676465744c50u
#define LEDGER_LAYOUT 4
#define ENTRIES_MAX 384
#define THREAD_NAMES_MAX 64 /* of threads that serve no requests */
/* A step of a trace: enum part in the top byte, nanoseconds below; or enum marker, and a lock's id below. */
#define STEPS_MAX 512
#define STEP_NS_BITS 56

#define TRACES_MAX 2048
#define TRACES_PER_ENTRY_MAX 300

#define KINDS_OF_ENTRIES(KIND) KIND(REQUEST) KIND(JOB) KIND(POOL_THREAD) KIND(THREAD) KIND(SPECIAL)
#define LEDGER_KIND(code) KIND_##code,
enum kind { KIND_NONE, KINDS_OF_ENTRIES(LEDGER_KIND) };

/* Entries that every ledger begins with; from SPECIAL_ENTRIES on they may have histograms. What finds no entry of its own counts for
 * ENTRY_OTHER, a request or a job for its kind's. */
enum { ENTRY_OTHER, ENTRY_GC, ENTRY_PUMA, ENTRY_SCRATCH, SPECIAL_ENTRIES, ENTRY_OTHER_REQUESTS = SPECIAL_ENTRIES, ENTRY_OTHER_JOBS, FIRST_ENTRIES };
#define ENTRY_NONE UINT32_MAX /* of what is not recorded */

#define NAME_BYTES 128
#define BLAMES_MAX 32

struct blame { uint64_t entry, ns; };

/* In a histogram (of the first HISTOGRAMS sums) an instance of zero is not counted. */
struct ledger_entry {
    uint64_t turn, kind;
    uint64_t counts[COUNTS];
    uint64_t sums[SUMS];
    char name[NAME_BYTES];
    struct blame blames[BLAMES_MAX]; /* whom its gvl_wait was spent on */
};

#define FACTS_BYTES 3584

/* Fields of 64 bits, in their order, of which Ruby has the names by GvlClock.layout. */
#define LEDGER_FIELD(name) uint64_t name;

/* epoch, lanes_wanted_ns, lanes_order: the reader's. began_at_ns: by CLOCK_MONOTONIC, as the other may be set meanwhile. facts: JSON. */
#define LEDGER_HEADER(FIELD) \
    FIELD(magic) FIELD(layout) FIELD(pid) FIELD(epoch) FIELD(entries_count) FIELD(traces_count) \
    FIELD(cycles_count) FIELD(cost_per_cycle_ns) FIELD(cost_per_request_ns) \
    FIELD(process_cpu_ns) FIELD(gc_count) FIELD(unobserved_threads_count) FIELD(unnamed_count) FIELD(began_at_ns) \
    FIELD(lanes_wanted_ns) FIELD(lanes_order)
struct ledger_header {
    LEDGER_HEADER(LEDGER_FIELD)
    char facts[FACTS_BYTES];
};

#define LEDGER_TRACE(FIELD) \
    FIELD(turn) FIELD(entry) FIELD(epoch) FIELD(wall_ns) FIELD(queue_ns) FIELD(cpu_ns) FIELD(gc_ns) FIELD(steps_count)
struct ledger_trace {
    LEDGER_TRACE(LEDGER_FIELD)
    uint64_t steps[STEPS_MAX];
};

#define KINDS_OF_LOCKS(KIND) KIND(MUTEX) KIND(MONITOR) KIND(POOL)
#define LEDGER_LOCK_KIND(code) LOCK_##code,
enum lock_kind { LOCK_NONE, KINDS_OF_LOCKS(LEDGER_LOCK_KIND) };

#define LOCKS_MAX 256
#define CLASS_BYTES 64
#define PLACE_BYTES 128

/* size: 1, or a pool's connections. The texts are written once, before it is counted in locks_count. */
#define LEDGER_LOCK(FIELD) \
    FIELD(kind) FIELD(size) FIELD(threads_count) FIELD(holds_count) FIELD(hold_ns) FIELD(waits_count) FIELD(wait_ns)
struct ledger_lock {
    LEDGER_LOCK(LEDGER_FIELD)
    char class_name[CLASS_BYTES], place[PLACE_BYTES];
};

/* lock_pairs_count: all that was locked and unlocked, also what has no place here; unplaced_locks_count: holds of locks
 * that should have had one. */
#define LEDGER_LOCKS(FIELD) \
    FIELD(watched) FIELD(locks_count) FIELD(lock_pairs_count) FIELD(cost_per_lock_pair_ns) FIELD(unplaced_locks_count)
struct ledger_locks {
    LEDGER_LOCKS(LEDGER_FIELD)
    struct ledger_lock locks[LOCKS_MAX];
};

/* Lanes: each change of state of each thread, for a short while (lanes.c). A lane is a slot.
 *
 * CYCLE: `part` without the GVL from from_ns until ready_ns, then a wait for it until until_ns; number: nanoseconds of garbage
 *   collection in the hold before
 * NEW: a thread is seen for the first time: it wanted the GVL at ready_ns, and has it at until_ns
 * ENDED: a thread has ended, `part` (held, or without the GVL) since from_ns; number: its entry
 * COLLECTED: garbage, with the GVL; WORK: a request or a job was under way; number: its entry */
#define KINDS_OF_LANE_RECORDS(KIND) KIND(CYCLE) KIND(NEW) KIND(ENDED) KIND(COLLECTED) KIND(WORK)
#define LANE_RECORD_KIND(code) LANE_##code,
enum lane_record_kind { LANE_NOTHING, KINDS_OF_LANE_RECORDS(LANE_RECORD_KIND) };
struct ledger_lane_record {
    uint8_t kind, part;
    uint16_t lane;
    uint32_t number;
    uint64_t from_ns, ready_ns, until_ns;
};

/* What a thread does at the end of the recording. state: enum lane_state; ready_ns: 0 when it does not want the GVL. kind: of
 * its entry; 0 as long as nobody knows its name. gc_ns: of it, when it took the GVL. */
#define STATES_OF_LANES(STATE) STATE(RUNNING) STATE(RELEASED)
#define LANE_STATE(code) LANE_##code,
enum lane_state { LANE_UNKNOWN, STATES_OF_LANES(LANE_STATE) };
#define LANE_NAME_BYTES 48
#define LEDGER_LANE(FIELD) FIELD(state) FIELD(since_ns) FIELD(ready_ns) FIELD(in_request) FIELD(kind) FIELD(gc_ns)
struct ledger_lane {
    LEDGER_LANE(LEDGER_FIELD)
    char name[LANE_NAME_BYTES];
};

/* All of it takes LANES_BYTES. order: that it follows, once it has begun. *_ns: by the clock of hooks, but for began_at_ns, by
 * CLOCK_MONOTONIC. full_ns: when there was no more room; 0: there was. records_count: may be more than there is room for. */
#define LANES_BYTES (2u << 20)
#define LANES_MAX 1024
#define LEDGER_LANES(FIELD) FIELD(order) FIELD(began_ns) FIELD(began_at_ns) FIELD(until_ns) FIELD(full_ns) FIELD(records_count)
#define LANES_HEAD_BYTES 64
#define LANE_RECORDS_MAX ((LANES_BYTES - LANES_HEAD_BYTES - LANES_MAX * sizeof(struct ledger_lane)) / sizeof(struct ledger_lane_record))
struct ledger_lanes {
    LEDGER_LANES(LEDGER_FIELD)
    uint64_t unused[2];
    struct ledger_lane lanes[LANES_MAX];
    struct ledger_lane_record records[LANE_RECORDS_MAX];
};
_Static_assert(sizeof(struct ledger_lanes) <= LANES_BYTES, "lanes take more than they may");

#define ENTRIES_OFFSET 4096
#define HISTOGRAMS_OFFSET (ENTRIES_OFFSET + ENTRIES_MAX * sizeof(struct ledger_entry))
#define HISTOGRAM_BLOCK_BYTES (HISTOGRAMS * BUCKETS * sizeof(uint64_t))
#define TRACES_OFFSET (HISTOGRAMS_OFFSET + ENTRIES_MAX * HISTOGRAM_BLOCK_BYTES)
#define LOCKS_OFFSET (TRACES_OFFSET + TRACES_MAX * sizeof(struct ledger_trace))
#define LANES_OFFSET (LOCKS_OFFSET + sizeof(struct ledger_locks))
#define LEDGER_BYTES (LANES_OFFSET + sizeof(struct ledger_lanes))

/* A piece of a thread's time, closed: its parts sum to the wall time by construction. */
struct closed {
    uint64_t sums[SUMS];
    uint64_t slices_count, long_holds_count, cycles_count;
    uint32_t steps_count;
    bool unaccounted; /* its CPU clock was ahead of its wall time by more than 1% */
};

/* Contract of all: GVL held, ordinary Ruby code, unless said otherwise. Without a ledger they do nothing. */
const char *pt_ledger_open(const char *path, const char *facts, uint64_t most_bytes);
void pt_ledger_close(void);
bool pt_ledger_is_open(void);
uint32_t pt_ledger_entry(enum kind kind, const char *name, size_t length);
void pt_ledger_add(uint32_t entry, const struct closed *closed, bool with_histograms);
void pt_ledger_blame(uint32_t waiter, uint32_t holder, uint64_t ns); /* also in RESUMED */
void pt_ledger_trace(uint32_t entry, const uint64_t *steps, const struct closed *closed);
void pt_ledger_gc_count(uint64_t count);
void pt_ledger_process(uint64_t cpu_ns, uint64_t unobserved_threads_count);
void pt_ledger_costs(uint64_t per_cycle_ns, uint64_t per_request_ns);

/* NULL unless the locks of this process are watched. A lock's id is its place, from 1 on. */
extern struct ledger_locks *pt_ledger_locks;
bool pt_ledger_make_locks(void);

/* NULL until a reader has ordered lanes. */
extern struct ledger_lanes *pt_ledger_lanes;
uint64_t pt_ledger_lanes_order(uint64_t *wanted_ns);
bool pt_ledger_make_lanes(void);

#endif
