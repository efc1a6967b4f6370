/* Counts responses: first those of the warm-up, whose only use is to fill the queues. */
#include "sim.h"

/* These are the waits of the connection's request, for each lock. */
struct lock_waits *tally_lock_waits(struct sim *sim, const struct connection *connection)
{
    return &sim->lock_waits[(connection - sim->connections) * sim->plan->locks_count];
}

static void add_lock_waits(struct sim *sim, const struct connection *connection)
{
    const struct lock_waits *waits = tally_lock_waits(sim, connection);

    for (int64_t i = 0; i < sim->plan->locks_count; i++) {
        sim->tally.lock_waits[i].count += waits[i].count;
        sim->tally.lock_waits[i].ns += waits[i].ns;
    }
}

static void add(struct totals *totals, const struct connection *connection, int64_t now_ns)
{
    const int64_t *waited_ns = connection->waited_ns;
    int64_t latency_ns = now_ns - connection->intended_ns, inside_ns = connection->answered_ns - connection->ready_ns;

    totals->sums[SUM_WALL] += latency_ns;
    totals->sums[SUM_CLIENT] += latency_ns - inside_ns;
    totals->sums[SUM_QUEUE] += connection->queue_ns;
    totals->sums[SUM_GVL_WAIT] += connection->gvl_wait_ns;
    totals->sums[SUM_CPU] += connection->on_core_ns - connection->gc_ns;
    totals->sums[SUM_GC] += connection->gc_ns;
    totals->sums[SUM_PREEMPTED] += connection->held_ns - connection->on_core_ns + waited_ns[PART_COMPUTE];
#define ADD(code, of, is) if ((is) & WAIT) totals->sums[SUM_##code] += waited_ns[PART_##code];
#define ADD_INSIDE(code, of, is) \
    totals->sums[SUM_##code] += waited_ns[PART_##code]; \
    totals->sums[SUM_##of] += waited_ns[PART_##code];
    PARTS_OF_TIME(PARTS_NOTHING, PARTS_NOTHING, ADD, ADD_INSIDE, PARTS_NOTHING)
#undef ADD
#undef ADD_INSIDE
    totals->slices += connection->slices;
}

void tally_count(struct sim *sim, const struct connection *connection)
{
    struct tally *tally = &sim->tally;

    tally->in_flight--;
    if (tally->left_to_warm_up > 0) {
        tally->left_to_warm_up--;
        tally->began_ns = sim->now_ns;
        tally->began_server_cpu_ns = sim->server_cpu_ns;
        tally->began_in_flight = tally->in_flight;
        return;
    }
    if (tally_full(sim)) return;
    tally->endpoints[tally->count] = (int32_t)connection->endpoint;
    tally->latencies[tally->count++] = sim->now_ns - connection->intended_ns;
    tally->worker_counts[connection->worker]++;
    add(&tally->totals, connection, sim->now_ns);
    if (sim->plan->locks_count) add_lock_waits(sim, connection);
    tally->ended_ns = sim->now_ns;
    tally->totals.server_cpu = sim->server_cpu_ns - tally->began_server_cpu_ns;
}
