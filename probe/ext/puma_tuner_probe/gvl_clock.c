/* The GVL clock: one hook for the process, adding up what each thread does with and without the GVL.
 *
 * The callbacks run with the scheduler's lock held (READY and RESUMED always, SUSPENDED nearly always), so their time is
 * everybody's time: they read a clock and add to the slot, allocate nothing, take no lock, make no system call. The sums
 * are made in RESUMED, when the thread holds the GVL: READY may come from the thread that wakes it, and only leaves a
 * stamp. */
#include "slot.h"
#include <pthread.h>
#include <ruby/debug.h>
#include <ruby/ractor.h>

/* A release this short after a hold this long was the end of a time slice: the thread gave up the GVL and asked for it
 * again in one go, waking its successor in between. A poll of a socket is as short, but follows short holds.
 * Shortest slice: one tick of 10 ms less the part of it that passed before the switch, when the limit is one tick. */
#define SLICE_GAP_NS 20000u
#define SLICE_HOLD_NS 5000000u
/* And then it waited at least for its successor's hand-over; a poll that nobody took advantage of did not. */
#define SLICE_WAIT_NS 5000u

/* Outside a request, a wait at least this long ends with the next request. Shorter ones are polls of a connection
 * (1 to 3 µs) and belong to the work around them. */
#define IDLE_GAP_NS 50000u

/* Shorter releases are system calls that did not wait (a poll takes 0.3 to 1 µs): io, without a look at the frame, of whatever the
 * scope says. */
#define CLASSIFY_GAP_NS 1000u

/* Shorter waits for the GVL are the way through the scheduler (0.1 to 0.3 µs), and nobody's fault. */
#define BLAME_WAIT_NS 1000u

#define CLASSES_MAX 32
#define RECEIVERS_MAX 64

static bool live; /* false from a fork to the next start: the child must not write where its parent does */
static rb_ractor_local_key_t main_ractor_key; /* has a value in the main Ractor alone */
static rb_internal_thread_event_hook_t *hook;
static uint64_t cost_per_cycle_ns;
static ID id_sleep, id_wait, id_wait_readable, id_join, id_value;
static bool looks_only; /* see pt_gvl_clock_looks_only */
static VALUE mutex_class, condition_variable_class;
static VALUE locking_classes[CLASSES_MAX];
static struct { VALUE receiver_class; enum part part; } receivers[RECEIVERS_MAX];
static size_t locking_classes_count, receivers_count;

/* IO, of what the library around it says that it is for. */
static inline enum part io_of(const struct slot *slot)
{
    return slot->scope == PART_HELD ? PART_IO : slot->scope;
}

/* The class that locks whose method waits; Qfalse: there is none. A subclass's instance may wait in a method of another owner, too, as it
 * is an object like any other: in Kernel#sleep (Mutex has a sleep of its own), and a thread of an app's own class in anything.
 * Contract: as below. */
static VALUE locking_class_of(VALUE receiver, ID method)
{
    VALUE receiver_class = rb_class_of(receiver);

    for (size_t i = 0; i < locking_classes_count; i++) {
        if (receiver_class == locking_classes[i]) return receiver_class;
    }
    for (size_t i = 0; i < locking_classes_count; i++) {
        VALUE locking_class = locking_classes[i];
        if (!RTEST(rb_obj_is_kind_of(receiver, locking_class))) continue;
        if (locking_class == rb_cThread) return method == id_join || method == id_value ? locking_class : Qfalse;
        return method == id_sleep && locking_class != mutex_class ? Qfalse : locking_class;
    }
    return Qfalse;
}

/* Whether a poll of a connection is a look for its next request, which never sleeps: where it took as long as a rest, the thread waited
 * for a core. What is between two requests is in no trace. */
static bool only_looks(const struct slot *slot)
{
    return looks_only && slot->serves_requests && !slot->in_request && slot->rest == AT_WORK;
}

/* Why the running thread released the GVL: by the receiver of the method it still is in; where that tells nothing, by the scope.
 * Contract: own thread, in RESUMED; reads the frame, allocates nothing. */
static enum part reason_of_release(const struct slot *slot, enum rest *rest)
{
    VALUE frame, receiver, locking_class;
    int line;
    ID method;

    /* A thread that ends is suspended once more, without frames: the functions below would read through NULL. */
    if (rb_profile_frames(0, 1, &frame, &line) == 0) return PART_IO;
    method = rb_frame_this_func();
    if (method == id_wait_readable && only_looks(slot)) return PART_COMPUTE;
    receiver = rb_current_receiver();
    *rest = ON_CONNECTION;
    locking_class = locking_class_of(receiver, method);
    if (locking_class) {
        /* Mutex#lock is contention. ConditionVariable#wait rests: the method is Mutex#sleep up to Ruby 3.4, itself from 4.0 on. */
        *rest = method == id_sleep || (method == id_wait && locking_class == condition_variable_class) ? IN_POOL : AT_WORK;
        return slot->in_checkout ? PART_POOL : PART_LOCK;
    }
    /* It comes before sleep: a database driver that sleeps itself (sqlite3's busy handler) waits for its database. */
    for (size_t i = 0; i < receivers_count; i++) {
        if (RTEST(rb_obj_is_kind_of(receiver, receivers[i].receiver_class))) return receivers[i].part;
    }
    return method == id_sleep ? PART_SLEEP : io_of(slot);
}

/* SUSPENDED. Own thread. Comes again without a RESUMED between (condition variables): only the first counts. */
static inline void released(struct slot *slot, uint64_t now_ns)
{
    if (slot->state != RUNNING) return;
    pt_window_hold(slot, now_ns);
    if (slot->hold_ns >= LONG_HOLD_NS) slot->total.long_holds_count++;
    slot->ready.at_ns = 0;
    slot->state = RELEASED;
    pt_blame_hold(slot, now_ns);
    if (lanes_record()) pt_lanes_released(slot, now_ns);
}

/* READY. Own thread, or the one that wakes it. */
static inline void ready(struct slot *slot, uint64_t now_ns)
{
    if (slot->ready.at_ns) return;
    slot->ready.gc_clock_ns = pt_gc_clock_ns(now_ns);
    slot->ready.holds_count = __atomic_load_n(&pt_blame_holds_count, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->ready.at_ns, now_ns, __ATOMIC_RELAXED); /* lanes that begin may read it */
    if (lanes_record()) pt_lanes_ready(slot, now_ns);
}

/* Adds up the release that ends now, under what it was, which it returns. */
static inline enum part add_release(struct slot *slot, uint64_t ready_ns, uint64_t wait_ns)
{
    uint64_t gap_ns = ready_ns - slot->since_ns;
    enum rest rest = AT_WORK;
    enum part part;

    if (gap_ns < SLICE_GAP_NS && slot->hold_ns >= SLICE_HOLD_NS) {
        part = PART_GVL_WAIT;
        if (wait_ns >= SLICE_WAIT_NS) slot->total.slices_count++;
    } else {
        part = gap_ns < CLASSIFY_GAP_NS ? io_of(slot) : reason_of_release(slot, &rest);
    }
    if (rest != AT_WORK && !slot->in_request && gap_ns >= IDLE_GAP_NS) {
        slot->total.part_ns[PART_IDLE] += gap_ns;
        pt_request_rest(slot, ready_ns, rest);
        if (slot->lock_holds_count) pt_locks_release_ends(slot, part, gap_ns, ready_ns + wait_ns);
        return PART_IDLE;
    } else {
        if (slot->lock_holds_count) pt_locks_release_ends(slot, part, gap_ns, ready_ns + wait_ns);
        slot->total.part_ns[part] += gap_ns;
        pt_window_step(slot, part, gap_ns);
        if (!slot->in_request) pt_request_look(slot, ready_ns);
        return part;
    }
}

/* RESUMED. Own thread; allocating here can deadlock, even one object. */
static inline void resumed(struct slot *slot, uint64_t now_ns)
{
    uint64_t ready_ns = slot->ready.at_ns;

    if (slot->state == RUNNING) return;
    slot->cycles_count++;
    if (ready_ns == 0 || ready_ns > now_ns) ready_ns = now_ns;
    if (slot->state == RELEASED && now_ns >= slot->since_ns) {
        uint64_t wait_ns;
        enum part part;
        if (ready_ns < slot->since_ns) ready_ns = slot->since_ns;
        wait_ns = now_ns - ready_ns;
        part = add_release(slot, ready_ns, wait_ns);
        if (lanes_record()) pt_lanes_resumed(slot, part, ready_ns, now_ns);
        slot->total.part_ns[PART_GVL_WAIT] += wait_ns;
        pt_window_step(slot, PART_GVL_WAIT, wait_ns);
        slot->merge_from = 0;
        if (wait_ns >= BLAME_WAIT_NS) pt_blame_wait(slot, now_ns);
    } else {
        pt_window_open(slot, now_ns); /* a new thread; or a counter that began anew, see pt_window_hold */
        slot->rest = IN_POOL;
        if (lanes_record()) pt_lanes_new(slot, ready_ns, now_ns);
    }
    slot->woken_ns = ready_ns;
    slot->ready.at_ns = 0;
    slot->since_ns = now_ns;
    slot->hold_ns = 0;
    slot->state = RUNNING;
}

/* Each Ractor has a GVL of its own, and all that is added up here rests on one. Contract: any thread that has its GVL, but for the
 * first RESUMED of a thread's life, in which Ruby does not know yet where it is. */
static bool in_main_ractor(void) { return rb_ractor_local_storage_ptr(main_ractor_key) != NULL; }

/* The first time that the thread lets go of the GVL: whether it is the first one of another Ractor, which a thread of the main one has
 * started. Contract: SUSPENDED, own thread. */
static bool is_ours(VALUE thread, struct slot *slot)
{
    if (slot->in_main_ractor) return true;
    slot->in_main_ractor = in_main_ractor();
    if (!slot->in_main_ractor) {
        pt_slot_dismiss(thread, slot);
        pt_thread_is_unobserved();
    }
    return slot->in_main_ractor;
}

/* The slot of an event's thread: mostly the running one's, which is at hand. */
static inline struct slot *slot_of_event(VALUE thread)
{
    struct slot *own = pt_own_slot;
    return own && own->thread == thread ? own : pt_slot_of(thread);
}

static void on_event(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *unused)
{
    struct slot *slot;

    if (!live) return;
    slot = slot_of_event(data->thread);
    if (!slot) {
        if (event != RUBY_INTERNAL_THREAD_EVENT_STARTED) return;
        if (in_main_ractor()) pt_slot_adopt(data->thread);
        else pt_thread_is_unobserved();
        return;
    }
    switch (event) {
      case RUBY_INTERNAL_THREAD_EVENT_SUSPENDED:
        if (is_ours(data->thread, slot)) released(slot, clock_ns());
        break;
      case RUBY_INTERNAL_THREAD_EVENT_READY:
        ready(slot, clock_ns());
        break;
      case RUBY_INTERNAL_THREAD_EVENT_RESUMED:
        pt_own_slot = slot;
        resumed(slot, clock_ns());
        break;
      case RUBY_INTERNAL_THREAD_EVENT_EXITED:
        if (slot->lock_holds_count) pt_locks_thread_ends(slot);
        if (lanes_record() && slot->state != UNKNOWN) pt_lanes_ended(slot, clock_ns());
        pt_slot_dismiss(data->thread, slot);
        break;
    }
}

static void remember_locking_class(VALUE owner, const char *name)
{
    ID id = rb_intern(name);
    if (rb_const_defined(owner, id)) locking_classes[locking_classes_count++] = rb_const_get(owner, id);
}

/* Contract: ordinary Ruby code. A class whose methods, and those of its subclasses, release the GVL for one thing only: to compute
 * (zlib, bcrypt), or for one kind of IO (a driver's). False when there are too many. */
bool pt_attribute(VALUE receiver_class, enum part part)
{
    if (receivers_count == RECEIVERS_MAX) return false;
    rb_gc_register_mark_object(receiver_class);
    receivers[receivers_count].receiver_class = receiver_class;
    receivers[receivers_count++].part = part;
    return true;
}

/* Async-signal-safe, as it must be: Ruby's own threads may have held any lock at the fork. */
static void stop_in_child(void)
{
    live = false;
    pt_lanes_forget();
    pt_ledger_close();
    pt_own_slot = NULL;
}

static void keep(void *unused) {}

/* It lies in the main Ractor's storage, where only the fact that something is there counts. */
static const struct rb_ractor_local_storage_type main_ractor_mark = {keep, keep};

static void prepare_once(void)
{
    rb_ractor_local_key_t mark;

    if (main_ractor_key || (!pt_slots && !pt_slots_prepare())) return;
    mark = rb_ractor_local_storage_ptr_newkey(&main_ractor_mark);
    rb_ractor_local_storage_ptr_set(mark, pt_slots);
    main_ractor_key = mark; /* only now is there something to read through it */
    pt_clock_prepare();
    pthread_atfork(NULL, NULL, stop_in_child);
    id_sleep = rb_intern("sleep");
    id_wait = rb_intern("wait");
    id_wait_readable = rb_intern("wait_readable");
    id_join = rb_intern("join");
    id_value = rb_intern("value");
    mutex_class = rb_const_get(rb_cThread, rb_intern("Mutex"));
    condition_variable_class = rb_const_get(rb_cThread, rb_intern("ConditionVariable"));
    remember_locking_class(rb_cThread, "Mutex");
    remember_locking_class(rb_cThread, "Queue");
    remember_locking_class(rb_cThread, "SizedQueue");
    remember_locking_class(rb_cThread, "ConditionVariable");
    remember_locking_class(rb_cObject, "Monitor");
    locking_classes[locking_classes_count++] = rb_cThread; /* join, value */
    pt_attribute(rb_cFile, PART_FILE);
    pt_attribute(rb_singleton_class(rb_cFile), PART_FILE); /* File.read, File.write */
    pt_attribute(rb_cDir, PART_FILE);
}

/* Threads older than the clock: their CPU time so far is none of ours. */
static void adopt_with_past(VALUE thread)
{
    struct slot *slot = pt_slot_of(thread) ? NULL : pt_slot_adopt(thread);

    if (!slot) return;
    slot->in_main_ractor = true; /* as all that Thread.list knows are, asked there */
    slot->native_thread_id = pt_native_thread_id(thread);
    slot->settled_cpu_ns = cpu_ns_of(slot->native_thread_id);
}

/* Measures what one GVL cycle costs more for being watched: the three events, each with Ruby's own lock around the hooks, timed on
 * a slot that no thread has. To let go of the GVL for it would be truer, and beside a thread that computes each time would cost a
 * time slice. Takes some 50 µs. */
static uint64_t time_cycle(void)
{
    enum { ROUNDS = 5, CYCLES = 100 };
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    struct slot *slot = &pt_slots[SLOTS_MAX - 1];
    uint64_t fastest_ns = UINT64_MAX;

    slot->in_main_ractor = true;
    slot->state = RUNNING;
    slot->since_ns = clock_ns();
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t began_ns = clock_ns(), ns;
        for (int i = 0; i < CYCLES; i++) {
            for (int event = 0; event < 3; event++) {
                pthread_rwlock_rdlock(&lock);
                if (event == 0 && is_ours(Qnil, slot)) released(slot, clock_ns());
                else if (event == 1) ready(slot, clock_ns());
                else resumed(slot, clock_ns());
                pthread_rwlock_unlock(&lock);
            }
        }
        ns = (clock_ns() - began_ns) / CYCLES;
        if (ns < fastest_ns) fastest_ns = ns;
    }
    memset(slot, 0, offsetof(struct slot, steps));
    pt_blame_start(); /* its holds are nobody's */
    return fastest_ns;
}

/* Puts the hook in, which does nothing until the clock is started. In the process that will fork those which are watched: Ruby's lock
 * around its hooks is copied at a fork as it is (Bug #21959), so that a child that puts in a hook of its own may wait forever for a
 * thread that it has not got.
 *
 * Contract: GVL held, ordinary Ruby code of the main Ractor. Safe to call again. False when there is no memory, or Ruby
 * refuses it. */
bool pt_gvl_clock_install(void)
{
    prepare_once();
    if (!main_ractor_key) return false;
    if (!hook) {
        hook = rb_internal_thread_add_event_hook(on_event,
            RUBY_INTERNAL_THREAD_EVENT_STARTED | RUBY_INTERNAL_THREAD_EVENT_READY | RUBY_INTERNAL_THREAD_EVENT_RESUMED |
            RUBY_INTERNAL_THREAD_EVENT_SUSPENDED | RUBY_INTERNAL_THREAD_EVENT_EXITED, NULL);
    }
    return hook != NULL;
}

bool pt_gvl_clock_is_installed(void) { return hook != NULL; }

/* Whether the threads that serve requests wait on no connection between two of them, but look whether there is another request: then
 * such a look is no rest, however long it took. Contract: GVL held, ordinary Ruby code. */
void pt_gvl_clock_looks_only(bool only) { looks_only = only; }

/* Contract: GVL held, ordinary Ruby code. Safe to call again; after a fork it must be, in the child, where only the
 * calling thread is left and the others' slots are free again. Never lets go of the GVL. Returns false when there is no
 * memory, when Ruby refuses it, and in other Ractors than the main one. */
bool pt_gvl_clock_start(VALUE threads)
{
    if (!pt_gvl_clock_install() || !in_main_ractor()) return false;
    if (live) return true;
    pt_slots_forget();
    pt_blame_start();
    cost_per_cycle_ns = time_cycle();

    live = true;
    /* This thread first, which must have a slot; with more of them than there are slots, others go without. */
    pt_own_slot = pt_slot_adopt(rb_thread_current());
    pt_own_slot->in_main_ractor = true;
    for (long i = 0; i < RARRAY_LEN(threads); i++) adopt_with_past(RARRAY_AREF(threads, i));
    pt_own_slot->native_thread_id = pt_native_thread_id(rb_thread_current());
    pt_own_slot->settled_cpu_ns = cpu_ns_of(pt_own_slot->native_thread_id);
    pt_own_slot->state = RUNNING;
    pt_own_slot->since_ns = clock_ns();
    pt_window_open(pt_own_slot, pt_own_slot->since_ns);
    return true;
}

/* Timed when the clock was started, here. */
uint64_t pt_cost_per_cycle_ns(void) { return cost_per_cycle_ns; }
