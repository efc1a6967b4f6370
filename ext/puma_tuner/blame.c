/* Blame: who held the GVL while a thread waited for it.
 *
 * Each hold leaves a record in a ring: when it ended, and which window of which slot it was. A thread that has waited
 * charges those that ended since it became ready. Which endpoint a window belongs to is known only when its request
 * ends: until then the charge waits in the holder's slot. */
#include "ledger.h"
#include "random.h"
#include <string.h>

#define RING 1024
#define EXACT_MAX 4

struct hold { uint64_t end_ns, gc_clock_ns; uint32_t slot, serial; };

static struct hold ring[RING];
static uint64_t holds_count;
static uint64_t random_state = 0x9e3779b97f4a7c15u;

#define GC_SLOT UINT32_MAX

/* Contract: ordinary Ruby code. */
void pt_blame_start(void)
{
    holds_count = 0;
}

/* A hold ends. Contract: SUSPENDED, by the thread that has the GVL: one at a time. */
void pt_blame_hold(uint32_t slot, uint32_t serial, uint64_t end_ns, uint64_t gc_clock_ns)
{
    ring[holds_count++ % RING] = (struct hold){end_ns, gc_clock_ns, slot, serial};
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
    if (waiter->blamed_count < BLAMED_MAX) {
        waiter->blamed[waiter->blamed_count++] = (struct blamed){slot, serial, ns};
    } else {
        waiter->blamed[0].ns += ns; /* some holder of this window: with so many, none weighs much */
    }
}

/* The first hold that ended after that instant; holds_count when none did. Looks back in growing steps first: a wait is a
 * few tens of holds long, and the rest of the ring is not in the caches. */
static uint64_t hold_at(uint64_t at_ns, uint64_t oldest)
{
    uint64_t low = oldest, high = holds_count;

    for (uint64_t step = 8; high - oldest > step; step *= 2) {
        if (ring[(high - step) % RING].end_ns <= at_ns) {
            low = high - step + 1;
            break;
        }
        high -= step;
    }
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
 * an instant taken at random: right in the mean, and as cheap with 32 threads as with 5. Contract: RESUMED, own thread. */
void pt_blame_wait(struct slot *waiter, uint64_t now_ns)
{
    uint64_t ready_ns = waiter->ready.at_ns, wait_ns = now_ns - ready_ns;
    uint64_t gc_ns = pt_gc_clock_ns(now_ns) - waiter->ready.gc_clock_ns;
    uint64_t oldest = holds_count > RING ? holds_count - RING : 0;
    uint64_t newest = holds_count, until_ns = now_ns, exact = 0;

    if (gc_ns > wait_ns) gc_ns = wait_ns;
    if (gc_ns) {
        charge(waiter, GC_SLOT, 0, gc_ns);
        waiter->total.gc_waited_ns += gc_ns;
    }
    if (newest == oldest || ring[(newest - 1) % RING].end_ns <= ready_ns) return; /* nobody held it since */
    while (newest - exact > oldest && exact <= EXACT_MAX && ring[(newest - exact - 1) % RING].end_ns > ready_ns) exact++;
    if (exact > EXACT_MAX) {
        uint64_t at = hold_at(ready_ns + random_below(&random_state, wait_ns), oldest);
        const struct hold *hold = &ring[(at < newest ? at : newest - 1) % RING]; /* since the last one: the way to us */
        charge(waiter, hold->slot, hold->serial, wait_ns - gc_ns);
        return;
    }
    for (uint64_t i = 0; i < exact; i++) {
        const struct hold *hold = &ring[(newest - i - 1) % RING];
        bool first = i == exact - 1;
        uint64_t from_ns = first ? ready_ns : ring[(newest - i - 2) % RING].end_ns;
        uint64_t gc_from_ns = first ? waiter->ready.gc_clock_ns : ring[(newest - i - 2) % RING].gc_clock_ns;
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
        struct slot *holder;
        const struct past *past;

        if (blamed->slot == GC_SLOT) {
            pt_ledger_blame(entry, ENTRY_GC, blamed->ns);
            continue;
        }
        holder = &pt_slots[blamed->slot];
        past = &holder->history[blamed->serial % HISTORY_MAX];
        if (holder->serial == blamed->serial && holder->in_use) {
            if (holder->in_request || holder->serves_requests) leave_pending(holder, entry, blamed->ns);
            else pt_ledger_blame(entry, holder->entry, blamed->ns);
        } else {
            pt_ledger_blame(entry, past->serial == blamed->serial ? past->entry : ENTRY_OTHER, blamed->ns);
        }
    }
    slot->blamed_count = 0;
}

/* The slot's window turns out to have been one of `entry`. Contract: own thread, GVL held, also in RESUMED. */
void pt_blame_window_ends(struct slot *slot, uint32_t entry)
{
    slot->history[slot->serial % HISTORY_MAX] = (struct past){slot->serial, entry};
    for (uint32_t i = 0; i < slot->pending_count; i++) pt_ledger_blame(slot->pending[i].entry, entry, slot->pending[i].ns);
    slot->pending_count = 0;
}
