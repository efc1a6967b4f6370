/* The locks of a worker, and its pools of connections: each is one or more servers that a thread takes and returns, in the
 * middle of its request, while it has the GVL. Waiting for one ends when the thread wants the GVL again; what it waits then is a
 * wait for the GVL, as a probe would see it.
 *
 * A Mutex, and a Monitor, which is one (Ruby source, thread_sync.c, rb_mutex_lock and rb_mutex_unlock): who finds it free goes on,
 * GVL and all. Who does not lines up for it and lets go of the GVL. To unlock it sets it free, and wakes the first in line, which
 * lines up for the GVL at once, as the unlocker has that. Whoever runs before it may take the lock; the woken one, finding it
 * taken, lines up again at the tail. So a thread that locks again and again, without letting go of the GVL, keeps it.
 *
 * A fair pool of connections: what is returned belongs to the first in line (Active Record, ConnectionPool::Queue: nobody
 * takes one that others wait for). It has slept with a time limit, so the kernel has to wake it before it can line up for
 * the GVL (thread_pthread.c, native_sleep), and the connection is idle until then.
 *
 * An unfair pool: all that wait are woken, one after the other, each by the kernel; the first to have the GVL has the connection,
 * unless somebody who did not wait came before, and the others line up again (the gem connection_pool, TimedStack#push and #pop). */
#include "sim.h"

/* The time that it takes to wake one of several threads: 5 to 14 us, 8 in the median (Ruby 3.4.5, AMD EPYC;
 * ConditionVariable#broadcast to twelve). It keeps them nearly in order. */
#define SIGNAL_NS 8000

static struct worker *worker_of(struct sim *sim, const struct thread *thread) { return &sim->workers[thread->worker]; }

static uint32_t *depth_of(struct sim *sim, const struct thread *thread, int64_t index)
{
    return &worker_of(sim, thread)->depths[thread->index * sim->plan->locks_count + index];
}

static bool is_free(const struct sim *sim, const struct worker *worker, int64_t index)
{
    return worker->locks[index].busy_count < sim->plan->locks[index].servers_count;
}

static void take(struct sim *sim, struct thread *thread, int64_t index)
{
    worker_of(sim, thread)->locks[index].busy_count++;
    *depth_of(sim, thread, index) = 1;
    thread->held_count++;
}

/* Tells whether any thread that it waits for, at however many removes, can go on. */
static bool has_hope(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);
    struct numbers *line = &sim->search;

    sim->searches_count++;
    line->count = 0;
    numbers_push(sim, line, thread->index);
    while (line->count) {
        struct thread *next = &worker->pool[numbers_shift(line)];
        if (next->seen == sim->searches_count) continue;
        next->seen = sim->searches_count;
        if (next->waits_for < 0 || is_free(sim, worker, next->waits_for)) return true;
        for (uint32_t i = 0; i < pool_size(sim->plan); i++) {
            if (*depth_of(sim, &worker->pool[i], next->waits_for)) numbers_push(sim, line, i);
        }
    }
    return false;
}

static void line_up(struct sim *sim, struct thread *thread)
{
    struct worker *worker = worker_of(sim, thread);
    int64_t index = thread->piece->wait_ns;

    thread->state = LOCKING;
    thread->wait_began_ns = sim->now_ns;
    thread->waits_for = index;
    numbers_push(sim, &worker->locks[index].line, thread->index);
    /* Whoever has nothing keeps nobody waiting, and so closes no ring. */
    if (thread->held_count && !has_hope(sim, thread)) sim->deadlocked = worker;
    gvl_release(sim, thread, false);
}

/* The lock of its piece. True: it has it, and keeps the GVL; false: it waits. */
bool lock_acquire(struct sim *sim, struct thread *thread)
{
    int64_t index = thread->piece->wait_ns;

    if (*depth_of(sim, thread, index)) {
        ++*depth_of(sim, thread, index);
        return true;
    }
    if (is_free(sim, worker_of(sim, thread), index)) {
        take(sim, thread, index);
        return true;
    }
    tally_lock_waits(sim, &sim->connections[thread->connection])[index].count++;
    line_up(sim, thread);
    return false;
}

/* From now on it waits for the GVL alone. */
static void line_up_for_gvl(struct sim *sim, struct thread *thread)
{
    struct connection *connection = &sim->connections[thread->connection];
    int64_t waited_ns = sim->now_ns - thread->wait_began_ns;

    tally_lock_waits(sim, connection)[thread->piece->wait_ns].ns += waited_ns;
    connection->waited_ns[PART_LOCK] += waited_ns;
    gvl_want(sim, thread);
}

/* It sleeps with a time limit, so that it has to be awake before it can line up for the GVL. */
static void wake(struct sim *sim, struct thread *thread, int64_t after_ns)
{
    int64_t late_ns = after_ns + wakeup_ns(sim, thread->wait_began_ns);

    late_ns += wakeup_extra_ns(sim);
    queue_add(sim, late_ns, LOCK_WOKE, thread->worker * pool_size(sim->plan) + thread->index, 0);
}

void lock_woke(struct sim *sim, struct thread *thread) { line_up_for_gvl(sim, thread); }

static struct thread *first_in_line(struct worker *worker, struct lock *lock)
{
    struct thread *first = &worker->pool[numbers_shift(&lock->line)];

    first->waits_for = -1;
    return first;
}

static void let_go(struct sim *sim, struct thread *thread, int64_t index)
{
    struct worker *worker = worker_of(sim, thread);
    struct lock *lock = &worker->locks[index];
    int64_t after_ns = 0;

    *depth_of(sim, thread, index) = 0;
    thread->held_count--;
    lock->busy_count--;
    if (!lock->line.count) return;
    switch (sim->plan->locks[index].handover) {
    case FIRST_IS_WOKEN: line_up_for_gvl(sim, first_in_line(worker, lock)); break;
    case FIRST_IS_GIVEN: {
        struct thread *first = first_in_line(worker, lock);
        take(sim, first, index);
        wake(sim, first, 0);
        break;
    }
    case ALL_ARE_WOKEN:
        for (; lock->line.count; after_ns += SIGNAL_NS) wake(sim, first_in_line(worker, lock), after_ns);
    }
}

/* A lock that was acquired before the recording began is not its to release. */
void lock_release(struct sim *sim, struct thread *thread, int64_t index)
{
    uint32_t *depth = depth_of(sim, thread, index);

    if (*depth > 1) --*depth;
    else if (*depth) let_go(sim, thread, index);
}

void lock_release_all(struct sim *sim, struct thread *thread)
{
    for (int64_t i = 0; i < sim->plan->locks_count; i++) {
        if (*depth_of(sim, thread, i)) let_go(sim, thread, i);
    }
}

/* It has waited, and has the GVL again. */
void lock_run(struct sim *sim, struct thread *thread)
{
    int64_t index = thread->piece->wait_ns;

    if (!*depth_of(sim, thread, index)) {
        if (!is_free(sim, worker_of(sim, thread), index)) { line_up(sim, thread); return; }
        take(sim, thread, index);
    }
    pool_next_piece(sim, thread);
}
