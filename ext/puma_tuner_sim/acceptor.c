/* A worker's acceptor: a thread that wants the GVL for very little, like everyone else (Puma source, server.rb).
 *
 * All workers sleep on the same listening socket. A connection wakes every acceptor that sleeps; the first to get the GVL of
 * its worker takes it, the others look in vain. A worker whose GVL is held by CPU work so loses the race by itself.
 * Puma 6 waits before it accepts while no thread is free, and in a cluster up to 5 ms while any is busy; 7.0.4 and newer in
 * a cluster sleep the longer, the more requests they have. In single mode there is nobody to leave a connection to; Puma 6
 * before 6.5 did not mind (single_delay). */
#include "sim.h"

/* A connection is waiting: all that sleep are woken, and the first to get there has it. */
void acceptor_notice(struct sim *sim, struct worker *worker)
{
    thread_wake(sim, &worker->acceptor, ACCEPTOR_WOKE);
}

void acceptor_woke(struct sim *sim, struct worker *worker)
{
    worker->acceptor.state = LOOKING;
    gvl_want(sim, &worker->acceptor);
}

static void sleep_until_noticed(struct sim *sim, struct thread *thread)
{
    thread->state = sim->backlog.count ? LOOKING : ASLEEP;
    thread->asleep_since_ns = sim->now_ns;
    gvl_release(sim, thread, true);
    if (thread->state == LOOKING) gvl_want(sim, thread);
}

static void accept_one(struct sim *sim, struct thread *thread)
{
    if (!sim->backlog.count) { sleep_until_noticed(sim, thread); return; }
    thread->connection = (int32_t)numbers_shift(&sim->backlog);
    thread->state = WORKING;
    thread->left_ns = sim->plan->acceptor_cpu_ns;
    thread->gc_ns = 0;
    thread_compute(sim, thread);
}

static void delay(struct sim *sim, struct thread *thread, int64_t delay_ns)
{
    thread->state = DELAYED;
    gvl_release(sim, thread, false);
    queue_add(sim, delay_ns, ACCEPTOR_DELAYED, thread->worker, ++sim->workers[thread->worker].delay_generation);
}

static int64_t overload_delay_ns(const struct plan *plan, int64_t busy)
{
    int64_t most = plan->overload_factor * plan->threads_max;
    return plan->overload_delay_ns * (busy < most ? busy : most) / most;
}

/* It has the GVL, and looks whether to accept now. */
void acceptor_run(struct sim *sim, struct thread *thread)
{
    const struct plan *plan = sim->plan;
    int64_t busy = pool_busy(&sim->workers[thread->worker]);

    if (thread->state == WORKING) { thread_compute(sim, thread); return; }
    if (thread->state == ACCEPTING) { accept_one(sim, thread); return; }
    if (plan->gate && busy >= plan->threads_max) {
        thread->state = GATED;
        gvl_release(sim, thread, false);
    } else if ((plan->workers_count > 1 || plan->single_delay) && busy > 0 && plan->busy_delay_ns) {
        delay(sim, thread, plan->busy_delay_ns);
    } else if (plan->workers_count > 1 && busy > 0 && plan->overload_delay_ns) {
        delay(sim, thread, overload_delay_ns(plan, busy));
    } else {
        accept_one(sim, thread);
    }
}

void acceptor_delayed(struct sim *sim, struct worker *worker, uint32_t generation)
{
    if (generation != worker->delay_generation || worker->acceptor.state != DELAYED) return;
    worker->acceptor.state = ACCEPTING;
    gvl_want(sim, &worker->acceptor);
}

/* A pool thread has gone idle: Puma 6 waits for that. */
void acceptor_thread_free(struct sim *sim, struct worker *worker)
{
    if (worker->acceptor.state == GATED) {
        worker->acceptor.state = LOOKING;
        gvl_want(sim, &worker->acceptor);
    } else if (worker->acceptor.state == DELAYED && sim->plan->busy_delay_ns) {
        acceptor_delayed(sim, worker, worker->delay_generation);
    }
}

void acceptor_burst_ended(struct sim *sim, struct thread *thread)
{
    struct connection *connection = &sim->connections[thread->connection];

    connection->worker = (int32_t)thread->worker;
    pool_add(sim, &sim->workers[thread->worker], (uint32_t)thread->connection);
    sleep_until_noticed(sim, thread);
}
