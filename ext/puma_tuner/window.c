/* A request's window on its thread: it opens when the thread is woken for the request (before Puma hands it to anyone,
 * and before the wait for the GVL that follows), or, when the thread had no time to rest, at the end of the request
 * before. It closes when the response is written. */
#include "slot.h"

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* a system call: at the two ends of a request, never in a hook */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Contract: from READY as well as from Ruby code; touches the slot only. */
void pt_window_open(struct slot *slot, uint64_t now_ns)
{
    slot->window_since_ns = now_ns;
    slot->window_total = slot->total;
    slot->steps_count = 0;
}

/* Notes a step of the trace. A full trace goes on in its last steps of the same kind, so that its sums stay true. */
void pt_window_step(struct slot *slot, enum part part, uint64_t ns)
{
    uint32_t count = slot->steps_count;

    if (count > 0 && slot->steps[count - 1] >> STEP_NS_BITS == (uint64_t)part) {
        slot->steps[count - 1] += ns;
    } else if (count < STEPS_MAX) {
        slot->steps[count] = ((uint64_t)part << STEP_NS_BITS) + ns;
        slot->steps_count = count + 1;
    } else {
        uint32_t i = count;
        while (i-- > count - 8) {
            if (slot->steps[i] >> STEP_NS_BITS == (uint64_t)part) {
                slot->steps[i] += ns;
                return;
            }
        }
        slot->steps[count - 1] += ns;
    }
}

/* Brings the totals of a running thread up to now, without a change of state. Contract: own thread, GVL held. */
static void settle(struct slot *slot, uint64_t now_ns)
{
    uint64_t ns;

    if (slot->state != RUNNING) return;
    ns = spend(slot, HELD, now_ns);
    slot->burst_ns += ns;
    pt_window_step(slot, HELD, ns);
}

/* Contract: own thread, GVL held. False when a request is under way already: then the outer call closes it. */
bool pt_request_begin(struct slot *slot)
{
    if (slot->in_request) return false;
    settle(slot, monotonic_ns());
    slot->in_request = true;
    slot->begin_held_ns = slot->total.part_ns[HELD] - slot->window_total.part_ns[HELD];
    slot->begin_cpu_ns = thread_cpu_ns();
    return true;
}

/* [name, ns, …], the names as Ruby symbols. */
static VALUE trace_of(const struct slot *slot)
{
    static const char *const names[PARTS] = {"cpu", "gvl_wait", "io", "lock", "sleep", "idle"};
    VALUE trace = rb_ary_new_capa(slot->steps_count * 2);

    for (uint32_t i = 0; i < slot->steps_count; i++) {
        rb_ary_push(trace, ID2SYM(rb_intern(names[slot->steps[i] >> STEP_NS_BITS])));
        rb_ary_push(trace, ULL2NUM(slot->steps[i] & (((uint64_t)1 << STEP_NS_BITS) - 1)));
    }
    return trace;
}

/* Closes the window and stores its budget into `numbers`, in place:
 * [window_since, wall, cpu, preempted, gvl_wait, gc, io, lock, sleep, cpu_clock, slices]. The parts sum to the wall time.
 *
 * Held time beyond the CPU clock was spent off the cores (preempted). CPU beyond held time was computed with the GVL
 * released (bcrypt, zlib), and is CPU, not IO.
 *
 * Contract: own thread, GVL held, ordinary Ruby code (the trace, when asked for, allocates). */
VALUE pt_request_end(struct slot *slot, VALUE numbers, bool with_trace)
{
    uint64_t cpu_clock_ns, now_ns, held_ns, gc_ns, released_cpu_ns = 0, part_ns[PARTS];
    VALUE trace = Qnil;

    if (!slot->in_request) return Qfalse;
    cpu_clock_ns = thread_cpu_ns() - slot->begin_cpu_ns + slot->begin_held_ns;
    now_ns = monotonic_ns();
    settle(slot, now_ns);
    for (int i = 0; i < PARTS; i++) part_ns[i] = slot->total.part_ns[i] - slot->window_total.part_ns[i];
    held_ns = part_ns[HELD];
    gc_ns = slot->total.gc_ns - slot->window_total.gc_ns;

    if (cpu_clock_ns > held_ns) {
        released_cpu_ns = cpu_clock_ns - held_ns;
        if (released_cpu_ns > part_ns[IO_WAIT]) released_cpu_ns = part_ns[IO_WAIT];
        part_ns[IO_WAIT] -= released_cpu_ns;
        cpu_clock_ns = held_ns + released_cpu_ns;
    }
    if (gc_ns > cpu_clock_ns) gc_ns = cpu_clock_ns;

    const uint64_t values[] = {
        slot->window_since_ns, now_ns - slot->window_since_ns,
        cpu_clock_ns - gc_ns, held_ns + released_cpu_ns - cpu_clock_ns, part_ns[GVL_WAIT], gc_ns,
        part_ns[IO_WAIT], part_ns[LOCK_WAIT], part_ns[SLEEP],
        cpu_clock_ns, slot->total.slices_count - slot->window_total.slices_count,
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) rb_ary_store(numbers, (long)i, ULL2NUM(values[i]));

    if (with_trace) trace = trace_of(slot);
    slot->in_request = false;
    pt_window_open(slot, now_ns);
    return with_trace ? trace : Qtrue;
}
