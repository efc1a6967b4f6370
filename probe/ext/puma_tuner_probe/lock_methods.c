/* Mutex and Monitor, watched by modules that are prepended to them. Each method does what it did, by super, and the receiver of the
 * running method stays the lock. Whatever ends a call (an exception, throw, Thread#kill) is told to locks.c. */
#include "locks.h"
#include <ruby/version.h>

struct call { VALUE self; int argc; const VALUE *argv; bool done; };

static VALUE call_super(VALUE argument)
{
    struct call *call = (struct call *)argument;
    VALUE result = rb_call_super(call->argc, call->argv);
    call->done = true;
    return result;
}

static VALUE after_lock(VALUE argument)
{
    const struct call *call = (const struct call *)argument;

    if (call->done) pt_lock_got(call->self);
    else pt_lock_given_back(call->self, false);
    return Qnil;
}

static VALUE lock(int argc, const VALUE *argv, VALUE self, enum lock_kind kind)
{
    struct call call = {self, argc, argv, false};
    if (!pt_lock_tried(self, kind)) return rb_call_super(argc, argv);
    return rb_ensure(call_super, (VALUE)&call, after_lock, (VALUE)&call);
}

static VALUE try_lock(int argc, const VALUE *argv, VALUE self, enum lock_kind kind)
{
    VALUE result = rb_call_super(argc, argv); /* which waits for nothing */
    if (RTEST(result)) pt_lock_tried(self, kind);
    return result;
}

static VALUE unlock(int argc, const VALUE *argv, VALUE self)
{
    VALUE result = rb_call_super(argc, argv);
    pt_lock_given_back(self, true);
    return result;
}

static VALUE after_synchronize(VALUE argument)
{
    pt_lock_given_back(((const struct call *)argument)->self, true);
    return Qnil;
}

static VALUE synchronize(int argc, const VALUE *argv, VALUE self, enum lock_kind kind)
{
    struct call call = {self, argc, argv, false};
    if (!pt_lock_tried(self, kind)) return rb_call_super(argc, argv);
    return rb_ensure(call_super, (VALUE)&call, after_synchronize, (VALUE)&call);
}

static VALUE after_sleep(VALUE argument)
{
    pt_lock_wakes(((const struct call *)argument)->self);
    return Qnil;
}

/* Mutex#sleep, by which condition variables wait, and Monitor#wait_for_cond: the lock is given back, and taken again. */
static VALUE sleep_unlocked(int argc, const VALUE *argv, VALUE self)
{
    struct call call = {self, argc, argv, false};
    if (!pt_lock_sleeps(self)) return rb_call_super(argc, argv);
    return rb_ensure(call_super, (VALUE)&call, after_sleep, (VALUE)&call);
}

#if RUBY_API_VERSION_MAJOR >= 4
/* From 4.0 on ConditionVariable#wait gives a Mutex back, and takes it again, without calling its methods. */
static VALUE wait_unlocked(int argc, VALUE *argv, VALUE self)
{
    struct call call = {argc ? argv[0] : Qnil, argc, argv, false};
    if (!pt_lock_sleeps(call.self)) return rb_call_super(argc, argv);
    return rb_ensure(call_super, (VALUE)&call, after_sleep, (VALUE)&call);
}
#endif

static VALUE mutex_lock(int argc, VALUE *argv, VALUE self) { return lock(argc, argv, self, LOCK_MUTEX); }
static VALUE mutex_try_lock(int argc, VALUE *argv, VALUE self) { return try_lock(argc, argv, self, LOCK_MUTEX); }
static VALUE mutex_synchronize(int argc, VALUE *argv, VALUE self) { return synchronize(argc, argv, self, LOCK_MUTEX); }
static VALUE monitor_enter(int argc, VALUE *argv, VALUE self) { return lock(argc, argv, self, LOCK_MONITOR); }
static VALUE monitor_try_enter(int argc, VALUE *argv, VALUE self) { return try_lock(argc, argv, self, LOCK_MONITOR); }
static VALUE monitor_synchronize(int argc, VALUE *argv, VALUE self) { return synchronize(argc, argv, self, LOCK_MONITOR); }
static VALUE lock_unlock(int argc, VALUE *argv, VALUE self) { return unlock(argc, argv, self); }
static VALUE lock_sleep(int argc, VALUE *argv, VALUE self) { return sleep_unlocked(argc, argv, self); }

static void mark(void *unused)
{
    if (pt_ledger_locks) pt_lock_holds_mark();
    pt_lock_table_mark();
}

static const rb_data_type_t marker_type = {.wrap_struct_name = "puma_tuner/locks", .function = {.dmark = mark}};

static void prepend(VALUE owner, VALUE module, bool is_monitor)
{
    static const struct { const char *name; VALUE (*function)(int, VALUE *, VALUE); bool of_monitor; } methods[] = {
        {"lock", mutex_lock, false}, {"try_lock", mutex_try_lock, false}, {"unlock", lock_unlock, false},
        {"synchronize", mutex_synchronize, false}, {"sleep", lock_sleep, false},
        {"enter", monitor_enter, true}, {"mon_enter", monitor_enter, true}, {"try_enter", monitor_try_enter, true},
        {"mon_try_enter", monitor_try_enter, true}, {"try_mon_enter", monitor_try_enter, true}, {"exit", lock_unlock, true},
        {"mon_exit", lock_unlock, true}, {"synchronize", monitor_synchronize, true}, {"mon_synchronize", monitor_synchronize, true},
        {"wait_for_cond", lock_sleep, true},
    };

    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        if (methods[i].of_monitor == is_monitor) rb_define_method(module, methods[i].name, methods[i].function, -1);
    }
    rb_prepend_module(owner, module);
}

/* The fastest of several rounds of locking and unlocking, so that a neighbour's noise is left out. Takes about 1 ms. */
static uint64_t fastest_pair_ns(void)
{
    enum { ROUNDS = 20, PAIRS = 200 };
    ID id_lock = rb_intern("lock"), id_unlock = rb_intern("unlock");
    VALUE mutex = rb_mutex_new();
    uint64_t fastest_ns = UINT64_MAX;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t began_ns = clock_ns(), ns;
        for (int i = 0; i < PAIRS; i++) {
            rb_funcall(mutex, id_lock, 0);
            rb_funcall(mutex, id_unlock, 0);
        }
        ns = (clock_ns() - began_ns) / PAIRS;
        if (ns < fastest_ns) fastest_ns = ns;
    }
    return fastest_ns;
}

static void prepend_once(VALUE module)
{
    static bool done;

    if (done) return;
    done = true;
    rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &marker_type, pt_locks));
    pt_lock_table_prepare(module);
    prepend(rb_const_get(rb_cThread, rb_intern("Mutex")), rb_define_module_under(module, "WatchedMutex"), false);
#if RUBY_API_VERSION_MAJOR >= 4
    {
        VALUE condition = rb_define_module_under(module, "WatchedConditionVariable");
        rb_define_method(condition, "wait", wait_unlocked, -1);
        rb_prepend_module(rb_const_get(rb_cThread, rb_intern("ConditionVariable")), condition);
    }
#endif
    if (rb_const_defined(rb_cObject, rb_intern("Monitor"))) {
        prepend(rb_const_get(rb_cObject, rb_intern("Monitor")), rb_define_module_under(module, "WatchedMonitor"), true);
    }
}

/* Watches the locks of this process from here on; what is held already is not known. Once for each ledger, also in a forked child.
 * False when the ledger has no room for them. */
bool pt_locks_watch(VALUE module)
{
    static uint64_t unwatched_ns, watched_ns; /* of a process and its children */

    if (!unwatched_ns) unwatched_ns = fastest_pair_ns();
    prepend_once(module);
    pt_lock_table_start();
    pt_lock_holds_start();
    if (!pt_ledger_make_locks()) return false;
    if (!watched_ns) watched_ns = fastest_pair_ns();
    pt_ledger_locks->lock_pairs_count = 0;
    pt_ledger_locks->cost_per_lock_pair_ns = watched_ns > unwatched_ns ? watched_ns - unwatched_ns : 0;
    return true;
}
