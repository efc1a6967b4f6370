/* One slot per Ruby thread: what the thread is doing now, and how long it has done each thing so far.
 *
 * Who writes: the thread itself, holding the GVL, except for `ready`, which may come from the thread that wakes it. All
 * sums are made when it has the GVL again. So whoever holds the GVL may read every slot: the others stand still. */
#ifndef PUMA_TUNER_SLOT_H
#define PUMA_TUNER_SLOT_H

#include "clock.h"
#include "ledger.h"
#include <ruby.h>
#include <ruby/thread.h>

enum state {
    UNKNOWN, /* not seen yet: the thread is older than the hook, or new */
    RUNNING, /* has the GVL */
    RELEASED /* gave it up; wants it again when `ready.at_ns` is set */
};

struct totals {
    uint64_t part_ns[PARTS];
    uint64_t gc_ns;            /* of held time: ran the garbage collector */
    uint64_t gc_waited_ns;     /* of the wait for the GVL: while another thread ran it */
    uint64_t slices_count;     /* times the GVL was taken away at the end of a time slice */
    uint64_t long_holds_count; /* times it held the GVL for LONG_HOLD_NS or more */
};

/* A hold this long keeps everybody else waiting for a whole tick of the timer. */
#define LONG_HOLD_NS 10000000u

/* A lock, or a connection of a pool, that the thread has or tries to get. See locks.c. */
#define LOCK_HOLDS_MAX 16
struct lock_hold {
    VALUE lock;
    VALUE awaited;         /* on whom Ruby waits for it: the lock, or the mutex inside a monitor */
    uint64_t tried_ns;     /* when the thread tried to get it */
    uint64_t since_ns;     /* when it had it, as far as is known */
    uint64_t wait_ns;      /* in between */
    uint64_t cycles_count; /* the thread's, when it had it: another number later tells that the GVL was let go */
    uint32_t id;           /* in the ledger; 0: it has no place there */
    uint32_t depth;        /* of a monitor, which may be entered again */
    uint32_t serial;       /* the window in which it began */
    uint32_t marker;       /* where its ACQUIRE stands among the steps of that window; 0: nowhere */
    uint8_t kind;          /* enum lock_kind */
    bool waited;
    bool asleep;           /* in a condition variable: neither has it nor tries */
    bool got;              /* of a pool: it is a connection, and no longer a checkout */
};

/* The holders of the GVL while this thread waited for it, in this window: a holder is a window of a slot, or an entry. */
#define BLAMED_MAX 24
struct blamed { uint32_t slot, serial; uint64_t ns; };

/* The waits of others for this thread's current window, until it is known what to call it. */
#define PENDING_MAX 24
struct pending { uint32_t entry; uint64_t ns; };

/* The kinds that the last windows of a slot turned out to be: two to four a request, as the time between two is one to three. So a request that waited for another is told which one it was up to 64 requests of that thread later. */
#define HISTORY_MAX 256
struct past { uint32_t serial, entry; };

/* Where a thread has waited since its last request, the pool's list counting more. Puma 6 waits on the connection, and so does any without
 * its reactor; others look. */
enum rest { AT_WORK, ON_CONNECTION, IN_POOL };

struct slot {
    /* Touched in every GVL cycle, so kept together. */
    enum state state;
    bool in_request;
    bool in_checkout;             /* of a connection pool */
    enum part scope;              /* what IO is for, as a library around it says; PART_HELD (0): nobody does */
    uint64_t since_ns;            /* when the current hold or release began */
    uint64_t hold_ns;             /* of it, or of the last one */
    struct { uint64_t at_ns, gc_clock_ns, holds_count; } ready; /* at_ns 0: not asked for the GVL yet */
    uint64_t woken_ns;            /* when it asked for the current hold */
    uint64_t cycles_count;
    VALUE thread;
    struct totals total;
    uint32_t steps_count;
    uint32_t lock_holds_count;
    uint32_t open_markers_count;  /* of ACQUIRE without RELEASE: each keeps a place among the steps */
    uint32_t merge_from;          /* steps from here on may take more of their part; 0: the last one alone */
    uint32_t blamed_count;
    uint32_t serial;              /* of the current window */
    uint32_t unplaced_count;      /* what found no place in `blamed` since the last that did, */
    uint64_t unplaced_ns;         /* and in all this window */

    bool in_use;
    bool in_main_ractor;          /* this is known */
    bool introduced;              /* its name and id are known */
    bool serves_requests;
    enum rest rest;               /* since its last request */
    uint32_t entry;               /* of this thread in the ledger */
    uint32_t pending_count;
    int64_t native_thread_id;

    /* The window of the current, or the next, request. */
    uint64_t window_since_ns;
    struct totals window_total;   /* the totals when it began */
    uint64_t window_cpu_ns;       /* the thread's CPU clock then; 0: not known */
    uint64_t begin_held_ns;       /* held when the request was handed to us, where it is not, */
    uint64_t begin_cpu_ns;        /* and the thread's CPU clock then */

    /* Up to where the ledger has this thread. */
    struct totals settled_total;
    uint64_t settled_cpu_ns, settled_cycles_count;

    struct past history[HISTORY_MAX];
    struct blamed blamed[BLAMED_MAX];
    struct pending pending[PENDING_MAX];
    uint64_t steps[STEPS_MAX];
    struct lock_hold lock_holds[LOCK_HOLDS_MAX];
};

#define SLOTS_MAX 1024

/* These functions work on slots, in the order of the flow: an event (gvl_clock.c, lock_methods.c) or a call from Ruby (bindings.c)
 * changes a slot; a window of it is closed; what came of that goes into the ledger. No file calls one that stands before it. */

/* gvl_clock.c */
bool pt_gvl_clock_install(void);
bool pt_gvl_clock_is_installed(void);
void pt_gvl_clock_looks_only(bool only);
bool pt_gvl_clock_start(VALUE threads);
bool pt_attribute(VALUE receiver_class, enum part part);
uint64_t pt_cost_per_cycle_ns(void);

/* request.c */
enum origin {
    JOB,        /* its window opens now */
    FROM_LIST,  /* of Puma's todo list */
    GOES_ON     /* of the connection whose request the thread has just served, or on which it has waited */
};
bool pt_request_begin(struct slot *slot, enum origin origin);
bool pt_request_end(struct slot *slot, uint32_t entry, uint64_t queued_ns, uint64_t before_puma_ns, struct closed *closed);
void pt_request_rest(struct slot *slot, uint64_t now_ns, enum rest rest);
void pt_request_look(struct slot *slot, uint64_t now_ns);

/* threads.c */
int64_t pt_native_thread_id(VALUE thread);
void pt_threads_forget_entries(void);
void pt_thread_settle(struct slot *slot, uint64_t cpu_ns);
#define SWEEP_ANYWAY UINT64_MAX
void pt_threads_sweep(uint64_t now_ns);

/* locks.c */
bool pt_locks_watch(VALUE module);
void pt_locks_release_ends(struct slot *slot, enum part part, uint64_t gap_ns, uint64_t now_ns);
void pt_locks_window_ends(struct slot *slot);
void pt_locks_thread_ends(struct slot *slot);
void pt_locks_pool_tried(VALUE pool);
void pt_locks_pool_got(VALUE pool, uint64_t connections_count);
void pt_locks_pool_returned(VALUE pool);

/* blame.c */
extern uint64_t pt_blame_holds_count; /* so far, in this process */
void pt_blame_start(void);
void pt_blame_hold(const struct slot *slot, uint64_t end_ns);
void pt_blame_wait(struct slot *slot, uint64_t now_ns);
void pt_blame_settle(struct slot *slot, uint32_t entry);
void pt_blame_window_ends(struct slot *slot, uint32_t entry);

/* lanes.c; of those that hooks call, only while pt_lanes_recording */
extern bool pt_lanes_recording;
void pt_lanes_forget(void);
bool pt_lanes_ordered(void);
void pt_lanes_begin(void);
void pt_lanes_name(const struct slot *slot, enum kind kind, const char *name, size_t length);
void pt_lanes_released(const struct slot *slot, uint64_t now_ns);
void pt_lanes_ready(const struct slot *slot, uint64_t now_ns);
void pt_lanes_resumed(const struct slot *slot, enum part part, uint64_t ready_ns, uint64_t now_ns);
void pt_lanes_new(const struct slot *slot, uint64_t ready_ns, uint64_t now_ns);
void pt_lanes_ended(const struct slot *slot, uint64_t now_ns);
void pt_lanes_collected(const struct slot *slot, uint64_t from_ns, uint64_t now_ns);
void pt_lanes_work(const struct slot *slot, uint32_t entry, uint64_t now_ns);
static inline bool lanes_record(void) { return __builtin_expect(__atomic_load_n(&pt_lanes_recording, __ATOMIC_RELAXED), 0); }

/* gc_clock.c */
void pt_gc_clock_start(void);
uint64_t pt_gc_clock_ns(uint64_t now_ns);

/* window.c */
void pt_window_open(struct slot *slot, uint64_t now_ns);
void pt_window_hold(struct slot *slot, uint64_t now_ns);
void pt_window_step(struct slot *slot, enum part part, uint64_t ns);
void pt_close(const struct totals *now, const struct totals *then, uint64_t cpu_clock_ns, struct closed *closed);

/* slot.c */
extern __thread struct slot *pt_own_slot QUICK_THREAD_LOCAL;
extern struct slot *pt_slots;
extern size_t pt_slots_used_count; /* of pt_slots, so many have been in use since the clock was started */
extern uint64_t pt_unobserved_threads_count;
bool pt_slots_prepare(void);
const char *pt_slots_refusal(void);
void pt_slots_forget(void);
struct slot *pt_slot_of(VALUE thread);
struct slot *pt_slot_adopt(VALUE thread);
void pt_slot_dismiss(VALUE thread, struct slot *slot);
void pt_thread_is_unobserved(void);

#endif
