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

#define LEDGER_MAGIC 0x7265676465744c50u
#define LEDGER_LAYOUT 2
#define ENTRIES_MAX 384
/* A step of a trace: part in the top byte, nanoseconds below; or a marker, which takes no time: its code in the top byte, a lock's id
 * below. */
#define STEPS_MAX 512
#define STEP_NS_BITS 56
enum marker { ACQUIRE = 64, RELEASE }; /* beyond all parts */

#define TRACES_MAX 2048
#define TRACES_PER_ENTRY_MAX 300

enum sum {
    SUM_WALL, SUM_QUEUE, SUM_CPU, SUM_PREEMPTED, SUM_GVL_WAIT, SUM_GC, SUM_IO, SUM_LOCK, SUM_SLEEP,
    HISTOGRAMS, /* each of the above has one; an instance of zero is not counted in it */
    SUM_IDLE = HISTOGRAMS,
    SUM_POOL_WAIT,   /* of lock */
    SUM_GC_WAITED,   /* of gvl_wait */
    SUM_BEFORE_PUMA, /* from the proxy's stamp to ours */
    SUM_DB, SUM_REDIS, SUM_HTTP, SUM_FILE, /* of io; the rest of it is nobody's that is known */
    SUMS
};

/* COUNT_CYCLES: times a thread took the GVL; 0 of what is no thread. */
enum count { COUNT_ALL, COUNT_UNCLOSED, COUNT_SLICES, COUNT_LONG_HOLDS, COUNT_STAMPED, COUNT_CYCLES, COUNTS };

enum kind { KIND_NONE, KIND_REQUEST, KIND_JOB, KIND_POOL_THREAD, KIND_THREAD, KIND_SPECIAL };

/* Entries that every ledger begins with; from SPECIAL_ENTRIES on they may have histograms. What finds no entry of its own counts for
 * ENTRY_OTHER, a request or a job for its kind's. */
enum { ENTRY_OTHER, ENTRY_GC, ENTRY_PUMA, ENTRY_SCRATCH, SPECIAL_ENTRIES, ENTRY_OTHER_REQUESTS = SPECIAL_ENTRIES, ENTRY_OTHER_JOBS, FIRST_ENTRIES };
#define ENTRY_NONE UINT32_MAX /* of what is not recorded */

#define NAME_BYTES 128
#define BLAMES_MAX 32

struct blame { uint64_t entry, ns; };

struct ledger_entry {
    uint64_t turn, kind;
    uint64_t counts[COUNTS];
    uint64_t sums[SUMS];
    char name[NAME_BYTES];
    struct blame blames[BLAMES_MAX]; /* whom its gvl_wait was spent on */
};

#define FACTS_BYTES 3584

struct ledger_header {
    uint64_t magic, layout, pid, epoch; /* epoch: the reader's */
    uint64_t entries_count, traces_count;
    uint64_t cycles_count, cost_per_cycle_ns, cost_per_request_ns;
    uint64_t process_cpu_ns, gc_count, unobserved_threads_count, unnamed_count;
    uint64_t began_at_ns; /* CLOCK_MONOTONIC: the other may be set meanwhile */
    char facts[FACTS_BYTES]; /* JSON */
};

struct ledger_trace {
    uint64_t turn, entry, epoch;
    uint64_t wall_ns, queue_ns, cpu_ns, gc_ns;
    uint64_t steps_count;
    uint64_t steps[STEPS_MAX];
};

enum lock_kind { LOCK_NONE, LOCK_MUTEX, LOCK_MONITOR, LOCK_POOL };

#define LOCKS_MAX 256
#define CLASS_BYTES 64
#define PLACE_BYTES 128

struct ledger_lock {
    uint64_t kind, size; /* size: 1, or a pool's connections */
    uint64_t threads_count, holds_count, hold_ns, waits_count, wait_ns;
    char class_name[CLASS_BYTES], place[PLACE_BYTES]; /* written once, before it is counted in locks_count */
};

struct ledger_locks {
    uint64_t watched, locks_count;
    uint64_t pairs_count, cost_per_pair_ns; /* all that was locked and unlocked, also what has no place here */
    uint64_t unplaced_count;                /* holds of locks that should have had one */
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
    uint64_t cpu_clock_ns, slices_count, long_holds_count, cycles_count;
    uint32_t steps_count;
    bool unclosed; /* its CPU clock was ahead of its wall time by more than 1 % */
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
