/* Set-up, loop and end of a simulation; and threads of any kind. */
#include "sim.h"
#include <stdlib.h>
#include <string.h>

/* Looked at this often for a wish to stop, and whether there were too many. */
#define STOP_CHECK_EVENTS 65536u

void thread_run(struct sim *sim, struct thread *thread)
{
    if (thread->kind == POOL) pool_run(sim, thread);
    else if (thread->kind == ACCEPTOR) acceptor_run(sim, thread);
    else if (thread->kind == REACTOR) reactor_run(sim, thread);
    else thread_compute(sim, thread);
}

/* The thread computes what is left of its burst, and what it costs that another thread had its core's caches meanwhile. */
void thread_compute(struct sim *sim, struct thread *thread)
{
    thread->began_ns = sim->now_ns;
    thread->left_ns += thread->switch_ns;
    thread->switch_ns = 0;
    cores_start(sim, &thread->task, thread->left_ns);
}

/* An acceptor or a reactor, which sleeps in a select. */
void thread_wake(struct sim *sim, struct thread *thread, enum event_kind kind)
{
    if (thread->state != ASLEEP) return;
    thread->state = WAKING;
    queue_add(sim, wakeup_ns(sim, thread->asleep_since_ns), kind, thread->worker, 0);
}

/* The cost of a burst so far goes to its request. */
static void account(struct sim *sim, struct thread *thread, int64_t cpu_ns)
{
    sim->server_cpu_ns += cpu_ns;
    if (thread->kind == POOL) sim->workers[thread->worker].computed_ns = sim->now_ns;
    if (thread->kind == POOL && thread->state == BURST) {
        struct connection *connection = &sim->connections[thread->connection];
        connection->on_core_ns += cpu_ns;
        connection->held_ns += sim->now_ns - thread->began_ns;
    }
}

int64_t thread_stop(struct sim *sim, struct thread *thread)
{
    int64_t left_ns = cores_stop(sim, &thread->task);
    account(sim, thread, thread->left_ns - left_ns);
    return left_ns;
}

static void computed(struct sim *sim, struct thread *thread)
{
    if (thread->kind == POOL && thread->state == COMPUTING) {
        struct connection *connection = &sim->connections[thread->connection];
        sim->workers[thread->worker].computed_ns = sim->now_ns;
        sim->server_cpu_ns += thread->piece->wait_ns;
        connection->on_core_ns += thread->piece->wait_ns;
    } else if (thread->kind == POOL && thread->state == WAITING) {
        sim->server_cpu_ns += thread->left_ns;
    } else {
        account(sim, thread, thread->left_ns);
        if (thread->kind == POOL && thread->state == BURST) sim->connections[thread->connection].gc_ns += thread->gc_ns;
    }
}

static void burst_ended(struct sim *sim, struct task *task)
{
    struct thread *thread = (struct thread *)task;

    if (task->kind == CLIENT_TASK) { clients_burst_ended(sim); return; }
    if (task->kind == HAND_OVER_TASK) { gvl_hand_over_ended(sim, task); return; }
    computed(sim, thread);
    if (thread->kind == POOL) pool_burst_ended(sim, thread);
    else if (thread->kind == ACCEPTOR) acceptor_burst_ended(sim, thread);
    else if (thread->kind == REACTOR) reactor_burst_ended(sim, thread);
    else background_burst_ended(sim, thread);
}

static struct thread *thread_of(struct sim *sim, uint32_t number)
{
    uint32_t pool = pool_size(sim->plan);
    return &sim->workers[number / pool].pool[number % pool];
}

static struct thread *background_of(struct sim *sim, uint32_t number)
{
    uint32_t each = (uint32_t)sim->plan->background_count;
    return &sim->workers[number / each].background[number % each];
}

static void happen(struct sim *sim, const struct event *event)
{
    switch (event->kind) {
    case TICK: gvl_tick(sim, event->subject, event->generation); break;
    case HANDED_OVER: gvl_handed_over(sim, event->subject, event->generation); break;
    case WAIT_ENDED: wait_ended(sim, thread_of(sim, event->subject)); break;
    case ARRIVAL: clients_arrival(sim); break;
    case THINK_ENDED: clients_think_ended(sim, event->subject); break;
    case CLIENT_WOKE: clients_woke(sim); break;
    case ACCEPTOR_WOKE: acceptor_woke(sim, &sim->workers[event->subject]); break;
    case ACCEPTOR_DELAYED: acceptor_delayed(sim, &sim->workers[event->subject], event->generation); break;
    case REACTOR_WOKE: reactor_woke(sim, &sim->workers[event->subject]); break;
    case PARK_ENDED: pool_park_ended(sim, thread_of(sim, event->subject), event->generation, true); break;
    case UNPARKED: pool_park_ended(sim, thread_of(sim, event->subject), event->generation, false); break;
    case QUOTA_RENEWED: cores_renew_quota(sim); break;
    case LOCK_WOKE: lock_woke(sim, thread_of(sim, event->subject)); break;
    case BACKGROUND_WOKE: background_woke(sim, background_of(sim, event->subject)); break;
    case CORE_FREE: displaced_core_free(sim, &sim->workers[event->subject]); break;
    }
}

/* FNV-1a over what happened and when: two runs that agree in it took the same steps. */
static void note(struct sim *sim, uint32_t kind)
{
    sim->events_count++;
    sim->hash = (sim->hash ^ (uint64_t)sim->now_ns) * 0x100000001b3u;
    sim->hash = (sim->hash ^ kind) * 0x100000001b3u;
}

/* Moves to what happens next. Of a burst's end and an event at the same time the burst's end comes first: a thread that is
 * just done is not interrupted. */
static void step(struct sim *sim)
{
    int64_t event_ns = queue_due_ns(&sim->queue), burst_ns = cores_due_ns(sim);

    if (burst_ns <= event_ns) {
        sim->now_ns = burst_ns;
        struct task *task = cores_finish(sim);
        note(sim, task ? BURST_ENDED : QUOTA_SPENT);
        if (task) burst_ended(sim, task);
    } else {
        struct event event = queue_take(&sim->queue);
        sim->now_ns = event.at_ns;
        note(sim, event.kind);
        happen(sim, &event);
    }
}

static void name(struct thread *thread, enum thread_kind kind, int state, uint32_t worker, uint32_t index)
{
    thread->kind = kind;
    thread->state = state;
    thread->worker = worker;
    thread->index = index;
    thread->connection = -1;
    thread->waits_for = -1;
}

/* For no items it returns none, which is no want of memory. */
static void *allocate(struct sim *sim, size_t count, size_t size)
{
    void *items = count ? calloc(count, size) : NULL;
    if (count && !items) sim->failed = true;
    return items;
}

static void set_up_worker(struct sim *sim, uint32_t number)
{
    struct worker *worker = &sim->workers[number];
    size_t locks_count = (size_t)sim->plan->locks_count, background_count = (size_t)sim->plan->background_count;

    worker->pool = allocate(sim, pool_size(sim->plan), sizeof(*worker->pool));
    worker->locks = allocate(sim, locks_count, sizeof(*worker->locks));
    worker->depths = allocate(sim, pool_size(sim->plan) * locks_count, sizeof(*worker->depths));
    worker->background = allocate(sim, background_count, sizeof(*worker->background));
    if (sim->failed) return;
    worker->gvl.hand_over.kind = HAND_OVER_TASK;
    name(&worker->acceptor, ACCEPTOR, ASLEEP, number, 0);
    name(&worker->reactor, REACTOR, ASLEEP, number, 0);
    for (uint32_t i = 0; i < pool_size(sim->plan); i++) {
        bool there = i < sim->plan->threads_min;
        name(&worker->pool[i], POOL, there ? IDLE : GONE, number, i);
        if (there) numbers_push(sim, &worker->idle, i);
    }
    for (uint32_t i = 0; i < background_count; i++) name(&worker->background[i], BACKGROUND, ASLEEP, number, i);
    worker->spawned = worker->waiting = sim->plan->threads_min;
}

/* So far from the others' that no seed makes it one of theirs. */
#define BACKGROUND_PURPOSE (1ull << 40)
#define GC_PURPOSE (1ull << 41)

static uint64_t stream(const struct plan *plan, uint64_t purpose)
{
    return ((uint64_t)plan->seed * 3 + purpose) * 0x9e3779b97f4a7c15u + 1;
}

static void set_up(struct sim *sim)
{
    const struct plan *plan = sim->plan;

    sim->workers = allocate(sim, (size_t)plan->workers_count, sizeof(*sim->workers));
    sim->connections = allocate(sim, (size_t)plan->connections_count, sizeof(*sim->connections));
    sim->lock_waits = allocate(sim, (size_t)(plan->connections_count * plan->locks_count), sizeof(*sim->lock_waits));
    sim->tally.latencies = allocate(sim, (size_t)plan->requests_count, sizeof(int64_t));
    sim->tally.endpoints = allocate(sim, (size_t)plan->requests_count, sizeof(int32_t));
    sim->tally.worker_counts = allocate(sim, (size_t)plan->workers_count, sizeof(int64_t));
    sim->tally.lock_waits = allocate(sim, (size_t)plan->locks_count, sizeof(*sim->tally.lock_waits));
    for (int64_t i = 0; i < plan->workers_count && !sim->failed; i++) set_up_worker(sim, (uint32_t)i);
    if (sim->failed) return;
    for (int64_t i = 0; i < plan->connections_count; i++) {
        sim->connections[i].worker = sim->connections[i].parked_thread = -1;
    }
    sim->arrivals_random = stream(plan, 0);
    sim->picks_random = stream(plan, 1);
    sim->wakeups_random = stream(plan, 2);
    sim->background_random = stream(plan, BACKGROUND_PURPOSE);
    sim->gc_random = stream(plan, GC_PURPOSE);
    for (int64_t i = 0; i < plan->workers_count; i++) worker_plan_gc(sim, &sim->workers[i]);
    sim->tally.left_to_warm_up = plan->warm_up_count;
    sim->client.task.kind = CLIENT_TASK;
    sim->hash = 0xcbf29ce484222325u;
}

bool sim_run(struct sim *sim, const struct plan *plan, const bool *stop)
{
    memset(sim, 0, sizeof(*sim));
    sim->plan = plan;
    set_up(sim);
    if (sim->failed) return false;
    if (plan->quota_ns) cores_renew_quota(sim);
    clients_begin(sim);
    background_begin(sim);
    while (!tally_full(sim) && !sim->failed && !sim->deadlocked) {
        step(sim);
        if (sim->events_count % STOP_CHECK_EVENTS) continue;
        if (sim->events_count >= (uint64_t)plan->steps_max || __atomic_load_n(stop, __ATOMIC_RELAXED)) break;
    }
    return !sim->failed;
}

void sim_free(struct sim *sim)
{
    for (int64_t i = 0; sim->workers && i < sim->plan->workers_count; i++) {
        struct worker *worker = &sim->workers[i];
        for (int64_t lock = 0; worker->locks && lock < sim->plan->locks_count; lock++) free(worker->locks[lock].line.items);
        free(worker->pool);
        free(worker->locks);
        free(worker->depths);
        free(worker->background);
        free(worker->displaced.items);
        free(worker->idle.items);
        free(worker->todo.items);
        free(worker->ready.items);
        free(worker->batch.items);
        free(worker->input.items);
    }
    for (int i = 0; i < PARTS; i++) free(sim->stations[i].line.items);
    free(sim->workers);
    free(sim->connections);
    free(sim->lock_waits);
    free(sim->search.items);
    free(sim->queue.events);
    free(sim->client.items.items);
    free(sim->backlog.items);
    free(sim->idle_connections.items);
    free(sim->closed_connections.items);
    free(sim->due.intended);
    free(sim->tally.latencies);
    free(sim->tally.endpoints);
    free(sim->tally.worker_counts);
    free(sim->tally.lock_waits);
    memset(sim, 0, sizeof(*sim)); /* it may be freed again, before it is run again */
}
