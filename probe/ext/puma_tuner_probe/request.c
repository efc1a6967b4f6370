/* A request on its thread. Its window opens when the thread is woken for it (before Puma hands it to anyone, and before the wait for the
 * GVL that follows). A thread that had no time to rest looks, after each response, whether the connection has another request, which
 * lets go of the GVL: the window of a request that it goes on with opens when it has looked; that of one that it takes from Puma's list
 * when it begins, as what the thread waited for before is no time of a request that lay in the list. A look may take as long as a rest,
 * when the kernel runs the thread that has the GVL next on the same core, so a thread that takes from the list has rested only where it
 * waited for the list. What a client sent only after a thread had taken its connection, as without Puma's reactor, lay in no list: the
 * thread goes on with it (Probe::Puma::Stamps). A window closes when the response is written; then, once, all goes into the ledger. */
#include "slot.h"
#include <string.h>

/* A request is "unaccounted" when its parts differ from its wall time by more than one in so many: see judge. */
#define UNACCOUNTED_SHARE 100

/* The next window opens while the thread has the GVL: what it held so far was this one's, what follows is the next one's.
 * Contract: own thread, GVL held, its totals up to now, ordinary Ruby code. */
static void next_window(struct slot *slot)
{
    pt_blame_hold(slot, slot->since_ns);
    pt_window_open(slot, slot->since_ns);
}

/* What the thread did since its last request was Puma's business, and the next one begins here, or later.
 * Contract: own thread, GVL held, also in RESUMED. */
static void open_after_puma(struct slot *slot, uint64_t now_ns)
{
    pt_blame_window_ends(slot, slot->serves_requests ? ENTRY_PUMA : slot->entry);
    pt_window_open(slot, now_ns);
}

/* The thread has rested, and is woken for a request. Contract: RESUMED. */
void pt_request_rest(struct slot *slot, uint64_t now_ns, enum rest rest)
{
    open_after_puma(slot, now_ns);
    if (rest > slot->rest) slot->rest = rest;
}

/* The thread has let go of the GVL between two requests and has not rested. Contract: RESUMED. */
void pt_request_look(struct slot *slot, uint64_t now_ns)
{
    if (slot->serves_requests && slot->rest == AT_WORK) open_after_puma(slot, now_ns);
}

/* An invariant, and no proof of any part: all of them are differences of the same stamps, so that they can miss the wall time only where
 * the CPU clock, the one foreign reading, is ahead of it. */
static void judge(struct closed *closed, uint64_t wall_ns)
{
    int64_t residual_ns = (int64_t)wall_ns;

    for (int i = SUM_QUEUE + 1; i < HISTOGRAMS; i++) residual_ns -= (int64_t)closed->sums[i];
    closed->unaccounted = (uint64_t)llabs(residual_ns) * UNACCOUNTED_SHARE > wall_ns;
    closed->sums[SUM_WALL] = wall_ns; /* by the clock, not by adding up */
}

/* Contract: own thread, GVL held. False when a request is under way already: then the outer call closes it. */
bool pt_request_begin(struct slot *slot, enum origin origin)
{
    uint64_t now_ns = clock_ns();

    if (slot->in_request) return false;
    pt_window_hold(slot, now_ns);
    /* What fibers of an earlier request left behind, which took turns in a scope or were abandoned in one. */
    slot->scope = PART_HELD;
    slot->in_checkout = false;
    if (origin == JOB || (origin == FROM_LIST && slot->serves_requests && slot->rest != IN_POOL)) {
        pt_blame_window_ends(slot, origin == JOB ? slot->entry : ENTRY_PUMA);
        next_window(slot);
    }
    if (origin != JOB && !slot->serves_requests) {
        slot->serves_requests = true;
        slot->introduced = false;
    }
    slot->in_request = true;
    if (slot->window_cpu_ns) {
        slot->begin_held_ns = 0;
        slot->begin_cpu_ns = slot->window_cpu_ns;
    } else {
        slot->begin_held_ns = slot->total.part_ns[PART_HELD] - slot->window_total.part_ns[PART_HELD];
        slot->begin_cpu_ns = thread_cpu_ns();
    }
    return true;
}

/* Recording is nobody's request: the time since the window closed, when the thread's CPU clock was `cpu_ns`, goes into no step, and the
 * next window opens. It was short, so it is taken to have been on a core. */
static void leave_out(struct slot *slot, uint64_t cpu_ns)
{
    uint64_t now_ns = clock_ns(), recording_ns = now_ns - slot->since_ns;

    slot->total.part_ns[PART_HELD] += recording_ns;
    slot->hold_ns += recording_ns;
    slot->since_ns = now_ns;
    next_window(slot);
    slot->rest = AT_WORK;
    slot->window_cpu_ns = cpu_ns + recording_ns;
}

/* Closes the window and adds it to the ledger as a request of `entry`; ENTRY_NONE discards it.
 * queued_ns: when Puma put it on its list, by our clock; 0 when it never did. before_puma_ns: spent before that.
 *
 * Contract: own thread, GVL held, ordinary Ruby code. False when no request was under way. */
bool pt_request_end(struct slot *slot, uint32_t entry, uint64_t queued_ns, uint64_t before_puma_ns, struct closed *closed)
{
    uint64_t cpu_ns, now_ns;

    if (!slot->in_request) return false;
    cpu_ns = thread_cpu_ns();
    now_ns = clock_ns();
    pt_window_hold(slot, now_ns);
    if (slot->hold_ns >= LONG_HOLD_NS) {
        slot->total.long_holds_count++;
        slot->hold_ns = 0; /* counted for this request, not again when it is released */
    }
    pt_close(&slot->total, &slot->window_total, (cpu_ns > slot->begin_cpu_ns ? cpu_ns - slot->begin_cpu_ns : 0) + slot->begin_held_ns, closed);
    judge(closed, now_ns - slot->window_since_ns);
    if (slot->lock_holds_count) pt_locks_window_ends(slot);
    closed->steps_count = slot->steps_count; /* they stay until the thread gives up the GVL */
    if (queued_ns && queued_ns < slot->window_since_ns) closed->sums[SUM_QUEUE] = slot->window_since_ns - queued_ns;
    closed->sums[SUM_WALL] += closed->sums[SUM_QUEUE];
    closed->sums[SUM_BEFORE_PUMA] = before_puma_ns;

    if (entry != ENTRY_NONE) {
        pt_ledger_add(entry, closed, true);
        pt_ledger_trace(entry, slot->steps, closed);
        pt_blame_settle(slot, entry);
        if (lanes_record()) pt_lanes_work(slot, entry, now_ns);
    }
    pt_blame_window_ends(slot, entry == ENTRY_NONE ? ENTRY_OTHER : entry);
    slot->in_request = false;
    pt_thread_settle(slot, cpu_ns);
    pt_threads_sweep(now_ns);
    leave_out(slot, cpu_ns);
    return true;
}
