/* The event loop: who sends what when. See load.h and loop.h. */
#include "loop.h"
#include "prompt.h"
#include "../shared/random.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Looked at this often for a wish to stop. */
#define STOP_CHECK_NS 100000000u
/* A refused connection must not be tried without end: a breath, then again. */
#define BREATH_NS 1000000u
/* Requests that wait for a connection, 128 MiB of them. Beyond that they are given up at once. */
#define WAITING_MAX 4194304
/* So many requests are sent before sockets are looked at again. */
#define ISSUE_TURN 256
/* At a closed loop's end, an app that gives no response for so many of its longest latencies gives none any more. */
#define DRAIN_LATENCIES 3

/* The gap to the next arrival. Poisson: exponential gaps. */
static double next_gap_ns(struct loop *loop)
{
    double mean_ns = 1e9 / loop->plan->rate_per_s;
    return loop->plan->mode == OPEN_EVEN ? mean_ns : -log(1.0 - random_fraction(&loop->random_state)) * mean_ns;
}

/* The next request of the order; one with a message for each row takes the next row. */
static struct choice next_choice(struct loop *loop)
{
    uint32_t request = loop->plan->order[loop->order_at++ % loop->plan->order_count];
    uint32_t messages_count = loop->plan->requests[request].messages_count;
    return (struct choice){request, messages_count > 1 ? (uint32_t)(loop->row++ % messages_count) : 0};
}

/* Open loop: a connection that can take a request now; NULL when all are busy. */
static struct connection *take_free(struct loop *loop)
{
    if (loop->idle_count) {
        uint32_t index = loop->idle[loop->idle_first];
        loop->idle_first = (loop->idle_first + 1) % loop->plan->connections_max;
        loop->idle_count--;
        return &loop->connections[index];
    }
    return loop->closed_count ? &loop->connections[loop->closed[--loop->closed_count]] : NULL;
}

static void think(struct loop *loop, struct connection *connection, uint64_t until_ns)
{
    if (connection->phase == IDLE) connection->phase = THINKING;
    if (!ring_push(&loop->thinking, (struct due){.ns = until_ns, .connection = index_of(loop, connection)})) {
        load_count_failure(loop, "no memory", 0);
    }
}

bool load_connect_later(struct loop *loop, struct connection *connection)
{
    if (loop->unconnected.count == 0) loop->connect_ns = now_ns() + BREATH_NS;
    return ring_push(&loop->unconnected, (struct due){.connection = index_of(loop, connection)});
}

/* One after the other, until one finds no room again: then none of the others would. */
static void connect_waiting(struct loop *loop, uint64_t now)
{
    if (loop->unconnected.count == 0 || now < loop->connect_ns) return;
    for (size_t left = loop->unconnected.count; left && loop->unconnected.count == left; left--) {
        load_connect(loop, &loop->connections[ring_shift(&loop->unconnected).connection]);
    }
    loop->connect_ns = now + BREATH_NS;
}

static void free_in_closed_loop(struct loop *loop, struct connection *connection, uint64_t now)
{
    uint64_t pause_ns = loop->plan->think_ns;

    if (now >= loop->end_ns) return;
    if (connection->phase == CLOSED && connection->served_count == 0 && pause_ns < BREATH_NS) pause_ns = BREATH_NS;
    if (pause_ns) think(loop, connection, now + pause_ns);
    else load_begin(loop, connection, next_choice(loop), now, false);
}

/* In an open loop it is not used at once: a server that refuses everything would have us call ourselves without end. */
void load_free_again(struct loop *loop, struct connection *connection, uint64_t now)
{
    if (loop->plan->mode == CLOSED_LOOP) return free_in_closed_loop(loop, connection, now);
    if (loop->plan->mode == SET_UP) return load_go_on_with_set_up(loop, connection, now);
    if (connection->phase == CLOSED) loop->closed[loop->closed_count++] = index_of(loop, connection);
    else loop->idle[(loop->idle_first + loop->idle_count++) % loop->plan->connections_max] = index_of(loop, connection);
}

static void settle(struct loop *loop, uint64_t now)
{
    loop->tally->settling_ns = now - loop->began_ns;
    loop->end_ns = now + loop->plan->duration_ns;
    load_forget_latencies(loop);
}

static bool settling(const struct loop *loop)
{
    return loop->plan->mode == CLOSED_LOOP && !loop->tally->settling_ns;
}

void load_meet(struct loop *loop, struct connection *connection, uint64_t now)
{
    if (connection->met || !settling(loop)) return;
    connection->met = true;
    if (--loop->tally->unmet_count == 0) settle(loop, now);
}

void load_forget_idle(struct loop *loop, struct connection *connection)
{
    size_t max = loop->plan->connections_max, kept = 0;

    if (!is_open(loop)) return;
    for (size_t i = 0; i < loop->idle_count; i++) {
        uint32_t index = loop->idle[(loop->idle_first + i) % max];
        if (index != index_of(loop, connection)) loop->idle[(loop->idle_first + kept++) % max] = index;
    }
    loop->idle_count = kept;
    loop->closed[loop->closed_count++] = index_of(loop, connection);
}

static void issue_closed(struct loop *loop, uint64_t now)
{
    while (loop->thinking.count && ring_first(&loop->thinking)->ns <= now && now < loop->end_ns) {
        struct connection *connection = &loop->connections[ring_shift(&loop->thinking).connection];
        load_begin(loop, connection, next_choice(loop), now, false);
    }
}

/* A request that is due and finds no connection. */
static void hold_back(struct loop *loop, struct choice choice)
{
    loop->tally->connection_wait_count++;
    if (loop->waiting.count >= WAITING_MAX || !ring_push(&loop->waiting, (struct due){.ns = loop->next_ns, .choice = choice})) {
        loop->tally->unanswered_count++;
    }
}

static void issue_waiting(struct loop *loop)
{
    struct connection *connection;

    for (int i = 0; i < ISSUE_TURN && loop->waiting.count && (connection = take_free(loop)); i++) {
        struct due due = ring_shift(&loop->waiting);
        load_begin(loop, connection, due.choice, due.ns, true);
    }
}

static void issue_open(struct loop *loop, uint64_t now)
{
    issue_waiting(loop);
    for (int i = 0; i < ISSUE_TURN && loop->next_ns <= now && loop->next_ns < loop->end_ns; i++) {
        struct connection *connection = loop->waiting.count ? NULL : take_free(loop);
        struct choice choice = next_choice(loop);

        loop->tally->intended_count++;
        if (connection) load_begin(loop, connection, choice, loop->next_ns, false);
        else hold_back(loop, choice);
        loop->next_at += next_gap_ns(loop);
        loop->next_ns = loop->began_ns + (uint64_t)loop->next_at;
        now = now_ns();
    }
}

/* Sends what is due by now. */
static void issue(struct loop *loop, uint64_t now)
{
    connect_waiting(loop, now);
    if (is_open(loop)) issue_open(loop, now);
    else issue_closed(loop, now);
}

static uint64_t earlier(uint64_t one, uint64_t other) { return one < other ? one : other; }
static uint64_t later(uint64_t one, uint64_t other) { return one < other ? other : one; }

/* Until then responses are waited for. What a slow app has in flight at a closed loop's end it answers one after the other: it is
 * waited for as long as it does so. An open loop's load is of its own making, and a queue that has grown under it may take any time. */
static uint64_t drained_by_ns(const struct loop *loop)
{
    const struct plan *plan = loop->plan;
    uint64_t patience_ns = later(plan->drain_ns, DRAIN_LATENCIES * loop->longest_ns);

    if (plan->mode != CLOSED_LOOP) return loop->end_ns + plan->drain_ns;
    return earlier(later(loop->end_ns, loop->last_response_ns) + patience_ns, loop->end_ns + later(plan->drain_ns, plan->drain_limit_ns));
}

/* What was due before the end is sent after it, if we had no core meanwhile. */
static bool over(const struct loop *loop, uint64_t now)
{
    bool is_due = is_open(loop) && loop->next_ns < loop->end_ns;

    if (now < loop->end_ns) return false;
    return (loop->in_flight_count == 0 && loop->waiting.count == 0 && !is_due) || now >= drained_by_ns(loop);
}

/* Returns when something is to be done that no socket tells of. */
static uint64_t next_instant(struct loop *loop, uint64_t now)
{
    uint64_t at = now + STOP_CHECK_NS;

    if (loop->waiting.count && (loop->idle_count || loop->closed_count)) return now;
    if (loop->unconnected.count) at = earlier(at, loop->connect_ns);
    if (is_open(loop) && loop->next_ns < loop->end_ns) at = earlier(at, loop->next_ns);
    if (loop->thinking.count && now < loop->end_ns) at = earlier(at, ring_first(&loop->thinking)->ns);
    return now < loop->end_ns ? earlier(at, loop->end_ns) : at;
}

/* A timer that rings too early is left alone: to be woken once in vain costs less than to set it in each turn. */
static void set_timer(struct loop *loop, uint64_t now)
{
    uint64_t at = next_instant(loop, now);

    if (loop->timer_ns > now && loop->timer_ns <= at) return;
    loop->timer_ns = at;
    events_ring_at(&loop->events, at);
}

static void turn(struct loop *loop)
{
    event told[EVENTS_MAX];
    int count = events_wait(&loop->events, told);

    for (int i = 0; i < count; i++) {
        if (event_of_socket(&told[i])) load_handle(loop, &told[i]);
        /* Responses must not keep waiting what is due. */
        if (is_open(loop)) issue_open(loop, now_ns());
    }
}

static bool set_up(struct loop *loop)
{
    uint32_t max = loop->plan->connections_max;

    if (!events_open(&loop->events)) return false;
    loop->connections = calloc(max, sizeof(*loop->connections));
    loop->idle = calloc(max, sizeof(*loop->idle));
    loop->closed = calloc(max, sizeof(*loop->closed));
    if (!loop->connections || !loop->idle || !loop->closed) return false;
    for (uint32_t i = 0; i < max; i++) {
        loop->connections[i].fd = -1;
        loop->closed[loop->closed_count++] = max - 1 - i;
    }
    be_prompt();
    return true;
}

static void tear_down(struct loop *loop)
{
    for (uint32_t i = 0; loop->connections && i < loop->plan->connections_max; i++) {
        if (loop->connections[i].fd >= 0) close(loop->connections[i].fd);
        free(loop->connections[i].response.body);
    }
    free(loop->connections);
    free(loop->idle);
    free(loop->closed);
    free(loop->waiting.items);
    free(loop->thinking.items);
    free(loop->unconnected.items);
    events_close(&loop->events);
}

static uint64_t own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* In a closed loop those that think begin spread over one time of thinking: else all would think in step. */
static void begin(struct loop *loop)
{
    const struct plan *plan = loop->plan;
    uint32_t max = plan->connections_max;

    loop->began_ns = now_ns();
    loop->end_ns = loop->began_ns + plan->duration_ns;
    if (plan->mode == SET_UP) return load_begin_set_up(loop);
    if (is_open(loop)) {
        loop->next_at = next_gap_ns(loop);
        loop->next_ns = loop->began_ns + (uint64_t)loop->next_at;
        return;
    }
    loop->end_ns += plan->settling_limit_ns;
    loop->tally->unmet_count = max;
    for (uint32_t i = 0; i < max; i++) {
        if (plan->think_ns) think(loop, &loop->connections[i], loop->began_ns + plan->think_ns / max * i);
        else load_begin(loop, &loop->connections[i], next_choice(loop), now_ns(), false);
    }
}

static void run(struct loop *loop, const bool *stop)
{
    uint64_t now, cpu_ns = own_cpu_ns();

    begin(loop);
    for (now = now_ns(); !over(loop, now) && !load_pointless(loop, now); now = now_ns()) {
        if ((loop->tally->stopped = __atomic_load_n(stop, __ATOMIC_RELAXED))) break;
        if (settling(loop) && now >= loop->began_ns + loop->plan->settling_limit_ns) settle(loop, now);
        issue(loop, now);
        set_timer(loop, now_ns());
        turn(loop);
    }
    loop->tally->began_ns = loop->began_ns;
    loop->tally->ended_ns = now;
    load_conclude(loop);
    loop->tally->unanswered_count += loop->in_flight_count + loop->waiting.count;
    loop->tally->cpu_ns = own_cpu_ns() - cpu_ns;
}

bool load_run(const struct plan *plan, struct tally *tally, const bool *stop)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    int error = 0;

    if (!loop) return false;
    loop->plan = plan;
    loop->tally = tally;
    loop->random_state = plan->seed * 0x9e3779b97f4a7c15u + 1;
    loop->reuse_state = plan->seed * 0x9e3779b97f4a7c15u + 2;
    if (set_up(loop)) run(loop, stop);
    else error = errno ? errno : ENOMEM;
    tear_down(loop);
    free(loop);
    errno = error;
    return error == 0;
}
