/* Watches locks: Mutex and Monitor by modules prepended to them, and pools of connections by calls from measure/off_gvl.rb.
 *
 * A thread's slot lists what the thread holds or tries to get. Taking a lock and giving it back, with the GVL kept all the while and
 * nobody waiting, leaves nothing but a count: no step, no place in the table. So the trace's markers are made late, when a release of
 * the GVL ends (RESUMED) or the lock is given back: the clock was read where the thread tried, and the step of CPU time that has
 * passed since is divided there. The list is always in the order in which the thread tried.
 *
 * A lock gets a place in the table, and with it an id, at its first hold that spans a release of the GVL or that somebody waited for;
 * a pool at its first connection. Its place is found by its address. So that this stays true, a lock in the table has a finalizer:
 * the collector does not move an object that has one, and does not use its address again before the finalizer has run. (A frozen
 * object can't have one, and is kept.) Locks in the slots' lists are marked, which pins them.
 *
 * Contract of all but pt_locks_release_ends and pt_locks_thread_ends: own thread, GVL held, ordinary Ruby code. */
#include "ledger.h"
#include <ruby/debug.h>
#include <stdio.h>
#include <string.h>

#define PLACES 512 /* of LOCKS_MAX addresses: at most half full */
#define FRAMES_MAX 100
#define SET_BITS 64

struct lock {
    VALUE object;     /* 0: it is gone, and the next one taken at the same place may go on under its id */
    bool kept;        /* by us: it has no finalizer */
    uint64_t number;  /* of the registration, for a finalizer to know whether it is still meant */
    uint64_t users_count; /* threads that have it or try to get it */
    uint64_t threads[SLOTS_MAX / SET_BITS]; /* slots that have had it */
};

static struct lock locks[LOCKS_MAX];
static uint16_t ids[PLACES]; /* by address, the next free place after it where it is taken */
static uint32_t gone_count;
static uint64_t registrations_count, cost_per_pair_ns;
static VALUE finalizer_class; /* Qfalse: nothing is prepended yet */

static uint32_t place_of(VALUE object) { return (uint32_t)(((uint64_t)object >> 3) * 0x9e3779b97f4a7c15u >> 55); }

static uint32_t id_of(VALUE object)
{
    for (uint32_t at = place_of(object); ids[at]; at = (at + 1) % PLACES) {
        if (locks[ids[at] - 1].object == object) return ids[at];
    }
    return 0;
}

static void index_all(void)
{
    memset(ids, 0, sizeof(ids));
    for (uint16_t id = 1; id <= LOCKS_MAX; id++) {
        uint32_t at = place_of(locks[id - 1].object);
        if (!locks[id - 1].object) continue;
        while (ids[at]) at = (at + 1) % PLACES;
        ids[at] = id;
    }
}

/* --- markers in the trace */

static bool marked(const struct slot *slot, const struct lock_hold *hold) { return hold->marker && hold->serial == slot->serial; }

static void put(struct slot *slot, enum marker marker, uint32_t id)
{
    slot->steps[slot->steps_count++] = ((uint64_t)marker << STEP_NS_BITS) + id;
}

/* Puts ACQUIRE where the thread tried: `ago_ns` before the end of the last step, which is its CPU time until now. */
static void put_acquire(struct slot *slot, struct lock_hold *hold, uint64_t ago_ns)
{
    uint64_t *last = &slot->steps[slot->steps_count - 1];
    uint64_t held_ns = *last >> STEP_NS_BITS == HELD ? *last : 0;

    if (ago_ns > held_ns) ago_ns = held_ns;
    *last -= ago_ns;
    hold->marker = slot->steps_count;
    slot->open_markers_count++;
    put(slot, ACQUIRE, hold->id);
    if (ago_ns) slot->steps[slot->steps_count++] = ((uint64_t)HELD << STEP_NS_BITS) + ago_ns;
}

/* Marks what was taken in this window and has no marker yet, up to `end`. What finds no room in a full trace is not marked later.
 * `waits_for`: a wait for it begins where the last step ends. Contract: also in RESUMED. */
static void mark(struct slot *slot, const struct lock_hold *end, const struct lock_hold *waits_for, uint64_t now_ns)
{
    for (struct lock_hold *hold = slot->lock_holds; hold < end; hold++) {
        if (hold->marker || hold->asleep || hold->serial != slot->serial || slot->steps_count == 0) continue;
        if (slot->steps_count + slot->open_markers_count + 3 > STEPS_MAX) hold->serial--;
        else put_acquire(slot, hold, hold == waits_for || now_ns < hold->tried_ns ? 0 : now_ns - hold->tried_ns);
    }
}

/* --- the table */

/* Whether a frame's file is of a library through which locks are taken, rather than of whoever takes them. */
static bool is_of_locking(const char *path, enum lock_kind kind)
{
    static const char *const libraries[] = {"/lib/puma_tuner/", "/monitor.rb", "/active_support/concurrency/", "/concurrent-ruby/",
        "/connection_pool", "/active_record/", "/sequel/"};
    size_t count = sizeof(libraries) / sizeof(*libraries) - (kind == LOCK_POOL ? 0 : 3); /* the last ones are of pools */

    if (path[0] == '<') return true; /* <internal:…>: Ruby's own */
    for (size_t i = 0; i < count; i++) {
        if (strstr(path, libraries[i])) return true;
    }
    return false;
}

/* "file.rb:12 in Class#method": the first frame of whoever takes the lock; of the library, where there is none. */
static void describe_place(enum lock_kind kind, char *place)
{
    VALUE frames[FRAMES_MAX], path = Qnil, name;
    int lines[FRAMES_MAX], count = rb_profile_frames(0, FRAMES_MAX, frames, lines), chosen = -1;
    const char *file;

    for (int i = 0; i < count; i++) {
        bool of_locking;
        path = rb_profile_frame_path(frames[i]);
        if (NIL_P(path)) continue; /* C code */
        of_locking = is_of_locking(StringValueCStr(path), kind);
        if (chosen < 0 || !of_locking) chosen = i;
        if (!of_locking) break;
    }
    if (chosen < 0) return;
    path = rb_profile_frame_path(frames[chosen]);
    name = rb_profile_frame_qualified_method_name(frames[chosen]);
    /* A nameless class is told by its address, which is another one in each process. */
    if (NIL_P(name) || strstr(StringValueCStr(name), "0x")) name = rb_profile_frame_label(frames[chosen]);
    file = strrchr(StringValueCStr(path), '/');
    snprintf(place, PLACE_BYTES, "%s:%d in %s", file ? file + 1 : StringValueCStr(path), lines[chosen], NIL_P(name) ? "?" : StringValueCStr(name));
    RB_GC_GUARD(path);
    RB_GC_GUARD(name);
}

static void describe_class(VALUE object, char *class_name)
{
    VALUE klass = rb_obj_class(object), name;

    while (NIL_P(name = rb_mod_name(klass))) klass = rb_class_superclass(klass);
    snprintf(class_name, CLASS_BYTES, "%s", StringValueCStr(name));
}

/* A new place, or that of a lock of the same kind that was taken here and is gone; 0: there is none. */
static uint32_t free_id(enum lock_kind kind, const char *class_name, const char *place)
{
    for (uint32_t i = 0; gone_count && i < pt_ledger_locks->locks_count; i++) {
        const struct ledger_lock *entry = &pt_ledger_locks->locks[i];
        if (!locks[i].object && entry->kind == kind && !strcmp(entry->class_name, class_name) && !strcmp(entry->place, place)) {
            gone_count--;
            return i + 1;
        }
    }
    return pt_ledger_locks->locks_count < LOCKS_MAX ? (uint32_t)pt_ledger_locks->locks_count + 1 : 0;
}

/* A lock's finalizer: an object that is the number of its registration. A proc would keep the lock itself, as the self of its frame. */
static const rb_data_type_t finalizer_type = {.wrap_struct_name = "puma_tuner/finalizer", .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE is_gone(VALUE self, VALUE object_id)
{
    uint64_t number = (uint64_t)(uintptr_t)rb_check_typeddata(self, &finalizer_type);

    for (int i = 0; i < LOCKS_MAX; i++) {
        if (!locks[i].object || locks[i].number != number) continue;
        locks[i].object = 0;
        gone_count++;
        index_all();
    }
    return Qnil;
}

static void add_finalizer(VALUE object, uint64_t number)
{
    rb_define_finalizer(object, TypedData_Wrap_Struct(finalizer_class, &finalizer_type, (void *)(uintptr_t)number));
}

/* Those who have it, or try, while it gets its id: what they mark is given the id. Other threads than this one stand still. */
static void tell_holders(VALUE object, uint32_t id)
{
    for (size_t i = 0; i < pt_slots_used_count; i++) {
        struct slot *slot = &pt_slots[i];
        for (uint32_t n = 0; slot->in_use && n < slot->lock_holds_count; n++) {
            struct lock_hold *hold = &slot->lock_holds[n];
            if (hold->lock != object) continue;
            hold->id = id;
            if (!hold->asleep) locks[id - 1].users_count++;
            if (marked(slot, hold)) slot->steps[hold->marker] += id;
        }
    }
}

/* Gives the lock a place in the table, if there is any. */
static void enroll(VALUE object, enum lock_kind kind, uint64_t size)
{
    char class_name[CLASS_BYTES] = "", place[PLACE_BYTES] = "";
    struct lock *lock;
    struct ledger_lock *entry;
    uint64_t number = registrations_count + 1;
    uint32_t id = 0;

    if (pt_ledger_locks->locks_count < LOCKS_MAX || gone_count) {
        describe_class(object, class_name);
        describe_place(kind, place);
        id = free_id(kind, class_name, place);
    }
    if (!id) {
        pt_ledger_locks->unplaced_count++;
        return;
    }
    if (!RB_OBJ_FROZEN(object)) add_finalizer(object, number);
    registrations_count = number;
    lock = &locks[id - 1];
    lock->kept = RB_OBJ_FROZEN(object);
    lock->number = number;
    lock->users_count = 0;
    lock->object = object;
    index_all();
    entry = &pt_ledger_locks->locks[id - 1];
    entry->kind = kind;
    entry->size = size;
    if (id > pt_ledger_locks->locks_count) {
        memcpy(entry->class_name, class_name, CLASS_BYTES);
        memcpy(entry->place, place, PLACE_BYTES);
        __atomic_store_n(&pt_ledger_locks->locks_count, id, __ATOMIC_RELEASE);
    }
    tell_holders(object, id);
}

/* --- what a thread holds */

/* The last one first: of a pool, a thread may have several connections. */
static struct lock_hold *find(struct slot *slot, VALUE lock)
{
    for (uint32_t i = slot->lock_holds_count; i-- > 0;) {
        if (slot->lock_holds[i].lock == lock) return &slot->lock_holds[i];
    }
    return NULL;
}

/* Contract: also in RESUMED, when the thread has been woken from a condition variable. */
static void begin_to_try(struct slot *slot, struct lock_hold *hold, uint64_t now_ns)
{
    hold->tried_ns = hold->since_ns = now_ns;
    hold->cycles_count = slot->cycles_count;
    hold->serial = slot->serial;
    hold->asleep = false;
    if (hold->id) locks[hold->id - 1].users_count++;
}

static void count(struct slot *slot, const struct lock_hold *hold, bool held, uint64_t now_ns)
{
    struct ledger_lock *entry = &pt_ledger_locks->locks[hold->id - 1];
    size_t index = (size_t)(slot - pt_slots);
    uint64_t *set = &locks[hold->id - 1].threads[index / SET_BITS], bit = (uint64_t)1 << index % SET_BITS;

    if (hold->waited) {
        entry->waits_count++;
        entry->wait_ns += hold->wait_ns;
    }
    if (!held) return;
    entry->holds_count++;
    entry->hold_ns += now_ns > hold->since_ns ? now_ns - hold->since_ns : 0;
    if (!(*set & bit)) entry->threads_count++;
    *set |= bit;
}

/* The hold ends; or, where `held` is false, the attempt. */
static void end(struct slot *slot, struct lock_hold *hold, bool held)
{
    bool let_go = hold->cycles_count != slot->cycles_count;

    pt_ledger_locks->pairs_count++;
    if (!hold->id && (let_go || hold->waited)) enroll(hold->lock, hold->kind, 1);
    if (hold->id) {
        uint64_t now_ns = clock_ns();
        bool wanted = locks[hold->id - 1].users_count > pt_ledger_locks->locks[hold->id - 1].size;

        if (wanted || marked(slot, hold)) {
            pt_window_hold(slot, now_ns);
            mark(slot, hold + 1, NULL, now_ns);
        }
        count(slot, hold, held, now_ns);
        if (!hold->asleep) locks[hold->id - 1].users_count--;
    }
    if (marked(slot, hold)) {
        put(slot, RELEASE, hold->id);
        slot->open_markers_count--;
    }
    memmove(hold, hold + 1, (size_t)(&slot->lock_holds[--slot->lock_holds_count] - hold) * sizeof(*hold));
}

/* One more. Of a thread that holds very many, the oldest is no longer watched: it may have been given back by another thread. */
static struct lock_hold *begin(struct slot *slot, VALUE lock, enum lock_kind kind, bool asleep)
{
    struct lock_hold *hold;

    if (slot->lock_holds_count == LOCK_HOLDS_MAX) end(slot, slot->lock_holds, true);
    hold = &slot->lock_holds[slot->lock_holds_count++];
    *hold = (struct lock_hold){.lock = lock, .awaited = lock, .kind = (uint8_t)kind, .id = id_of(lock), .depth = 1, .asleep = asleep};
    if (!asleep) begin_to_try(slot, hold, clock_ns());
    return hold;
}

/* A release of the GVL ends: what was taken before it is marked, and a wait for the lock that the thread tries to get is told apart.
 * A thread may wait for it several times, as others take it meanwhile: to the trace these are one wait.
 *
 * Contract: RESUMED, own thread, before the release becomes a step; allocates nothing. */
void pt_locks_release_ends(struct slot *slot, enum part part, uint64_t gap_ns, uint64_t now_ns)
{
    struct lock_hold *end = slot->lock_holds + slot->lock_holds_count, *last = end - 1;
    bool is_wait = part == LOCK_WAIT || part == POOL_WAIT, for_last;

    if (!pt_ledger_locks) return;
    for_last = is_wait && (last->kind == LOCK_POOL ? slot->in_checkout : rb_current_receiver() == last->awaited);
    mark(slot, end, for_last ? last : NULL, slot->since_ns);
    if (last->asleep) {
        if (is_wait) begin_to_try(slot, last, now_ns);
    } else if (for_last) {
        last->waited = true;
        last->wait_ns += gap_ns;
        last->since_ns = now_ns;
        last->cycles_count = slot->cycles_count;
        if (marked(slot, last)) slot->merge_from = last->marker + 1;
    }
}

/* What the thread still holds when its request ends is given back in the trace, and is none of the next one's.
 * Contract: own thread, its steps up to now. */
void pt_locks_window_ends(struct slot *slot)
{
    for (uint32_t i = slot->lock_holds_count; i-- > 0;) {
        struct lock_hold *hold = &slot->lock_holds[i];
        if (!marked(slot, hold)) continue;
        put(slot, RELEASE, hold->id);
        slot->open_markers_count--;
        hold->marker = 0;
        hold->serial--;
    }
}

/* Ruby gives back what a thread holds when it is killed. Contract: EXITED, own thread. */
void pt_locks_thread_ends(struct slot *slot)
{
    for (uint32_t i = 0; pt_ledger_locks && i < slot->lock_holds_count; i++) {
        const struct lock_hold *hold = &slot->lock_holds[i];
        if (hold->id && !hold->asleep) locks[hold->id - 1].users_count--;
    }
    slot->lock_holds_count = 0;
}

/* --- Mutex and Monitor: each method does what it did, by super */

struct call { VALUE self; int argc; const VALUE *argv; bool done; };

static VALUE call_super(VALUE argument)
{
    struct call *call = (struct call *)argument;
    VALUE result = rb_call_super(call->argc, call->argv);
    call->done = true;
    return result;
}

/* The slot, where the thread is watched. It may become watched, or another process's, in the middle of a call. */
static struct slot *watched(void) { return pt_ledger_locks ? pt_own_slot : NULL; }

/* False when it is not watched: what a pool does inside of its checkout is part of that. */
static bool tried(VALUE lock, enum lock_kind kind)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, lock) : NULL;

    if (hold) hold->depth++; /* a monitor that it has entered before */
    else if (slot && !slot->in_checkout) begin(slot, lock, kind, false);
    else return false;
    return true;
}

static void given_back(VALUE lock, bool held)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, lock) : NULL;

    if (hold && --hold->depth == 0) end(slot, hold, held);
}

static VALUE after_lock(VALUE argument)
{
    const struct call *call = (const struct call *)argument;
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, call->self) : NULL;

    if (!call->done) given_back(call->self, false);
    else if (hold && hold->waited && !hold->id) enroll(call->self, hold->kind, 1);
    return Qnil;
}

static VALUE lock(int argc, const VALUE *argv, VALUE self, enum lock_kind kind)
{
    struct call call = {self, argc, argv, false};
    if (!tried(self, kind)) return rb_call_super(argc, argv);
    return rb_ensure(call_super, (VALUE)&call, after_lock, (VALUE)&call);
}

static VALUE try_lock(int argc, const VALUE *argv, VALUE self, enum lock_kind kind)
{
    VALUE result = rb_call_super(argc, argv); /* which waits for nothing */
    if (RTEST(result)) tried(self, kind);
    return result;
}

static VALUE unlock(int argc, const VALUE *argv, VALUE self)
{
    VALUE result = rb_call_super(argc, argv);
    given_back(self, true);
    return result;
}

static VALUE after_synchronize(VALUE argument)
{
    given_back(((const struct call *)argument)->self, true);
    return Qnil;
}

static VALUE synchronize(int argc, const VALUE *argv, VALUE self, enum lock_kind kind)
{
    struct call call = {self, argc, argv, false};
    if (!tried(self, kind)) return rb_call_super(argc, argv);
    return rb_ensure(call_super, (VALUE)&call, after_synchronize, (VALUE)&call);
}

static VALUE after_sleep(VALUE argument)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, ((const struct call *)argument)->self) : NULL;

    if (hold && hold->asleep) begin_to_try(slot, hold, clock_ns());
    return Qnil;
}

/* Mutex#sleep, by which condition variables wait, and Monitor#wait_for_cond: the lock is given back, and taken again. */
static VALUE sleep_unlocked(int argc, const VALUE *argv, VALUE self)
{
    struct call call = {self, argc, argv, false};
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, self) : NULL;
    enum lock_kind kind;
    uint32_t depth;

    if (!hold) { /* perhaps the mutex inside a monitor */
        if (slot && slot->lock_holds_count && slot->lock_holds[slot->lock_holds_count - 1].asleep) slot->lock_holds[slot->lock_holds_count - 1].awaited = self;
        return rb_call_super(argc, argv);
    }
    kind = hold->kind;
    depth = hold->depth;
    end(slot, hold, true);
    begin(slot, self, kind, true)->depth = depth;
    return rb_ensure(call_super, (VALUE)&call, after_sleep, (VALUE)&call);
}

static VALUE mutex_lock(int argc, VALUE *argv, VALUE self) { return lock(argc, argv, self, LOCK_MUTEX); }
static VALUE mutex_try_lock(int argc, VALUE *argv, VALUE self) { return try_lock(argc, argv, self, LOCK_MUTEX); }
static VALUE mutex_synchronize(int argc, VALUE *argv, VALUE self) { return synchronize(argc, argv, self, LOCK_MUTEX); }
static VALUE monitor_enter(int argc, VALUE *argv, VALUE self) { return lock(argc, argv, self, LOCK_MONITOR); }
static VALUE monitor_try_enter(int argc, VALUE *argv, VALUE self) { return try_lock(argc, argv, self, LOCK_MONITOR); }
static VALUE monitor_synchronize(int argc, VALUE *argv, VALUE self) { return synchronize(argc, argv, self, LOCK_MONITOR); }
static VALUE lock_unlock(int argc, VALUE *argv, VALUE self) { return unlock(argc, argv, self); }
static VALUE lock_sleep(int argc, VALUE *argv, VALUE self) { return sleep_unlocked(argc, argv, self); }

/* --- pools */

void pt_locks_pool_tried(VALUE pool)
{
    struct slot *slot = watched();
    if (slot) begin(slot, pool, LOCK_POOL, false);
}

/* connections_count: how many the pool has in all; 0: none was to be had. */
void pt_locks_pool_got(VALUE pool, uint64_t connections_count)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, pool) : NULL;

    if (!hold) return;
    if (connections_count == 0) end(slot, hold, false);
    else if (!hold->id) enroll(pool, LOCK_POOL, connections_count);
}

void pt_locks_pool_returned(VALUE pool) { given_back(pool, true); }

/* --- the start */

static void mark_locks(void *unused)
{
    for (size_t i = 0; pt_ledger_locks && i < pt_slots_used_count; i++) {
        for (uint32_t n = 0; pt_slots[i].in_use && n < pt_slots[i].lock_holds_count; n++) {
            rb_gc_mark(pt_slots[i].lock_holds[n].lock);
            rb_gc_mark(pt_slots[i].lock_holds[n].awaited);
        }
    }
    for (int i = 0; i < LOCKS_MAX; i++) {
        if (locks[i].kept && locks[i].object) rb_gc_mark(locks[i].object);
    }
}

static const rb_data_type_t marker_type = {.wrap_struct_name = "puma_tuner/locks", .function = {.dmark = mark_locks}};

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
    if (finalizer_class) return;
    finalizer_class = rb_define_class_under(module, "LockFinalizer", rb_cObject);
    rb_gc_register_mark_object(finalizer_class);
    rb_undef_alloc_func(finalizer_class);
    rb_define_method(finalizer_class, "call", is_gone, 1);
    rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &marker_type, locks));
    prepend(rb_const_get(rb_cThread, rb_intern("Mutex")), rb_define_module_under(module, "WatchedMutex"), false);
    if (rb_const_defined(rb_cObject, rb_intern("Monitor"))) {
        prepend(rb_const_get(rb_cObject, rb_intern("Monitor")), rb_define_module_under(module, "WatchedMonitor"), true);
    }
}

/* Watches the locks of this process from here on; what is held already is not known. Once for each ledger, also in a forked child.
 * False when the ledger has no room for them. */
bool pt_locks_watch(VALUE module)
{
    bool first = !finalizer_class;
    uint64_t unwatched_ns = first ? fastest_pair_ns() : 0;

    prepend_once(module);
    memset(locks, 0, sizeof(locks));
    gone_count = 0;
    index_all();
    for (size_t i = 0; i < pt_slots_used_count; i++) pt_slots[i].lock_holds_count = pt_slots[i].open_markers_count = 0;
    if (!pt_ledger_make_locks()) return false;
    if (first) {
        uint64_t watched_ns = fastest_pair_ns();
        cost_per_pair_ns = watched_ns > unwatched_ns ? watched_ns - unwatched_ns : 0;
        pt_ledger_locks->pairs_count = 0;
    }
    pt_ledger_locks->cost_per_pair_ns = cost_per_pair_ns;
    return true;
}
