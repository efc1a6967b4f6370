/* The GC clock: wall time that the process spends in the garbage collector, and which thread ran it.
 *
 * GC_ENTER and GC_EXIT fire on the thread that collects, with the GVL held, up to 50,000 times a second while objects
 * are made: the callback only adds. It may not allocate, for it runs inside the collector. */
#include "slot.h"
#include <ruby/debug.h>

static VALUE tracepoint = Qnil;
static uint64_t total_ns, since_ns; /* since_ns: 0 outside the collector */

static void on_gc(VALUE tracepoint_value, void *unused)
{
    struct slot *slot = pt_own_slot;
    rb_event_flag_t event = rb_tracearg_event_flag(rb_tracearg_from_tracepoint(tracepoint_value));

    if (event == RUBY_INTERNAL_EVENT_GC_ENTER) {
        __atomic_store_n(&since_ns, clock_ns(), __ATOMIC_RELAXED);
    } else if (since_ns) {
        uint64_t from_ns = since_ns, now_ns = clock_ns(), ns = now_ns > from_ns ? now_ns - from_ns : 0;
        __atomic_store_n(&total_ns, total_ns + ns, __ATOMIC_RELAXED);
        __atomic_store_n(&since_ns, 0, __ATOMIC_RELAXED);
        if (!slot) return;
        slot->total.gc_ns += ns;
        if (lanes_record()) pt_lanes_collected(slot, from_ns, now_ns);
    }
}

/* GC time up to this instant. Contract: from any hook, of any thread; READY of another thread may read while a
 * collection ends, and then be off by its length once. */
uint64_t pt_gc_clock_ns(uint64_t now_ns)
{
    uint64_t since = __atomic_load_n(&since_ns, __ATOMIC_RELAXED);
    uint64_t total = __atomic_load_n(&total_ns, __ATOMIC_RELAXED);
    return total + (since && now_ns > since ? now_ns - since : 0);
}

/* Contract: GVL held, ordinary Ruby code, once or more. Tracepoints survive a fork. */
void pt_gc_clock_start(void)
{
    __atomic_store_n(&since_ns, 0, __ATOMIC_RELAXED); /* threads run already, whose READY reads it */
    if (!NIL_P(tracepoint)) return;
    tracepoint = rb_tracepoint_new(0, RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_EXIT, on_gc, NULL);
    rb_gc_register_mark_object(tracepoint);
    rb_tracepoint_enable(tracepoint);
}
