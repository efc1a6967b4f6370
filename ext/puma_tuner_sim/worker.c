/* A worker's pool threads, going through the bursts and waits of one request after the other, and its todo list (Puma source,
 * thread_pool.rb, server.rb, client.rb; what differs by version is in lib/puma_tuner/predict/rules.rb).
 *
 * The todo list has no bound. Adding to it starts a thread when fewer wait than there is to do and the maximum allows, and
 * signals the thread that has waited longest, which lines up for the GVL at once, as the signaller has it.
 * Threads whose request is marked as I/O-bound do not count against the maximum, up to max_io_threads of them (Puma 8).
 *
 * A fresh connection is looked at once before it is read (wait_readable(0)), and so is one whose response has been sent: each
 * look lets go of the GVL, even if there is nothing to wait for. Without that release a thread would serve request after
 * request while others wait for a whole slice. With queue_requests false there is no look and no next request: the thread reads
 * what there is, and all responses close their connection.
 *
 * Whoever has the GVL after another thread of its pool finds caches that are not its own, and computes longer for it: more so when
 * it was woken on an idle core, which has none of the process's at hand. That was measured, and is added to its next burst. So does
 * whoever comes back from a wait in which nobody of the worker computed: the core has gone to sleep, and others had its caches meanwhile,
 * or, on a virtual machine, the real core. */
#include "sim.h"

static struct worker *worker_of(struct sim *sim, const struct thread *thread) { return &sim->workers[thread->worker]; }

static uint32_t number_of(const struct sim *sim, const struct thread *thread) { return thread->worker * pool_size(sim->plan) + thread->index; }

static struct connection *connection_of(struct sim *sim, const struct thread *thread) { return &sim->connections[thread->connection]; }

/* Puma's own figure: threads that are busy, and what waits for one. */
int64_t pool_busy(const struct worker *worker) { return worker->spawned - worker->waiting + (int64_t)worker->todo.count; }

static bool may_spawn(const struct sim *sim, const struct worker *worker)
{
    int64_t extra = worker->io_bound > sim->plan->io_threads_max ? worker->io_bound - sim->plan->io_threads_max : 0;
    return worker->spawned - worker->io_bound < sim->plan->threads_max - extra;
}

static void spawn_if_needed(struct sim *sim, struct worker *worker)
{
    if (worker->waiting >= (int64_t)worker->todo.count || !may_spawn(sim, worker)) return;
    for (uint32_t i = 0; i < pool_size(sim->plan); i++) {
        struct thread *thread = &worker->pool[i];
        if (thread->state != GONE) continue;
        worker->spawned++;
        thread->state = TAKING;
        thread->signalled = false;
        gvl_want(sim, thread);
        return;
    }
}

void pool_add(struct sim *sim, struct worker *worker, uint32_t connection)
{
    numbers_push(sim, &worker->todo, connection);
    spawn_if_needed(sim, worker);
    if (worker->idle.count) {
        struct thread *thread = &worker->pool[numbers_shift(&worker->idle)];
        thread->state = TAKING;
        thread->signalled = true; /* and counted as waiting until it runs */
        gvl_want(sim, thread);
    }
}

static void go_idle(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);

    thread->state = IDLE;
    thread->connection = -1;
    thread->switch_ns = 0; /* nothing was computed that it could have slowed down */
    worker->waiting++;
    numbers_push(sim, &worker->idle, thread->index);
    acceptor_thread_free(sim, worker);
    gvl_release(sim, thread, false);
}

/* It counts for the threads of a pool, whose requests are alike: acceptor and reactor compute too little to cost a cache. */
static void notice_switch(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);

    if (worker->last_pool && worker->last_pool != thread) {
        thread->switch_ns = cores_others_busy(sim) ? sim->plan->switch_busy_cpu_ns : sim->plan->switch_cpu_ns;
    }
    worker->last_pool = thread;
}

/* The core has nothing of the process at hand, as nobody of its pool has computed for a while. A request that begins is left out: what it
 * costs that cores were idle before follows from a recording at part load. */
static void notice_cold(struct sim *sim, struct thread *thread)
{
    if (cores_gone_cold(sim, worker_of(sim, thread)->computed_ns)) thread->switch_ns += sim->plan->cold_cpu_ns;
}

static void begin_burst(struct sim *sim, struct thread *thread)
{
    thread->state = BURST;
    thread->left_ns = thread->piece->burst_ns;
    thread->gc_ns = thread->piece->gc_ns;
    if (thread->gc_ns && thread->long_gc_ns) {
        thread->left_ns += thread->long_gc_ns;
        thread->gc_ns += thread->long_gc_ns;
        thread->long_gc_ns = 0;
    }
    thread_compute(sim, thread);
}

/* The heap fills at an even pace, so that a long collection comes after so many requests, and not by chance to some of them: when
 * what requests brought since the last one has grown to what it takes. */
static int64_t due_gc_ns(struct sim *sim, const struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);
    int64_t ns = worker->next_long_gc_ns;

    if (!sim->plan->long_gcs_count) return 0;
    worker->gc_debt_ns += sim->plan->endpoints[connection_of(sim, thread)->endpoint].gc_debt_ns;
    if (worker->gc_debt_ns < ns) return 0;
    worker->gc_debt_ns -= ns;
    worker_plan_gc(sim, worker);
    return ns;
}

void worker_plan_gc(struct sim *sim, struct worker *worker)
{
    if (sim->plan->long_gcs_count) worker->next_long_gc_ns = sim->plan->long_gcs_ns[random_below(&sim->gc_random, (uint64_t)sim->plan->long_gcs_count)];
}

static void mark_io_bound(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);

    if (!sim->plan->io_threads_max || thread->io_bound || !sim->plan->endpoints[connection_of(sim, thread)->endpoint].io_bound) return;
    thread->io_bound = true;
    worker->io_bound++;
    spawn_if_needed(sim, worker);
}

static void begin_request(struct sim *sim, struct thread *thread)
{
    const struct plan *plan = sim->plan;

    thread->piece = &plan->pieces[plan->demands[connection_of(sim, thread)->demand]];
    thread->long_gc_ns = due_gc_ns(sim, thread);
    mark_io_bound(sim, thread);
    begin_burst(sim, thread);
}

/* A request's window opens when its thread was woken for it: what it then waited for the GVL is the request's. */
static void serve(struct sim *sim, struct thread *thread, uint32_t index, int64_t waited_ns)
{
    struct connection *connection = &sim->connections[index];
    int64_t since_ready_ns = sim->now_ns - connection->ready_ns;

    thread->connection = (int32_t)index;
    connection->gvl_wait_ns = waited_ns < since_ready_ns ? waited_ns : since_ready_ns;
    connection->queue_ns = since_ready_ns - connection->gvl_wait_ns;
    connection->data_ready = false;
    if (!connection->fresh || !sim->plan->queue_requests) { begin_request(sim, thread); return; }
    connection->fresh = false;
    thread->state = FRESH;
    gvl_release(sim, thread, true);
    gvl_want(sim, thread);
}

/* Among io threads, one more than may be there ends. */
static bool leave(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);

    if (!thread->io_bound) return false;
    thread->io_bound = false;
    worker->io_bound--;
    if (worker->spawned - worker->io_bound <= sim->plan->threads_max) return false;
    worker->spawned--;
    thread->state = GONE;
    thread->connection = -1;
    thread->switch_ns = 0;
    gvl_release(sim, thread, false);
    return true;
}

static void next_for(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);

    if (leave(sim, thread)) return;
    if (worker->todo.count) serve(sim, thread, numbers_shift(&worker->todo), 0);
    else go_idle(sim, thread);
}

static void give_to_reactor(struct sim *sim, struct thread *thread)
{
    connection_of(sim, thread)->inline_count = 0;
    reactor_add(sim, worker_of(sim, thread), (uint32_t)thread->connection);
    next_for(sim, thread);
}

static void after_poll(struct sim *sim, struct thread *thread, int64_t waited_ns)
{
    struct worker *worker = worker_of(sim, thread);

    if (!thread->readable) { give_to_reactor(sim, thread); return; }
    if (sim->plan->after_response == PARK || (sim->plan->after_response == POLL_INLINE && worker->waiting > 0)) {
        serve(sim, thread, (uint32_t)thread->connection, waited_ns);
        return;
    }
    pool_add(sim, worker, (uint32_t)thread->connection);
    next_for(sim, thread);
}

/* It has got the GVL, after a wait or at once. */
void pool_run(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);
    int64_t waited_ns = sim->now_ns - thread->wanted_ns;

    notice_switch(sim, thread);
    switch (thread->state) {
    case TAKING:
        if (thread->signalled) worker->waiting--;
        if (worker->todo.count) serve(sim, thread, numbers_shift(&worker->todo), waited_ns);
        else go_idle(sim, thread);
        break;
    case FRESH:
        connection_of(sim, thread)->gvl_wait_ns += waited_ns;
        begin_request(sim, thread);
        break;
    case BURST:
        connection_of(sim, thread)->gvl_wait_ns += waited_ns;
        thread_compute(sim, thread);
        break;
    case WAITING:
        connection_of(sim, thread)->gvl_wait_ns += waited_ns;
        notice_cold(sim, thread);
        begin_burst(sim, thread);
        break;
    case LOCKING:
        connection_of(sim, thread)->gvl_wait_ns += waited_ns;
        lock_run(sim, thread);
        break;
    case TAIL:
        thread_compute(sim, thread);
        break;
    case POLLED:
        after_poll(sim, thread, waited_ns);
        break;
    case UNPARKING:
        if (thread->timed_out) give_to_reactor(sim, thread);
        else serve(sim, thread, (uint32_t)thread->connection, waited_ns);
        break;
    }
}

/* The client has made enough of it; or Puma 6 wants others to have their turn. */
static bool closes(const struct sim *sim, const struct worker *worker, const struct connection *connection)
{
    const struct plan *plan = sim->plan;

    if (!plan->queue_requests) return true;
    if (plan->reuse_count && connection->served_count >= plan->reuse_count) return true;
    return plan->after_response == PARK && connection->inline_count >= plan->inline_max && pool_busy(worker) >= plan->threads_max && sim->backlog.count;
}

/* The response leaves; the thread has the GVL. What it still has of locks is of a recording that was cut. */
static void respond(struct sim *sim, struct thread *thread)
{
    struct connection *connection = connection_of(sim, thread);

    if (thread->held_count) lock_release_all(sim, thread);
    connection->answered_ns = sim->now_ns;
    connection->served_count++;
    connection->inline_count++;
    connection->closing = closes(sim, worker_of(sim, thread), connection);
    thread->closing = connection->closing;
    clients_answered(sim, (uint32_t)thread->connection);
    thread->state = TAIL;
    thread->left_ns = sim->plan->tail_cpu_ns;
    thread->gc_ns = 0;
    thread_compute(sim, thread);
}

static void park(struct sim *sim, struct thread *thread)
{
    struct connection *connection = connection_of(sim, thread);

    thread->state = PARKED;
    thread->asleep_since_ns = sim->now_ns;
    connection->parked_thread = (int32_t)thread->index;
    gvl_release(sim, thread, true);
    queue_add(sim, sim->plan->park_ns, PARK_ENDED, number_of(sim, thread), ++thread->generation);
}

static void tail_ended(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);
    struct connection *connection = connection_of(sim, thread);
    const struct plan *plan = sim->plan;

    if (thread->closing) { next_for(sim, thread); return; }
    if (plan->after_response == PARK && connection->inline_count >= plan->inline_max && worker->todo.count) {
        give_to_reactor(sim, thread);
        return;
    }
    if (plan->after_response == PARK && !connection->data_ready) { park(sim, thread); return; }
    thread->readable = connection->data_ready;
    thread->state = POLLED;
    gvl_release(sim, thread, true);
    gvl_want(sim, thread);
}

/* It has the GVL, and keeps it. */
void pool_next_piece(struct sim *sim, struct thread *thread)
{
    thread->piece++;
    begin_burst(sim, thread);
}

static void pass_marker(struct sim *sim, struct thread *thread)
{
    if (thread->piece->wait_kind == RELEASE) lock_release(sim, thread, thread->piece->wait_ns);
    else if (!lock_acquire(sim, thread)) return;
    pool_next_piece(sim, thread);
}

void pool_burst_ended(struct sim *sim, struct thread *thread)
{
    if (thread->state == TAIL) { tail_ended(sim, thread); return; }
    if (thread->state == COMPUTING || thread->state == WAITING) { thread->state = WAITING; wait_over(sim, thread); return; }
    if (thread->piece->wait_ns < 0) respond(sim, thread);
    else if (thread->piece->wait_kind < PARTS) wait_begin(sim, thread);
    else pass_marker(sim, thread);
}

/* Data has come for a parked thread, or its time is over. */
void pool_park_ended(struct sim *sim, struct thread *thread, uint32_t generation, bool timed_out)
{
    if (generation != thread->generation) return;
    thread->generation++;
    connection_of(sim, thread)->parked_thread = -1;
    thread->timed_out = timed_out;
    thread->state = UNPARKING;
    gvl_want(sim, thread);
}
