/* This file knows which of the watched locks each thread holds, and tries to get.
 *
 * Taking a lock and giving it back, with the GVL kept all the while and nobody waiting, leaves nothing but a count while nobody is known
 * to hold that lock for longer: no step, no id. So the trace's markers are made late, when a release of the GVL ends (RESUMED) or the lock is given back: the clock was read where the
 * thread tried, and the step of CPU time that has passed since is divided there. A slot's list is in the order in which the thread tried.
 *
 * Contract of all but pt_locks_release_ends and pt_locks_thread_ends: own thread, GVL held, ordinary Ruby code. */
#include "locks.h"
#include <ruby/debug.h>
#include <string.h>

/* Holds during which nothing happened are marked as long as a request has no more steps than these, so that a long one's trace has room
 * for what follows. Who holds a lock but shortly waits for those who hold it for long. */
#define SHORT_HOLDS_STEPS_MAX (STEPS_MAX / 2)

static void put(struct slot *slot, enum marker marker, uint32_t id)
{
    slot->steps[slot->steps_count++] = ((uint64_t)marker << STEP_NS_BITS) + id;
}

/* Puts ACQUIRE where the thread tried: `ago_ns` before the end of the last step, which is its CPU time until now. */
static void put_acquire(struct slot *slot, struct lock_hold *hold, uint64_t ago_ns)
{
    uint64_t *last = &slot->steps[slot->steps_count - 1];
    uint64_t held_ns = *last >> STEP_NS_BITS == PART_HELD ? *last : 0;

    if (ago_ns > held_ns) ago_ns = held_ns;
    *last -= ago_ns;
    hold->marker = slot->steps_count;
    slot->open_markers_count++;
    put(slot, ACQUIRE, hold->id);
    if (ago_ns) slot->steps[slot->steps_count++] = ((uint64_t)PART_HELD << STEP_NS_BITS) + ago_ns;
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
    if (hold->id) pt_locks[hold->id - 1].users_count++;
}

static void count(struct slot *slot, const struct lock_hold *hold, bool held, uint64_t now_ns)
{
    struct ledger_lock *entry = &pt_ledger_locks->locks[hold->id - 1];
    size_t index = (size_t)(slot - pt_slots);
    uint64_t *set = &pt_locks[hold->id - 1].threads[index / SET_BITS], bit = (uint64_t)1 << index % SET_BITS;

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

    pt_ledger_locks->lock_pairs_count++;
    if (!hold->id && (let_go || hold->waited)) pt_lock_enroll(hold->lock, hold->kind, 1);
    if (hold->id) {
        uint64_t now_ns = clock_ns();
        bool wanted = pt_locks[hold->id - 1].users_count > pt_ledger_locks->locks[hold->id - 1].size;

        if (wanted || lock_is_marked(slot, hold) || slot->steps_count < SHORT_HOLDS_STEPS_MAX) {
            pt_window_hold(slot, now_ns);
            mark(slot, hold + 1, NULL, now_ns);
        }
        count(slot, hold, held, now_ns);
        if (!hold->asleep) pt_locks[hold->id - 1].users_count--;
    }
    if (lock_is_marked(slot, hold)) {
        put(slot, RELEASE, hold->id);
        slot->open_markers_count--;
    }
    memmove(hold, hold + 1, (size_t)(&slot->lock_holds[--slot->lock_holds_count] - hold) * sizeof(*hold));
}

/* One more. Of a thread that holds very many, the oldest is no longer watched: it may have been given back by another thread, hours ago,
 * so that it counts as no hold. */
static struct lock_hold *begin(struct slot *slot, VALUE lock, enum lock_kind kind, bool asleep)
{
    struct lock_hold *hold;

    if (slot->lock_holds_count == LOCK_HOLDS_MAX) end(slot, slot->lock_holds, false);
    hold = &slot->lock_holds[slot->lock_holds_count++];
    *hold = (struct lock_hold){.lock = lock, .awaited = lock, .kind = (uint8_t)kind, .id = pt_lock_id(lock), .depth = 1, .asleep = asleep};
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
    bool is_wait = part == PART_LOCK || part == PART_POOL, for_last;

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
        if (lock_is_marked(slot, last)) slot->merge_from = last->marker + 1;
    }
}

/* What the thread still holds when its request ends is given back in the trace, and is none of the next one's.
 * Contract: own thread, its steps up to now. */
void pt_locks_window_ends(struct slot *slot)
{
    for (uint32_t i = slot->lock_holds_count; i-- > 0;) {
        struct lock_hold *hold = &slot->lock_holds[i];
        if (!lock_is_marked(slot, hold)) continue;
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
        if (hold->id && !hold->asleep) pt_locks[hold->id - 1].users_count--;
    }
    slot->lock_holds_count = 0;
}

/* --- what the methods of locks tell */

/* The slot, where the thread is watched. It may become watched, or another process's, in the middle of a call. */
static struct slot *watched(void) { return pt_ledger_locks ? pt_own_slot : NULL; }

/* False when it is not watched: what a pool does inside of its checkout is part of that. */
bool pt_lock_tried(VALUE lock, enum lock_kind kind)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, lock) : NULL;

    if (hold) hold->depth++; /* a monitor that it has entered before */
    else if (slot && !slot->in_checkout) begin(slot, lock, kind, false);
    else return false;
    return true;
}

void pt_lock_given_back(VALUE lock, bool held)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, lock) : NULL;

    if (hold && --hold->depth == 0) end(slot, hold, held);
}

/* A lock that was waited for gets its id here, where it was taken. */
void pt_lock_got(VALUE lock)
{
    struct slot *slot = watched();
    const struct lock_hold *hold = slot ? find(slot, lock) : NULL;

    if (hold && hold->waited && !hold->id) pt_lock_enroll(lock, hold->kind, 1);
}

/* It is given back until the thread is woken. False when the thread does not hold it, as far as is known: it may be the mutex inside of a
 * monitor that sleeps. */
bool pt_lock_sleeps(VALUE lock)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, lock) : NULL;
    enum lock_kind kind;
    uint32_t depth;

    if (!hold) {
        hold = slot && slot->lock_holds_count ? &slot->lock_holds[slot->lock_holds_count - 1] : NULL;
        if (hold && hold->asleep) hold->awaited = lock;
        return false;
    }
    kind = hold->kind;
    depth = hold->depth;
    end(slot, hold, true);
    begin(slot, lock, kind, true)->depth = depth;
    return true;
}

/* The thread has it again. */
void pt_lock_wakes(VALUE lock)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, lock) : NULL;

    if (hold && hold->asleep) begin_to_try(slot, hold, clock_ns());
}

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
    if (connections_count == 0) {
        end(slot, hold, false);
        return;
    }
    hold->got = true;
    if (!hold->id) pt_lock_enroll(pool, LOCK_POOL, connections_count);
}

/* A connection was given back, or thrown away. Within a checkout that is none of this thread's: the pool takes back what ended threads
 * had, or throws away what no longer answers. */
void pt_locks_pool_returned(VALUE pool)
{
    struct slot *slot = watched();
    struct lock_hold *hold = slot ? find(slot, pool) : NULL;

    if (hold && hold->got) end(slot, hold, true);
}

/* --- the start, and the collector */

/* Nothing is known of what is held already. */
void pt_lock_holds_start(void)
{
    for (size_t i = 0; i < pt_slots_used_count; i++) pt_slots[i].lock_holds_count = pt_slots[i].open_markers_count = 0;
}

/* Contract: the collector marks, which pins what it finds here. */
void pt_lock_holds_mark(void)
{
    for (size_t i = 0; i < pt_slots_used_count; i++) {
        for (uint32_t n = 0; pt_slots[i].in_use && n < pt_slots[i].lock_holds_count; n++) {
            rb_gc_mark(pt_slots[i].lock_holds[n].lock);
            rb_gc_mark(pt_slots[i].lock_holds[n].awaited);
        }
    }
}
