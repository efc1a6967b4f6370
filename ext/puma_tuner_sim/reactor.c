/* A worker's reactor: the thread that watches the connections no pool thread has (Puma source, reactor.rb, server.rb).
 *
 * It sleeps until one of them has data, or a pool thread gives it another and wakes it. What had data when it woke is read
 * once it has the GVL, and goes to the todo list; connections that came meanwhile are registered in the same pass; what had
 * data by then is for the next. */
#include "sim.h"

/* Data has come for a connection that it watches. */
void reactor_notice(struct sim *sim, struct worker *worker, uint32_t connection)
{
    sim->connections[connection].registered = false;
    numbers_push(sim, &worker->ready, connection);
    thread_wake(sim, &worker->reactor, REACTOR_WOKE);
}

/* Called by a pool thread. */
void reactor_add(struct sim *sim, struct worker *worker, uint32_t connection)
{
    numbers_push(sim, &worker->input, connection);
    thread_wake(sim, &worker->reactor, REACTOR_WOKE);
}

static void collect(struct sim *sim, struct worker *worker)
{
    while (worker->ready.count) numbers_push(sim, &worker->batch, numbers_shift(&worker->ready));
    worker->reactor.state = LOOKING;
    gvl_want(sim, &worker->reactor);
}

void reactor_woke(struct sim *sim, struct worker *worker) { collect(sim, worker); }

/* It has the GVL. */
void reactor_run(struct sim *sim, struct thread *thread)
{
    struct worker *worker = &sim->workers[thread->worker];
    const struct plan *plan = sim->plan;

    if (thread->state == LOOKING) {
        worker->registering = worker->input.count;
        thread->left_ns = (int64_t)worker->batch.count * plan->reactor_wakeup_cpu_ns + (int64_t)worker->registering * plan->reactor_register_cpu_ns;
        thread->gc_ns = 0;
        thread->state = WORKING;
    }
    thread_compute(sim, thread);
}

static void watch(struct sim *sim, struct worker *worker, uint32_t index)
{
    struct connection *connection = &sim->connections[index];

    if (connection->data_ready) numbers_push(sim, &worker->ready, index);
    else connection->registered = true;
}

void reactor_burst_ended(struct sim *sim, struct thread *thread)
{
    struct worker *worker = &sim->workers[thread->worker];

    while (worker->batch.count) pool_add(sim, worker, numbers_shift(&worker->batch));
    for (; worker->registering; worker->registering--) watch(sim, worker, numbers_shift(&worker->input));
    gvl_release(sim, thread, true);
    if (worker->ready.count || worker->input.count) collect(sim, worker);
    else thread->state = ASLEEP;
    thread->asleep_since_ns = sim->now_ns;
}
