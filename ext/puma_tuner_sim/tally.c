/* Counts answers: first those of the warm-up, whose only use is to fill the queues. */
#include "sim.h"

/* Of the connection's request, for each lock. */
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

    totals->latency += latency_ns;
    totals->client += latency_ns - inside_ns;
    totals->queue += connection->queue_ns;
    totals->gvl_wait += connection->gvl_wait_ns;
    totals->cpu += connection->cpu_ns;
    totals->gc += connection->gc_ns;
    totals->preempted += connection->held_ns - connection->cpu_ns + waited_ns[WAIT_COMPUTE];
    totals->io += waited_ns[WAIT_IO];
    totals->lock += waited_ns[WAIT_LOCK] + waited_ns[WAIT_POOL];
    totals->sleep += waited_ns[WAIT_SLEEP];
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
    tally->latencies[tally->count++] = sim->now_ns - connection->intended_ns;
    tally->worker_counts[connection->worker]++;
    add(&tally->totals, connection, sim->now_ns);
    if (sim->plan->locks_count) add_lock_waits(sim, connection);
    tally->ended_ns = sim->now_ns;
    tally->totals.server_cpu = sim->server_cpu_ns - tally->began_server_cpu_ns;
}
