/* What Ruby sees: PumaTuner::Measure::GvlClock, whose meaning is documented in lib/puma_tuner/measure/gvl_clock.rb. */
#include "slot.h"

static VALUE clock_start(VALUE self)
{
    if (!pt_gvl_clock_start(rb_funcall(rb_cThread, rb_intern("list"), 0))) return Qfalse;
    pt_gc_clock_start();
    return Qtrue;
}

static VALUE clock_request_begin(VALUE self)
{
    return pt_own_slot && pt_request_begin(pt_own_slot) ? Qtrue : Qfalse;
}

static VALUE clock_request_end(VALUE self, VALUE numbers, VALUE with_trace)
{
    Check_Type(numbers, T_ARRAY);
    return pt_own_slot ? pt_request_end(pt_own_slot, numbers, RTEST(with_trace)) : Qfalse;
}

/* [cpu, gvl_wait, io, lock, sleep, idle, gc, slices]; "cpu" is time with the GVL. The current state counts up to now. */
static VALUE clock_totals(VALUE self, VALUE thread)
{
    struct slot *slot = pt_slot_of(thread);
    struct totals total;
    VALUE numbers;

    if (!slot) return Qnil;
    total = slot->total;
    if (slot->state != UNKNOWN) {
        uint64_t now_ns = monotonic_ns();
        uint64_t ns = now_ns > slot->since_ns ? now_ns - slot->since_ns : 0;
        enum part part = slot->state == RUNNING ? HELD : slot->state == READY ? GVL_WAIT : slot->wait_part;
        if (slot->state == RELEASED && slot->awaits_work && !slot->in_request) part = IDLE;
        total.part_ns[part] += ns;
    }
    numbers = rb_ary_new_capa(PARTS + 2);
    for (int i = 0; i < PARTS; i++) rb_ary_push(numbers, ULL2NUM(total.part_ns[i]));
    rb_ary_push(numbers, ULL2NUM(total.gc_ns));
    rb_ary_push(numbers, ULL2NUM(total.slices_count));
    return numbers;
}

static VALUE clock_events_count(VALUE self)
{
    return ULL2NUM(pt_events_count());
}

static VALUE clock_unobserved_threads_count(VALUE self)
{
    return ULL2NUM(pt_unobserved_threads_count());
}

static VALUE clock_cost_per_event_ns(VALUE self, VALUE rounds)
{
    return ULL2NUM(pt_cost_per_event_ns(NUM2ULL(rounds)));
}

RUBY_FUNC_EXPORTED void Init_puma_tuner(void)
{
    VALUE tuner = rb_define_module("PumaTuner");
    VALUE measure = rb_define_module_under(tuner, "Measure");
    VALUE gvl_clock = rb_define_module_under(measure, "GvlClock");

    rb_define_singleton_method(gvl_clock, "start", clock_start, 0);
    rb_define_singleton_method(gvl_clock, "request_begin", clock_request_begin, 0);
    rb_define_singleton_method(gvl_clock, "request_end", clock_request_end, 2);
    rb_define_singleton_method(gvl_clock, "totals", clock_totals, 1);
    rb_define_singleton_method(gvl_clock, "events_count", clock_events_count, 0);
    rb_define_singleton_method(gvl_clock, "unobserved_threads_count", clock_unobserved_threads_count, 0);
    rb_define_singleton_method(gvl_clock, "cost_per_event_ns", clock_cost_per_event_ns, 1);
}
