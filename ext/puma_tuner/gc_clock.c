/* The GC clock: wall time that a thread spends running the garbage collector, for everybody.
 *
 * GC_ENTER and GC_EXIT fire on the thread that collects, with the GVL held, up to 50,000 times a second while objects
 * are made: the callback only adds. It may not allocate, for it runs inside the collector. */
#include "slot.h"
#include <ruby/debug.h>

static VALUE tracepoint = Qnil;

static void on_gc(VALUE tracepoint_value, void *unused)
{
    struct slot *slot = pt_own_slot;
    rb_event_flag_t event = rb_tracearg_event_flag(rb_tracearg_from_tracepoint(tracepoint_value));

    if (!slot) return;
    if (event == RUBY_INTERNAL_EVENT_GC_ENTER) {
        slot->gc_since_ns = monotonic_ns();
    } else if (slot->gc_since_ns) {
        slot->total.gc_ns += monotonic_ns() - slot->gc_since_ns;
        slot->gc_since_ns = 0;
    }
}

/* Contract: GVL held, ordinary Ruby code, once or more. Tracepoints survive a fork. */
void pt_gc_clock_start(void)
{
    if (!NIL_P(tracepoint)) return;
    tracepoint = rb_tracepoint_new(0, RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_EXIT, on_gc, NULL);
    rb_gc_register_mark_object(tracepoint);
    rb_tracepoint_enable(tracepoint);
}
