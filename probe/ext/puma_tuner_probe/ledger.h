/* The ledger: what a process has recorded, in a file mapped into memory. Whoever ends, and however, the file stays; any
 * process may read it at any time (lib/puma_tuner/probe/ledger.rb). One process writes, holding its GVL, so nobody
 * locks; a reader sees by an entry's `turn` (odd: being written) that it must look again.
 *
 *   header | entries | histograms, a block per entry that has any | traces | locks
 *
 * Everything is an unsigned 64-bit number in the machine's order, or text ended by zeros. Blocks that nobody uses take no
 * memory. Numbers only grow, so two readings make a window; traces alone begin anew when a reader changes `epoch`. */
#ifndef PUMA_TUNER_LEDGER_H
#define PUMA_TUNER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buckets.h"
#include "parts.h"

#define LEDGER_MAGIC 0x7265676465744c50u
#define LEDGER_LAYOUT 3
#define ENTRIES_MAX 384
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

/* epoch: the reader's. began_at_ns: by CLOCK_MONOTONIC, as the other may be set meanwhile. facts: JSON. */
#define LEDGER_HEADER(FIELD) \
    FIELD(magic) FIELD(layout) FIELD(pid) FIELD(epoch) FIELD(entries_count) FIELD(traces_count) \
    FIELD(cycles_count) FIELD(cost_per_cycle_ns) FIELD(cost_per_request_ns) \
    FIELD(process_cpu_ns) FIELD(gc_count) FIELD(unobserved_threads_count) FIELD(unnamed_count) FIELD(began_at_ns)
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

#define ENTRIES_OFFSET 4096
#define HISTOGRAMS_OFFSET (ENTRIES_OFFSET + ENTRIES_MAX * sizeof(struct ledger_entry))
#define HISTOGRAM_BLOCK_BYTES (HISTOGRAMS * BUCKETS * sizeof(uint64_t))
#define TRACES_OFFSET (HISTOGRAMS_OFFSET + ENTRIES_MAX * HISTOGRAM_BLOCK_BYTES)
#define LOCKS_OFFSET (TRACES_OFFSET + TRACES_MAX * sizeof(struct ledger_trace))
#define LEDGER_BYTES (LOCKS_OFFSET + sizeof(struct ledger_locks))

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

#endif
