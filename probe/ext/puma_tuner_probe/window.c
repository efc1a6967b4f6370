/* A window of a thread's time: what it did in it, as sums and as steps. Touches the slot alone. */
#include "slot.h"
#include <string.h>

/* Contract: from RESUMED as well as from Ruby code; touches the slot only. */
void pt_window_open(struct slot *slot, uint64_t now_ns)
{
    slot->window_since_ns = now_ns;
    slot->window_cpu_ns = 0;
    slot->window_total = slot->total;
    slot->steps_count = slot->open_markers_count = slot->merge_from = 0;
    slot->blamed_count = slot->unplaced_count = 0;
    slot->unplaced_ns = 0;
    slot->serial++;
}

#define IS_MARKER(step) ((step) >> STEP_NS_BITS >= ACQUIRE)

/* In a full trace, time goes to a step of its kind among so many of the last ones. */
#define SEARCHED_STEPS 8

/* Notes a step of the trace. A full trace goes on in its last steps of the same kind, so that its sums stay true. */
void pt_window_step(struct slot *slot, enum part part, uint64_t ns)
{
    uint32_t count = slot->steps_count, i = count;
    bool full = count + slot->open_markers_count >= STEPS_MAX;
    uint32_t from = full ? count - SEARCHED_STEPS : slot->merge_from ? slot->merge_from : count - (count > 0);

    while (i-- > from) {
        if (slot->steps[i] >> STEP_NS_BITS == (uint64_t)part) {
            slot->steps[i] += ns;
            return;
        }
    }
    if (!full) {
        slot->steps[count] = ((uint64_t)part << STEP_NS_BITS) + ns;
        slot->steps_count = count + 1;
        return;
    }
    for (i = count - 1; i > 0 && IS_MARKER(slot->steps[i]); i--);
    slot->steps[i] += ns;
}

/* Brings the totals of the running thread up to now. Where a machine has slept to memory, its counter may have begun anew: then so does
 * what is under way, as time that ends before it began would be ages. Contract: own thread, GVL held, also in SUSPENDED. */
void pt_window_hold(struct slot *slot, uint64_t now_ns)
{
    uint64_t ns;

    if (now_ns < slot->since_ns) {
        slot->since_ns = now_ns;
        pt_window_open(slot, now_ns);
    }
    ns = now_ns - slot->since_ns;
    slot->total.part_ns[PART_HELD] += ns;
    slot->hold_ns += ns;
    slot->since_ns = now_ns;
    pt_window_step(slot, PART_HELD, ns);
}

/* Closes a budget: splits what a thread did between two moments into parts that sum to the wall time, by construction.
 *
 * Held time beyond the CPU clock was spent off the cores (preempted). CPU beyond held time was used with the GVL
 * released: by the kernel as it copied a file's pages, by code not known to compute, which counts as io until here, and by the
 * kernel on the way into a wait and out of it (2 to 10 µs), the wait for the GVL included; so it is taken from the parts in that order.
 * More CPU than all of that leaves a negative residual. */
void pt_close(const struct totals *now, const struct totals *then, uint64_t cpu_clock_ns, struct closed *closed)
{
    static const enum part released[] = {PARTS_WITH_EXCESS};
    _Static_assert(sizeof(released) / sizeof(*released) == PARTS - 2, "steps but HELD and COMPUTE");
    uint64_t ns[PARTS], on_core_ns, cpu_ns, gc_ns, wall_ns = 0;

    for (int i = 0; i < PARTS; i++) ns[i] = now->part_ns[i] - then->part_ns[i];
    for (int i = 0; i < PART_IDLE; i++) wall_ns += ns[i];
    on_core_ns = ns[PART_HELD] + ns[PART_COMPUTE];
    for (size_t i = 0; i < sizeof(released) / sizeof(*released) && cpu_clock_ns > on_core_ns; i++) {
        uint64_t excess_ns = cpu_clock_ns - on_core_ns;
        if (excess_ns > ns[released[i]]) excess_ns = ns[released[i]];
        ns[released[i]] -= excess_ns;
        on_core_ns += excess_ns;
        if (released[i] == PART_IDLE) wall_ns += excess_ns; /* to fall asleep and wake up is work, of the thread */
    }
    /* Timed by the wall: what was preempted is taken to have hit the collector as it hit all the rest. */
    gc_ns = now->gc_ns - then->gc_ns;
    if (cpu_clock_ns < on_core_ns) gc_ns = (uint64_t)((double)gc_ns * (double)cpu_clock_ns / (double)on_core_ns);
    if (gc_ns > cpu_clock_ns) gc_ns = cpu_clock_ns;
    cpu_ns = cpu_clock_ns - gc_ns;

    memset(closed, 0, sizeof(*closed));
    closed->sums[SUM_WALL] = wall_ns;
    closed->sums[SUM_CPU] = cpu_ns;
    closed->sums[SUM_PREEMPTED] = on_core_ns > cpu_clock_ns ? on_core_ns - cpu_clock_ns : 0;
    closed->sums[SUM_GC] = gc_ns;
    closed->sums[SUM_GC_WAITED] = now->gc_waited_ns - then->gc_waited_ns;
#define ADD(code, of, is) closed->sums[SUM_##code] += ns[PART_##code];
#define ADD_INSIDE(code, of, is) closed->sums[SUM_##code] += ns[PART_##code]; closed->sums[SUM_##of] += ns[PART_##code];
    PARTS_OF_TIME(PARTS_NOTHING, PARTS_NOTHING, ADD, ADD_INSIDE, PARTS_NOTHING)
#undef ADD
#undef ADD_INSIDE
    closed->slices_count = now->slices_count - then->slices_count;
    closed->long_holds_count = now->long_holds_count - then->long_holds_count;
}
