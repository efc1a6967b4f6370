/* Lanes: what each thread did when, every change of state with its instant. Nobody needs that all the time, so it is recorded
 * for a short while (LANE_WANTED_MAX_NS at most) after somebody has ordered it, by a number in the ledger: the first request
 * that ends, or the next sweep, begins it. While nobody does, a hook reads one flag more.
 *
 * One record for each release of the GVL, left in RESUMED, when all of it is known. Records are only appended until there is
 * no room, and never written over, so that a reader needs no lock. (Rejected: a ring, as a reader could not tell which part of
 * it is being written; a record for each event, which takes three times the room and tells no more.) What is not over at the
 * end, such as a thread's rest or its wait, stands in the thread's lane.
 *
 * Contract of all that is called in hooks: nothing is allocated, nothing is locked, no system call; pages are there. */
#include "slot.h"
#include <string.h>

/* Longer would be another tool's business, and a wrong order's. */
#define LANE_WANTED_MAX_NS 60000000000u

/* Shorter stretches of garbage collection leave no record of their own: lazy sweeping makes up to 50,000 of them a second. */
#define LANE_COLLECTED_LEAST_NS 10000u

_Static_assert(SLOTS_MAX <= LANES_MAX, "each slot has a lane");

bool pt_lanes_recording;
static uint64_t followed_order;

static struct ledger_lane *lane_of(const struct slot *slot) { return &pt_ledger_lanes->lanes[slot - pt_slots]; }

static void stop(void) { __atomic_store_n(&pt_lanes_recording, false, __ATOMIC_RELAXED); }

/* In a forked child, and before another ledger is opened, which only tests do: a READY without the GVL may be at the old one
 * still. Async-signal-safe. */
void pt_lanes_forget(void) { stop(); }

/* Recording ends with the first event after its time; what is not over then stays as it was. */
static bool over(uint64_t now_ns)
{
    if (now_ns < pt_ledger_lanes->until_ns) return false;
    stop();
    return true;
}

/* ENDED comes from a thread that has the GVL no more, so that two may come at once. */
static void put(const struct slot *slot, struct ledger_lane_record record)
{
    uint64_t place = __atomic_fetch_add(&pt_ledger_lanes->records_count, 1, __ATOMIC_RELAXED);

    record.lane = (uint16_t)(slot - pt_slots);
    if (place < LANE_RECORDS_MAX) {
        pt_ledger_lanes->records[place] = record;
        return;
    }
    stop();
    if (place == LANE_RECORDS_MAX) pt_ledger_lanes->full_ns = record.until_ns;
}

/* Whether lanes are ordered that have not begun; then there is room for them, and they are to be named. Contract: GVL held,
 * ordinary Ruby code. */
bool pt_lanes_ordered(void)
{
    uint64_t wanted_ns, order = pt_ledger_lanes_order(&wanted_ns);

    if (order == 0 || order == followed_order) return false;
    followed_order = order;
    stop();
    return pt_ledger_make_lanes();
}

/* Begins to record. What threads do now is theirs since before. Contract: GVL held, ordinary Ruby code, so that all other
 * threads stand still, but for READY. */
void pt_lanes_begin(void)
{
    struct ledger_lanes *lanes = pt_ledger_lanes;
    uint64_t wanted_ns = 0;

    lanes->order = pt_ledger_lanes_order(&wanted_ns);
    lanes->began_at_ns = system_ns(CLOCK_MONOTONIC);
    lanes->began_ns = clock_ns();
    lanes->until_ns = lanes->began_ns + (wanted_ns < LANE_WANTED_MAX_NS ? wanted_ns : LANE_WANTED_MAX_NS);
    __atomic_store_n(&pt_lanes_recording, true, __ATOMIC_RELEASE);
    for (size_t i = 0; i < pt_slots_used_count; i++) {
        const struct slot *slot = &pt_slots[i];
        struct ledger_lane *lane = lane_of(slot);
        uint64_t ready_ns = __atomic_load_n(&slot->ready.at_ns, __ATOMIC_RELAXED);

        if (!slot->in_use || slot->state == UNKNOWN) continue;
        lane->state = slot->state == RUNNING ? LANE_RUNNING : LANE_RELEASED;
        lane->since_ns = slot->since_ns;
        lane->in_request = slot->in_request;
        lane->gc_ns = slot->total.gc_ns;
        if (ready_ns) __atomic_store_n(&lane->ready_ns, ready_ns, __ATOMIC_RELAXED);
    }
}

/* Contract: GVL held, ordinary Ruby code; lanes may not have begun yet. */
void pt_lanes_name(const struct slot *slot, enum kind kind, const char *name, size_t length)
{
    struct ledger_lane *lane;

    if (!pt_ledger_lanes) return;
    lane = lane_of(slot);
    if (length > LANE_NAME_BYTES - 1) length = LANE_NAME_BYTES - 1;
    memcpy(lane->name, name, length);
    lane->name[length] = 0;
    lane->kind = kind;
}

/* Contract: SUSPENDED, own thread. */
void pt_lanes_released(const struct slot *slot, uint64_t now_ns)
{
    struct ledger_lane *lane = lane_of(slot);

    if (over(now_ns)) return;
    lane->state = LANE_RELEASED;
    lane->since_ns = now_ns;
    lane->in_request = slot->in_request;
    __atomic_store_n(&lane->ready_ns, 0, __ATOMIC_RELAXED);
}

/* Contract: READY, any thread. */
void pt_lanes_ready(const struct slot *slot, uint64_t now_ns)
{
    if (!over(now_ns)) __atomic_store_n(&lane_of(slot)->ready_ns, now_ns, __ATOMIC_RELAXED);
}

static void takes_gvl(const struct slot *slot, uint64_t now_ns)
{
    struct ledger_lane *lane = lane_of(slot);

    lane->state = LANE_RUNNING;
    lane->since_ns = now_ns;
    lane->gc_ns = slot->total.gc_ns;
    __atomic_store_n(&lane->ready_ns, 0, __ATOMIC_RELAXED);
}

/* Contract: RESUMED, own thread, before the slot's stamps are those of the hold that begins. `part`: what the release was. */
void pt_lanes_resumed(const struct slot *slot, enum part part, uint64_t ready_ns, uint64_t now_ns)
{
    uint64_t gc_ns;

    if (over(now_ns)) return;
    gc_ns = slot->total.gc_ns - lane_of(slot)->gc_ns;
    put(slot, (struct ledger_lane_record){.kind = LANE_CYCLE, .part = (uint8_t)part,
        .number = gc_ns < UINT32_MAX ? (uint32_t)gc_ns : UINT32_MAX,
        .from_ns = slot->since_ns, .ready_ns = ready_ns, .until_ns = now_ns});
    if (pt_lanes_recording) takes_gvl(slot, now_ns);
}

/* A thread that has been seen for the first time. Contract: RESUMED, own thread. */
void pt_lanes_new(const struct slot *slot, uint64_t ready_ns, uint64_t now_ns)
{
    if (over(now_ns)) return;
    put(slot, (struct ledger_lane_record){.kind = LANE_NEW, .from_ns = ready_ns, .ready_ns = ready_ns, .until_ns = now_ns});
    if (pt_lanes_recording) takes_gvl(slot, now_ns);
}

/* Contract: EXITED, own thread, its slot still its own; without the GVL. */
void pt_lanes_ended(const struct slot *slot, uint64_t now_ns)
{
    struct ledger_lane *lane = lane_of(slot);

    if (over(now_ns)) return;
    put(slot, (struct ledger_lane_record){.kind = LANE_ENDED, .part = slot->state == RUNNING ? PART_HELD : PART_IDLE,
        .number = slot->introduced ? slot->entry : ENTRY_OTHER, .from_ns = slot->since_ns, .until_ns = now_ns});
    if (!pt_lanes_recording) return;
    lane->state = LANE_UNKNOWN;
    lane->kind = 0;
    lane->name[0] = 0;
}

/* Contract: the end of a garbage collection, inside the collector, GVL held. */
void pt_lanes_collected(const struct slot *slot, uint64_t from_ns, uint64_t now_ns)
{
    if (now_ns - from_ns < LANE_COLLECTED_LEAST_NS || over(now_ns)) return;
    put(slot, (struct ledger_lane_record){.kind = LANE_COLLECTED, .from_ns = from_ns, .until_ns = now_ns});
}

/* The slot's window ends, and was a request or a job of `entry`. Contract: own thread, GVL held, ordinary Ruby code. */
void pt_lanes_work(const struct slot *slot, uint32_t entry, uint64_t now_ns)
{
    if (over(now_ns)) return;
    put(slot, (struct ledger_lane_record){.kind = LANE_WORK, .number = entry, .from_ns = slot->window_since_ns, .until_ns = now_ns});
}
