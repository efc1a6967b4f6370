/* Blame: who held the GVL while a thread waited for it.
 *
 * Each hold leaves a record in a ring: when it ended, and which window of which slot it was. A thread that has waited
 * walks back over the holds since it became ready, a few in practice (the queue for the GVL is first come, first
 * served), and charges each. Which endpoint a window belongs to is known only when its request ends: until then the
 * charge waits in the holder's slot. */
#include "ledger.h"
#include <string.h>

#define RING 1024
/* Enough for any wait in a pool of that many threads. What is older than that is charged to the oldest seen. */
#define WALK_MAX 40

struct hold { uint64_t end_ns, gc_clock_ns; uint32_t slot, serial; };

static struct hold ring[RING];
static uint64_t holds_count;

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

/* The thread waited from `ready` until now. A hold's share reaches back to the end of the hold before it; what of it was
 * the garbage collector's is charged to that. Contract: RESUMED, own thread. */
void pt_blame_wait(struct slot *waiter, uint64_t now_ns)
{
    uint64_t until_ns = now_ns, gc_until_ns = pt_gc_clock_ns(now_ns), gc_ns = 0;
    uint64_t ready_ns = waiter->ready.at_ns;
    uint64_t oldest = holds_count > RING ? holds_count - RING : 0;

    for (uint64_t i = holds_count, walked = 0; i > oldest && walked < WALK_MAX; walked++) {
        const struct hold *hold = &ring[--i % RING];
        bool last = i == oldest || walked == WALK_MAX - 1;
        const struct hold *before = last ? NULL : &ring[(i - 1) % RING];
        uint64_t from_ns, gc_from_ns, hold_gc_ns;

        if (hold->end_ns <= ready_ns) {
            /* Nobody held it since: the rest was the way through the scheduler. */
            break;
        }
        last = last || before->end_ns <= ready_ns;
        from_ns = last ? ready_ns : before->end_ns;
        gc_from_ns = last ? waiter->ready.gc_clock_ns : before->gc_clock_ns;
        hold_gc_ns = gc_until_ns > gc_from_ns ? gc_until_ns - gc_from_ns : 0;
        if (hold_gc_ns > until_ns - from_ns) hold_gc_ns = until_ns - from_ns;
        charge(waiter, hold->slot, hold->serial, until_ns - from_ns - hold_gc_ns);
        gc_ns += hold_gc_ns;
        until_ns = from_ns;
        gc_until_ns = gc_from_ns;
        if (last) break;
    }
    if (gc_ns) {
        charge(waiter, GC_SLOT, 0, gc_ns);
        waiter->total.gc_waited_ns += gc_ns;
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
