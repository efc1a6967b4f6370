/* The cheapest release and re-acquisition of the GVL there is: around a function that does nothing. */
#define _GNU_SOURCE
#include <ruby.h>
#include <ruby/thread.h>
#include <sched.h>

static void *nothing(void *unused) { return NULL; }

/* Without an unblocking function: nothing in there could be interrupted. */
static VALUE cycle_run(VALUE self, VALUE count)
{
    for (long left = NUM2LONG(count); left > 0; left--) rb_thread_call_without_gvl(nothing, NULL, NULL, NULL);
    return Qnil;
}

static cpu_set_t allowed;

/* Keeps this process, and all that it starts, on the core where it is now; see overhead.rb. */
static VALUE cycle_stay(VALUE self)
{
    cpu_set_t one;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return Qfalse;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    return sched_setaffinity(0, sizeof(one), &one) == 0 ? Qtrue : Qfalse;
}

/* Gives it, and all that it starts from here on, the cores that it had before it stayed. Contract: it stays. */
static VALUE cycle_roam(VALUE self) { return sched_setaffinity(0, sizeof(allowed), &allowed) == 0 ? Qtrue : Qfalse; }

static void on_event(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *unused) {}

/* For the events that the probe listens to: what Ruby itself adds for being watched. */
static VALUE cycle_hook(VALUE self)
{
    rb_internal_thread_add_event_hook(on_event,
        RUBY_INTERNAL_THREAD_EVENT_STARTED | RUBY_INTERNAL_THREAD_EVENT_READY | RUBY_INTERNAL_THREAD_EVENT_RESUMED |
        RUBY_INTERNAL_THREAD_EVENT_SUSPENDED | RUBY_INTERNAL_THREAD_EVENT_EXITED, NULL);
    return Qnil;
}

void Init_overhead_cycle(void)
{
    VALUE module = rb_define_module("OverheadCycle");
    rb_define_module_function(module, "run", cycle_run, 1);
    rb_define_module_function(module, "stay", cycle_stay, 0);
    rb_define_module_function(module, "roam", cycle_roam, 0);
    rb_define_module_function(module, "hook", cycle_hook, 0);
}
