/* Keeps every GVL event with the native thread that it came on: see events.rb. */
#include <ruby/ruby.h>
#include <ruby/thread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_MAX = 1 << 18 };

static struct { VALUE thread; unsigned kind; int native; uint64_t ns; } events[EVENTS_MAX];
static atomic_size_t events_count;
static rb_internal_thread_event_hook_t *hook;

static void on_event(rb_event_flag_t kind, const rb_internal_thread_event_data_t *data, void *unused)
{
    struct timespec now;
    size_t place = atomic_fetch_add(&events_count, 1);

    if (place >= EVENTS_MAX) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    events[place].thread = data->thread;
    events[place].kind = kind;
    events[place].native = (int)syscall(SYS_gettid);
    events[place].ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static VALUE start(VALUE self)
{
    hook = rb_internal_thread_add_event_hook(on_event, RUBY_INTERNAL_THREAD_EVENT_READY | RUBY_INTERNAL_THREAD_EVENT_RESUMED | RUBY_INTERNAL_THREAD_EVENT_SUSPENDED, NULL);
    return Qnil;
}

/* [[thread, event, native thread, nanoseconds], …] */
static VALUE stop(VALUE self)
{
    VALUE all = rb_ary_new();
    size_t count = events_count < EVENTS_MAX ? events_count : EVENTS_MAX;

    rb_internal_thread_remove_event_hook(hook);
    for (size_t i = 0; i < count; i++) {
        const char *name = events[i].kind == RUBY_INTERNAL_THREAD_EVENT_READY ? "ready" : events[i].kind == RUBY_INTERNAL_THREAD_EVENT_RESUMED ? "resumed" : "suspended";
        rb_ary_push(all, rb_ary_new_from_args(4, ULL2NUM(events[i].thread), rb_str_new_cstr(name), INT2NUM(events[i].native), ULL2NUM(events[i].ns)));
    }
    return all;
}

void Init_mn_events(void)
{
    VALUE events_module = rb_define_module("MNEvents");
    rb_define_singleton_method(events_module, "start", start, 0);
    rb_define_singleton_method(events_module, "stop", stop, 0);
}
