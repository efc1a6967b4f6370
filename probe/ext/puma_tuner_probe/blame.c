/* Blame: who held the GVL while a thread waited for it.
 *
 * Each hold leaves a record in a ring: when it ended, and which window of which slot it was. A hold that reaches from one
 * window into the next leaves a record for each, so that what a request computes last, up to its end, is its own. A thread
 * that has waited charges those that ended since it became ready. Which endpoint a window belongs to is known only when
 * its request ends: a charge for a window under way waits in the waiter's slot until the waiter's own request has ended,
 * and then in the holder's. */
#include "slot.h"
#include "random.h"
#include <string.h>

#define RING 1024
/* Each of four other threads ends a request and goes on with Puma's work, which are two holds. */
#define EXACT_MAX 8

/* Where more windows are under way than have a place, there are few ended ones to be found: they are looked for only this often. */
#define MERGE_EVERY 16

struct hold { uint64_t end_ns, gc_clock_ns; uint32_t slot, serial; };

uint64_t pt_blame_holds_count;

static struct hold ring[RING];
static uint64_t random_state = 0x9e3779b97f4a7c15u;

/* It stands in the place of a slot, for a window that has ended: the serial is its entry in the ledger. */
#define KNOWN UINT32_MAX

/* Contract: ordinary Ruby code. */
void pt_blame_start(void)
{
    pt_blame_holds_count = 0;
}

/* A hold ends, or its window does. Contract: own thread, GVL held (one at a time), also in SUSPENDED. */
void pt_blame_hold(const struct slot *slot, uint64_t end_ns)
{
    ring[pt_blame_holds_count % RING] = (struct hold){end_ns, pt_gc_clock_ns(end_ns), (uint32_t)(slot - pt_slots), slot->serial};
    __atomic_store_n(&pt_blame_holds_count, pt_blame_holds_count + 1, __ATOMIC_RELAXED);
}

/* Returns what a window was; ENTRY_NONE while it is under way and nobody knows. */
static uint32_t entry_of(uint32_t slot, uint32_t serial)
{
    const struct slot *holder = &pt_slots[slot];
    const struct past *past = &holder->history[serial % HISTORY_MAX];

    if (past->serial == serial) return past->entry;
    if (holder->serial != serial || !holder->in_use) return ENTRY_OTHER;
    return holder->in_request || holder->serves_requests ? ENTRY_NONE : holder->entry;
}

/* Brings together what was charged to windows of the same entry that have ended since. */
static void merge_ended(struct slot *waiter)
{
    uint32_t kept_count = 0;

    for (uint32_t i = 0; i < waiter->blamed_count; i++) {
        struct blamed each = waiter->blamed[i];
        uint32_t entry = each.slot == KNOWN ? ENTRY_NONE : entry_of(each.slot, each.serial), same = 0;
        if (entry != ENTRY_NONE) each = (struct blamed){KNOWN, entry, each.ns};
        while (same < kept_count && (waiter->blamed[same].slot != each.slot || waiter->blamed[same].serial != each.serial)) same++;
        if (same < kept_count) waiter->blamed[same].ns += each.ns;
        else waiter->blamed[kept_count++] = each;
    }
    waiter->blamed_count = kept_count;
}

static void charge(struct slot *waiter, uint32_t slot, uint32_t serial, uint64_t ns)
{
    for (uint32_t i = 0; i < waiter->blamed_count; i++) {
        struct blamed *blamed = &waiter->blamed[i];
        if (blamed->slot == slot && blamed->serial == serial) {
            blamed->ns += ns;
            return;
        }
    }
    /* Before a request nobody waits for that many, and what a thread without any has waited for is never told. */
    if (waiter->in_request && waiter->blamed_count == BLAMED_MAX && waiter->unplaced_count % MERGE_EVERY == 0) merge_ended(waiter);
    if (waiter->blamed_count < BLAMED_MAX) {
        waiter->blamed[waiter->blamed_count++] = (struct blamed){slot, serial, ns};
        waiter->unplaced_count = 0;
    } else {
        waiter->unplaced_count++;
        waiter->unplaced_ns += ns;
    }
}

/* The first hold that ended after that instant, of those from `low` to `high`; `high` when none did. */
static uint64_t hold_at(uint64_t at_ns, uint64_t low, uint64_t high)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (ring[middle % RING].end_ns <= at_ns) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The thread waited from `ready` until now. A hold's share reaches back to the end of the hold before it, as the way from
 * one to the other is the scheduler's. What of the wait was garbage collection is charged to that.
 *
 * Up to EXACT_MAX holds are charged each with its share. More than that, and all is charged to the one that held the GVL at
 * an instant taken at random: right in the mean, and as cheap with 32 threads as with 9. Contract: RESUMED, own thread. */
void pt_blame_wait(struct slot *waiter, uint64_t now_ns)
{
    uint64_t ready_ns = waiter->ready.at_ns, wait_ns = now_ns - ready_ns;
    uint64_t gc_ns = pt_gc_clock_ns(now_ns) - waiter->ready.gc_clock_ns;
    uint64_t newest = pt_blame_holds_count, oldest = waiter->ready.holds_count, until_ns = now_ns;

    if (gc_ns > wait_ns) gc_ns = wait_ns;
    if (gc_ns) {
        charge(waiter, KNOWN, ENTRY_GC, gc_ns);
        waiter->total.gc_waited_ns += gc_ns;
    }
    if (newest - oldest > RING) oldest = newest - RING;
    while (oldest < newest && ring[oldest % RING].end_ns <= ready_ns) oldest++; /* the count was taken a moment before */
    if (oldest == newest) return; /* nobody held it since */
    if (newest - oldest > EXACT_MAX) {
        uint64_t at = hold_at(ready_ns + random_below(&random_state, wait_ns), oldest, newest);
        const struct hold *hold = &ring[(at < newest ? at : newest - 1) % RING]; /* since the last one: the way to us */
        charge(waiter, hold->slot, hold->serial, wait_ns - gc_ns);
        return;
    }
    for (uint64_t i = newest; i-- > oldest;) {
        const struct hold *hold = &ring[i % RING];
        uint64_t from_ns = i == oldest ? ready_ns : ring[(i - 1) % RING].end_ns;
        uint64_t gc_from_ns = i == oldest ? waiter->ready.gc_clock_ns : ring[(i - 1) % RING].gc_clock_ns;
        uint64_t hold_gc_ns = hold->gc_clock_ns > gc_from_ns ? hold->gc_clock_ns - gc_from_ns : 0;
        uint64_t ns = until_ns - from_ns;
        charge(waiter, hold->slot, hold->serial, ns > hold_gc_ns ? ns - hold_gc_ns : 0);
        until_ns = from_ns;
    }
}

static void leave_pending(struct slot *holder, uint32_t waiter_entry, uint64_t ns)
{
    for (uint32_t i = 0; i < holder->pending_count; i++) {
        if (holder->pending[i].entry == waiter_entry) {
            holder->pending[i].ns += ns;
            return;
        }
    }
    if (holder->pending_count < PENDING_MAX) {
        holder->pending[holder->pending_count++] = (struct pending){waiter_entry, ns};
    } else {
        pt_ledger_blame(waiter_entry, ENTRY_OTHER, ns);
    }
}

/* The request of this slot was one of `entry`: its waits are charged to those who held the GVL.
 * Contract: own thread, GVL held, ordinary Ruby code. */
void pt_blame_settle(struct slot *slot, uint32_t entry)
{
    for (uint32_t i = 0; i < slot->blamed_count; i++) {
        const struct blamed *blamed = &slot->blamed[i];
        uint32_t holder_entry = blamed->slot == KNOWN ? blamed->serial : entry_of(blamed->slot, blamed->serial);

        if (holder_entry == ENTRY_NONE) leave_pending(&pt_slots[blamed->slot], entry, blamed->ns);
        else pt_ledger_blame(entry, holder_entry, blamed->ns);
    }
    if (slot->unplaced_ns) pt_ledger_blame(entry, ENTRY_OTHER, slot->unplaced_ns);
}

/* The slot's window turns out to have been one of `entry`. Contract: own thread, GVL held, also in RESUMED. */
void pt_blame_window_ends(struct slot *slot, uint32_t entry)
{
    slot->history[slot->serial % HISTORY_MAX] = (struct past){slot->serial, entry};
    for (uint32_t i = 0; i < slot->pending_count; i++) pt_ledger_blame(slot->pending[i].entry, entry, slot->pending[i].ns);
    slot->pending_count = 0;
}
