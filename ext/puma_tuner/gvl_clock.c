/* The GVL clock: one hook for the process, adding up what each thread does with and without the GVL.
 *
 * The callbacks run with the scheduler's lock held (READY and RESUMED always, SUSPENDED nearly always), so their time is
 * everybody's time: they read the vDSO clock and add to the slot, allocate nothing, take no lock, make no system call. */
#include "slot.h"
#include <ruby/debug.h>

#define SLOTS_MAX 1024

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

__thread struct slot *pt_own_slot __attribute__((tls_model("initial-exec")));

static struct slot *slots;
static rb_internal_thread_specific_key_t key;
static rb_internal_thread_event_hook_t *hook;
static uint64_t unobserved_threads_count;
static ID id_sleep;
static VALUE locking_classes[6];
static size_t locking_classes_count;

/* Why the running thread releases the GVL: by the receiver of the method it is in.
 * Contract: own thread, GVL still held; reads the frame, allocates nothing. */
static enum part reason_to_release(bool *awaits_work)
{
    VALUE frame;
    int line;
    ID method;
    VALUE receiver_class;

    /* A thread that ends is suspended once more, without frames: the functions below would read through NULL. */
    if (rb_profile_frames(0, 1, &frame, &line) == 0) return IO_WAIT;
    method = rb_frame_this_func();
    receiver_class = rb_class_of(rb_current_receiver());
    *awaits_work = true; /* Puma 6 waits on the connection itself */
    for (size_t i = 0; i < locking_classes_count; i++) {
        if (receiver_class == locking_classes[i]) {
            *awaits_work = method == id_sleep; /* ConditionVariable#wait is Mutex#sleep; Mutex#lock is contention */
            return LOCK_WAIT;
        }
    }
    return method == id_sleep ? SLEEP : IO_WAIT;
}

/* SUSPENDED. Own thread. Comes again without a RESUMED between (condition variables): only the first counts. */
static inline void released(struct slot *slot, uint64_t now_ns, enum part reason, bool awaits_work)
{
    if (slot->state == RUNNING) {
        uint64_t ns = spend(slot, HELD, now_ns);
        slot->burst_ns += ns;
        pt_window_step(slot, HELD, ns);
    } else if (slot->state != UNKNOWN) {
        return;
    }
    slot->since_ns = now_ns;
    slot->state = RELEASED;
    slot->wait_part = reason;
    slot->awaits_work = awaits_work;
}

/* READY. Own thread, or the one that wakes it. */
static inline void ready(struct slot *slot, uint64_t now_ns)
{
    if (slot->state == RELEASED) {
        uint64_t gap_ns = now_ns > slot->since_ns ? now_ns - slot->since_ns : 0;

        slot->slice_ended = gap_ns < SLICE_GAP_NS && slot->burst_ns >= SLICE_HOLD_NS;
        if (slot->slice_ended) {
            pt_window_step(slot, GVL_WAIT, spend(slot, GVL_WAIT, now_ns));
        } else if (!slot->in_request && slot->awaits_work && gap_ns >= IDLE_GAP_NS) {
            spend(slot, IDLE, now_ns);
            pt_window_open(slot, now_ns);
        } else {
            pt_window_step(slot, slot->wait_part, spend(slot, slot->wait_part, now_ns));
        }
    } else if (slot->state == UNKNOWN) {
        pt_window_open(slot, now_ns); /* a new thread */
    }
    slot->since_ns = now_ns;
    slot->state = READY;
}

/* RESUMED. Own thread; allocating here can deadlock, even one object. */
static inline void resumed(struct slot *slot, uint64_t now_ns)
{
    if (slot->state == READY) {
        uint64_t ns = spend(slot, GVL_WAIT, now_ns);
        pt_window_step(slot, GVL_WAIT, ns);
        if (slot->slice_ended && ns >= SLICE_WAIT_NS) slot->total.slices_count++;
    }
    slot->slice_ended = false;
    slot->since_ns = now_ns;
    slot->state = RUNNING;
    slot->burst_ns = 0;
}

/* STARTED: parent thread, GVL held. The slot comes from the pool, so nothing is allocated here either. */
static void adopt(VALUE thread)
{
    for (size_t i = 0; i < SLOTS_MAX; i++) {
        bool expected = false;
        if (__atomic_compare_exchange_n(&slots[i].in_use, &expected, true, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            struct slot *slot = &slots[i];
            memset(slot, 0, offsetof(struct slot, steps));
            slot->in_use = true;
            rb_internal_thread_specific_set(thread, key, slot);
            return;
        }
    }
    __atomic_add_fetch(&unobserved_threads_count, 1, __ATOMIC_RELAXED);
}

/* EXITED: own thread. Its slot may serve another thread from here on. */
static void dismiss(VALUE thread, struct slot *slot)
{
    rb_internal_thread_specific_set(thread, key, NULL);
    pt_own_slot = NULL;
    __atomic_store_n(&slot->in_use, false, __ATOMIC_RELEASE);
}

static void on_event(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *unused)
{
    struct slot *slot = rb_internal_thread_specific_get(data->thread, key);

    if (event == RUBY_INTERNAL_THREAD_EVENT_STARTED) {
        if (!slot) adopt(data->thread);
        return;
    }
    if (!slot) return;
    slot->events_count++;

    switch (event) {
      case RUBY_INTERNAL_THREAD_EVENT_SUSPENDED: {
        bool awaits_work = false;
        enum part reason = pt_own_slot == slot ? reason_to_release(&awaits_work) : IO_WAIT;
        released(slot, monotonic_ns(), reason, awaits_work);
        break;
      }
      case RUBY_INTERNAL_THREAD_EVENT_READY:
        ready(slot, monotonic_ns());
        break;
      case RUBY_INTERNAL_THREAD_EVENT_RESUMED:
        pt_own_slot = slot;
        resumed(slot, monotonic_ns());
        break;
      case RUBY_INTERNAL_THREAD_EVENT_EXITED:
        dismiss(data->thread, slot);
        break;
    }
}

static void remember_locking_class(VALUE owner, const char *name)
{
    ID id = rb_intern(name);
    if (rb_const_defined(owner, id)) locking_classes[locking_classes_count++] = rb_const_get(owner, id);
}

static void prepare_once(void)
{
    if (slots) return;
    slots = calloc(SLOTS_MAX, sizeof(struct slot)); /* for the life of the process; pages are touched as threads come */
    if (!slots) return;
    key = rb_internal_thread_specific_key_create();
    id_sleep = rb_intern("sleep");
    remember_locking_class(rb_cThread, "Mutex");
    remember_locking_class(rb_cThread, "Queue");
    remember_locking_class(rb_cThread, "SizedQueue");
    remember_locking_class(rb_cThread, "ConditionVariable");
    remember_locking_class(rb_cObject, "Monitor");
    locking_classes[locking_classes_count++] = rb_cThread; /* join, value */
}

/* Contract: GVL held, ordinary Ruby code. Safe to call again; after a fork it must be, in the child, where only the
 * calling thread is left and the others' slots are free again. Returns false when there is no memory. */
bool pt_gvl_clock_start(VALUE threads)
{
    static pid_t started_in;

    prepare_once();
    if (!slots) return false;
    if (started_in == getpid()) return true;
    started_in = getpid();
    for (size_t i = 0; i < SLOTS_MAX; i++) slots[i].in_use = false;
    for (long i = 0; i < RARRAY_LEN(threads); i++) adopt(RARRAY_AREF(threads, i));

    pt_own_slot = pt_slot_of(rb_thread_current());
    pt_own_slot->state = RUNNING;
    pt_own_slot->since_ns = monotonic_ns();
    pt_window_open(pt_own_slot, pt_own_slot->since_ns);
    if (!hook) {
        hook = rb_internal_thread_add_event_hook(on_event,
            RUBY_INTERNAL_THREAD_EVENT_STARTED | RUBY_INTERNAL_THREAD_EVENT_READY | RUBY_INTERNAL_THREAD_EVENT_RESUMED |
            RUBY_INTERNAL_THREAD_EVENT_SUSPENDED | RUBY_INTERNAL_THREAD_EVENT_EXITED, NULL);
    }
    return hook != NULL;
}

struct slot *pt_slot_of(VALUE thread)
{
    return slots ? rb_internal_thread_specific_get(thread, key) : NULL;
}

/* Events that threads still alive have seen. */
uint64_t pt_events_count(void)
{
    uint64_t count = 0;
    for (size_t i = 0; slots && i < SLOTS_MAX; i++) count += slots[i].in_use ? slots[i].events_count : 0;
    return count;
}

uint64_t pt_unobserved_threads_count(void)
{
    return __atomic_load_n(&unobserved_threads_count, __ATOMIC_RELAXED);
}

/* What one event costs in this process: the three callbacks in turn, on a slot of nobody's. */
uint64_t pt_cost_per_event_ns(uint64_t rounds)
{
    static struct slot scratch;
    uint64_t began_ns;

    memset(&scratch, 0, sizeof(scratch));
    began_ns = monotonic_ns();
    for (uint64_t i = 0; i < rounds; i++) {
        bool awaits_work;
        enum part reason = reason_to_release(&awaits_work);
        released(&scratch, monotonic_ns(), reason, awaits_work);
        ready(&scratch, monotonic_ns());
        resumed(&scratch, monotonic_ns());
    }
    return rounds ? (monotonic_ns() - began_ns) / (rounds * 3) : 0;
}
