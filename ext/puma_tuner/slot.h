/* One slot per Ruby thread: what the thread is doing now, and how long it has done each thing so far.
 *
 * Who writes: the thread itself, except that READY may come from the thread that wakes it. Both happen with the
 * scheduler's lock held, one after the other, so plain fields do. Readers (totals of another thread, with the GVL held)
 * may see a READY half written: a number a few microseconds off, never a crash. */
#ifndef PUMA_TUNER_SLOT_H
#define PUMA_TUNER_SLOT_H

#include <ruby.h>
#include <ruby/thread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Where wall time goes. HELD: with the GVL. IDLE: waiting for a request. The names that Ruby sees are in bindings.c. */
enum part { HELD, GVL_WAIT, IO_WAIT, LOCK_WAIT, SLEEP, IDLE, PARTS };

enum state {
    UNKNOWN,  /* not seen yet: the thread is older than the hook */
    RUNNING,  /* has the GVL */
    RELEASED, /* gave it up */
    READY     /* wants it */
};

struct totals {
    uint64_t part_ns[PARTS];
    uint64_t gc_ns;        /* of HELD: spent in the garbage collector */
    uint64_t slices_count; /* times the GVL was taken away at the end of a time slice */
};

/* A step of a trace: kind in the top byte, nanoseconds below. */
#define STEPS_MAX 512
#define STEP_NS_BITS 56

struct slot {
    struct totals total;
    enum state state;
    enum part wait_part;      /* what the current release is for */
    bool awaits_work;         /* the current release may be a pool thread's wait for the next request */
    bool slice_ended;         /* the current wait for the GVL began with the end of a time slice */
    bool in_use;
    bool in_request;
    uint64_t since_ns;        /* when the current state began */
    uint64_t burst_ns;        /* length of the last uninterrupted hold */
    uint64_t gc_since_ns;
    uint64_t events_count;

    /* The window of the current, or the next, request. */
    uint64_t window_since_ns;
    struct totals window_total;   /* the totals when it began */
    uint64_t begin_held_ns;       /* HELD when the request was handed to us */
    uint64_t begin_cpu_ns;        /* the thread's CPU clock then */
    uint32_t steps_count;
    uint64_t steps[STEPS_MAX];
};

/* vDSO: no system call. */
static inline uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Adds the time since the last change to the part it belongs to. */
static inline uint64_t spend(struct slot *slot, enum part part, uint64_t now_ns)
{
    uint64_t ns = now_ns > slot->since_ns ? now_ns - slot->since_ns : 0;
    slot->total.part_ns[part] += ns;
    slot->since_ns = now_ns;
    return ns;
}

/* gvl_clock.c */
extern __thread struct slot *pt_own_slot __attribute__((tls_model("initial-exec")));
bool pt_gvl_clock_start(VALUE threads);
struct slot *pt_slot_of(VALUE thread);
uint64_t pt_events_count(void);
uint64_t pt_unobserved_threads_count(void);
uint64_t pt_cost_per_event_ns(uint64_t rounds);

/* gc_clock.c */
void pt_gc_clock_start(void);

/* window.c */
void pt_window_open(struct slot *slot, uint64_t now_ns);
void pt_window_step(struct slot *slot, enum part part, uint64_t ns);
bool pt_request_begin(struct slot *slot);
VALUE pt_request_end(struct slot *slot, VALUE numbers, bool with_trace);

#endif
