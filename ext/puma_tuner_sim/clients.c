/* Decides who sends what when, as a load generator of one thread, which ours is. While it works it takes a share of the cores, and it serves one
 * connection at a time; asleep, it has to be woken. Or clients elsewhere, who take nothing.
 *
 * Latency counts from the intended instant: in a closed loop the moment at which the connection's last response had been
 * read, and the think time over; in an open one the arrival, whether or not the generator or a connection was free. */
#include "sim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A task of the load generator for a connection, coded into one number. */
#define RECEIVE 0u
#define SEND 1u

static void draw_request(struct sim *sim, struct connection *connection, int64_t intended_ns)
{
    const struct plan *plan = sim->plan;
    double point = random_fraction(&sim->picks_random);
    int64_t i = 0;

    while (i < plan->endpoints_count - 1 && point >= plan->endpoints[i].upper_ratio) i++;
    connection->endpoint = (uint32_t)i;
    connection->demand = (uint32_t)plan->picks[plan->endpoints[i].first_pick + (int64_t)random_below(&sim->picks_random, (uint64_t)plan->endpoints[i].picks_count)];
    connection->intended_ns = intended_ns;
    connection->queue_ns = connection->gvl_wait_ns = connection->on_core_ns = connection->gc_ns = connection->held_ns = 0;
    connection->slices = 0;
    for (int kind = 0; kind < PARTS; kind++) connection->waited_ns[kind] = 0;
    if (plan->locks_count) memset(tally_lock_waits(sim, connection), 0, (size_t)plan->locks_count * sizeof(struct lock_waits));
    sim->tally.in_flight++;
}

static void work(struct sim *sim)
{
    struct client *client = &sim->client;

    if (client->busy || !client->items.count) return;
    uint32_t item = numbers_shift(&client->items);
    client->connection = item >> 1;
    client->sending = item & 1;
    client->busy = true;
    cores_start(sim, &client->task, client->sending ? sim->plan->send_cpu_ns : sim->plan->receive_cpu_ns);
}

static void arrive_at_server(struct sim *sim, uint32_t index);
static void received(struct sim *sim, uint32_t index);

/* A generator on another machine takes no time of these cores. */
static bool elsewhere(const struct plan *plan) { return plan->send_cpu_ns + plan->receive_cpu_ns == 0; }

static void wake(struct sim *sim)
{
    struct client *client = &sim->client;

    if (client->busy || client->waking) return;
    client->waking = true;
    queue_add(sim, wakeup_ns(sim, client->asleep_since_ns), CLIENT_WOKE, 0, 0);
}

void clients_woke(struct sim *sim)
{
    sim->client.waking = false;
    work(sim);
}

static void send_request(struct sim *sim, uint32_t index)
{
    if (elsewhere(sim->plan)) { arrive_at_server(sim, index); return; }
    numbers_push(sim, &sim->client.items, index << 1 | SEND);
    wake(sim);
}

void clients_answered(struct sim *sim, uint32_t index)
{
    if (elsewhere(sim->plan)) { received(sim, index); return; }
    numbers_push(sim, &sim->client.items, index << 1 | RECEIVE);
    wake(sim);
}

void clients_burst_ended(struct sim *sim)
{
    struct client *client = &sim->client;

    client->busy = false;
    client->asleep_since_ns = sim->now_ns; /* unless there is more */
    if (client->sending) arrive_at_server(sim, client->connection);
    else received(sim, client->connection);
    work(sim);
}

static void arrive_at_server(struct sim *sim, uint32_t index)
{
    struct connection *connection = &sim->connections[index];

    connection->ready_ns = sim->now_ns;
    connection->data_ready = true;
    if (!connection->open) {
        connection->open = connection->fresh = true;
        connection->closing = false;
        connection->worker = -1;
        connection->served_count = connection->inline_count = 0;
        numbers_push(sim, &sim->backlog, index);
        for (int64_t i = 0; i < sim->plan->workers_count; i++) acceptor_notice(sim, &sim->workers[i]);
    } else if (connection->registered) {
        reactor_notice(sim, &sim->workers[connection->worker], index);
    } else if (connection->parked_thread >= 0) {
        const struct thread *thread = &sim->workers[connection->worker].pool[connection->parked_thread];
        queue_add(sim, wakeup_ns(sim, thread->asleep_since_ns), UNPARKED, thread->worker * pool_size(sim->plan) + thread->index, thread->generation);
    }
}

static bool take_due(struct sim *sim, int64_t *intended_ns)
{
    if (!sim->due.count) return false;
    *intended_ns = sim->due.intended[sim->due.first];
    sim->due.first = (sim->due.first + 1) % sim->due.room;
    sim->due.count--;
    sim->tally.in_flight--; /* until it is drawn */
    return true;
}

/* The connection can take its next request. */
static void free_again(struct sim *sim, uint32_t index)
{
    const struct plan *plan = sim->plan;
    int64_t intended_ns = sim->now_ns;

    if (plan->arrivals == CLOSED && plan->think_ns) {
        queue_add(sim, plan->think_ns, THINK_ENDED, index, 0);
    } else if (plan->arrivals == CLOSED || take_due(sim, &intended_ns)) {
        draw_request(sim, &sim->connections[index], intended_ns);
        /* It does so without another turn of its loop. */
        if (elsewhere(plan)) arrive_at_server(sim, index);
        else numbers_push_front(sim, &sim->client.items, index << 1 | SEND);
    } else {
        numbers_push(sim, sim->connections[index].open ? &sim->idle_connections : &sim->closed_connections, index);
    }
}

static void received(struct sim *sim, uint32_t index)
{
    struct connection *connection = &sim->connections[index];

    tally_count(sim, connection);
    if (connection->closing) connection->open = false;
    free_again(sim, index);
}

void clients_think_ended(struct sim *sim, uint32_t index)
{
    draw_request(sim, &sim->connections[index], sim->now_ns);
    send_request(sim, index);
}

static double gap_ns(struct sim *sim, double mean_ns) { return -log(1.0 - random_fraction(&sim->arrivals_random)) * mean_ns; }

static int64_t rounded(double ns) { return (int64_t)(ns + 0.5); }

/* Groups come by chance; how many are in one is geometric. */
static int64_t next_of_group(struct sim *sim)
{
    const struct plan *plan = sim->plan;

    if (sim->group_left > 0) { sim->group_left--; return 0; }
    if (plan->group_count > 1.0) sim->group_left = (int64_t)(log(1.0 - random_fraction(&sim->arrivals_random)) / log(1.0 - 1.0 / plan->group_count));
    return rounded(gap_ns(sim, plan->gap_ns * plan->group_count));
}

static int64_t next_replayed(struct sim *sim)
{
    const struct plan *plan = sim->plan;
    int64_t last = plan->times_count - 1, at = sim->replayed_at;

    sim->replayed_at = at == last ? 0 : at + 1;
    return at == last ? plan->times_ns[last] - plan->times_ns[last - 1] : plan->times_ns[at + 1] - plan->times_ns[at];
}

static int64_t next_gap_ns(struct sim *sim)
{
    switch (sim->plan->arrivals) {
    case EVEN: return rounded(sim->plan->gap_ns);
    case BURSTY: return next_of_group(sim);
    case REPLAYED: return next_replayed(sim);
    default: return rounded(gap_ns(sim, sim->plan->gap_ns));
    }
}

static void hold_back(struct sim *sim, int64_t intended_ns)
{
    if (sim->due.count == sim->due.room) {
        size_t room = sim->due.room ? sim->due.room * 2 : 1024;
        int64_t *items = malloc(room * sizeof(*items));
        if (!items) { sim->failed = true; return; }
        for (size_t i = 0; i < sim->due.count; i++) items[i] = sim->due.intended[(sim->due.first + i) % sim->due.room];
        free(sim->due.intended);
        sim->due.intended = items;
        sim->due.first = 0;
        sim->due.room = room;
    }
    sim->due.intended[(sim->due.first + sim->due.count++) % sim->due.room] = intended_ns;
    sim->tally.in_flight++; /* due, and not answered: a queue that grows here grows, too */
}

void clients_arrival(struct sim *sim)
{
    struct numbers *from = sim->idle_connections.count ? &sim->idle_connections : &sim->closed_connections;

    if (from->count) {
        uint32_t index = numbers_shift(from);
        draw_request(sim, &sim->connections[index], sim->now_ns);
        send_request(sim, index);
    } else {
        hold_back(sim, sim->now_ns);
    }
    queue_add(sim, next_gap_ns(sim), ARRIVAL, 0, 0);
}

/* Those that think begin spread over one time of thinking. */
void clients_begin(struct sim *sim)
{
    const struct plan *plan = sim->plan;

    if (plan->arrivals != CLOSED) {
        for (int64_t i = 0; i < plan->connections_count; i++) numbers_push(sim, &sim->closed_connections, (uint32_t)i);
        queue_add(sim, next_gap_ns(sim), ARRIVAL, 0, 0);
        return;
    }
    for (int64_t i = 0; i < plan->connections_count; i++) queue_add(sim, plan->think_ns / plan->connections_count * i, THINK_ENDED, (uint32_t)i, 0);
}
