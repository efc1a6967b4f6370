/* Waits of a pool thread without the GVL, and the stations that those of one kind queue at: so many servers, first come, first
 * served; 0 servers: nothing to queue for. Native code that computes without the GVL takes a core (PART_COMPUTE), and so does a
 * system call that comes back at once: it is the kernel's work, on the core that the thread has. How late a thread gets a core after
 * a wait: cores.c.
 *
 * Who lets go of the GVL for a call that comes back at once, and so hands it over while no other core is idle, loses its own: the kernel
 * wakes the successor there, and lets it go first (Linux's trace, sched_switch). The call seems to take as long, and the successor has
 * nobody to hand the GVL over to. The thread is back when its worker leaves the core, when the kernel's slice is over, or when the next
 * hand-over has the kernel choose anew: two of three times, which is set so. (Two workers on two cores, 20 clients, requests that read 63
 * files: of the time that a thread had one, it waited for the GVL for 7% with 3 threads in each, for 56% with 5, and for 92% with 16,
 * 10 of them busy. The line empties after a few hand-overs with 3 threads, hardly ever with 5, and never with more.) */
#include "sim.h"

static uint32_t number_of(const struct sim *sim, const struct thread *thread) { return thread->worker * pool_size(sim->plan) + thread->index; }

static bool may_return_at_once(int64_t wait_kind)
{
#define IS_IO(code, of, is) [PART_##code] = PART_##of == PART_IO,
    static const bool is_inside_io[PARTS] = {
        PARTS_OF_TIME(PARTS_NOTHING, PARTS_NOTHING, PARTS_NOTHING, IS_IO, PARTS_NOTHING)
    };
#undef IS_IO
    return wait_kind == PART_IO || wait_kind == PART_COMPUTE || is_inside_io[wait_kind];
}

/* Shorter IO is a system call that came back at once (SLEPT_NS of Model::Demand). */
#define SLEPT_NS 50000

/* Whether a wait is served at its kind's station. A call that comes back at once is not: to write a query, or a line of a log, takes
 * none of the servers that requests wait for. */
static bool is_at_station(const struct piece *piece) { return piece->wait_ns >= SLEPT_NS || !may_return_at_once(piece->wait_kind); }

/* Whoever is away for less than the fastest wake-up takes has not slept. */
static bool is_call(const struct sim *sim, const struct piece *piece)
{
    return !is_at_station(piece) && piece->wait_ns < sim->plan->wakeup_idle_ns[0];
}

/* The kernel's slice on two cores: of the meetings in its trace half lasted as long (cores.c). */
#define SLICE_NS 1400000

/* A worker whose GVL somebody has keeps a core busy; one that is bound to a core has no other. */
static bool no_core_left(const struct sim *sim)
{
    int64_t busy = 0;

    if (sim->plan->affinity) return true;
    for (int64_t i = 0; i < sim->plan->workers_count; i++) busy += sim->workers[i].gvl.owner != NULL;
    return busy >= sim->plan->cores_count;
}

/* Of a thread that has just let go of the GVL for a call. */
static bool loses_core(const struct sim *sim, const struct thread *thread)
{
    return sim->plan->gvl_rule == FIFO && sim->workers[thread->worker].gvl.handing_over && no_core_left(sim);
}

/* Whoever hands the GVL over computes more for it: it wakes its successor, and goes to sleep in line. */
static int64_t call_ns(const struct sim *sim, const struct thread *thread)
{
    return thread->piece->wait_ns + (sim->workers[thread->worker].gvl.handing_over ? sim->plan->release_cpu_ns : 0);
}

static void call(struct sim *sim, struct thread *thread) { cores_start(sim, &thread->task, thread->left_ns); }

static void displace(struct sim *sim, struct thread *thread)
{
    struct worker *worker = &sim->workers[thread->worker];

    for (size_t left = worker->displaced.count; left; left--) {
        uint32_t index = numbers_shift(&worker->displaced);
        if (random_below(&sim->wakeups_random, 3)) call(sim, &worker->pool[index]);
        else numbers_push(sim, &worker->displaced, index);
    }
    numbers_push(sim, &worker->displaced, thread->index);
    worker->slice_ends_ns = sim->now_ns + SLICE_NS;
    queue_add(sim, SLICE_NS, CORE_FREE, thread->worker, 0);
}

/* Somebody let go of the GVL, and nobody wants it. If it was for a call that comes back at once, the core is not left. */
void displaced_gvl_is_free(struct sim *sim, uint32_t worker)
{
    sim->workers[worker].freed_ns = sim->now_ns;
    if (sim->workers[worker].displaced.count) queue_add(sim, sim->plan->wakeup_idle_ns[0], CORE_FREE, worker, 0);
}

void displaced_core_free(struct sim *sim, struct worker *worker)
{
    bool left = !worker->gvl.owner && sim->now_ns - worker->freed_ns >= sim->plan->wakeup_idle_ns[0];

    if (!left && sim->now_ns < worker->slice_ends_ns) return;
    while (worker->displaced.count) call(sim, &worker->pool[numbers_shift(&worker->displaced)]);
}

void wait_begin(struct sim *sim, struct thread *thread)
{
    const struct piece *piece = thread->piece;
    struct station *station = &sim->stations[piece->wait_kind];

    thread->wait_began_ns = sim->now_ns;
    thread->state = WAITING;
    gvl_release(sim, thread, may_return_at_once(piece->wait_kind));
    if (piece->wait_kind == PART_COMPUTE) {
        thread->state = COMPUTING;
        cores_start(sim, &thread->task, piece->wait_ns);
    } else if (is_call(sim, piece)) {
        thread->left_ns = call_ns(sim, thread);
        if (loses_core(sim, thread)) displace(sim, thread);
        else call(sim, thread);
    } else if (is_at_station(piece) && sim->plan->stations[piece->wait_kind] && station->busy >= sim->plan->stations[piece->wait_kind]) {
        numbers_push(sim, &station->line, number_of(sim, thread));
    } else {
        if (is_at_station(piece)) station->busy++;
        queue_add(sim, piece->wait_ns, WAIT_ENDED, number_of(sim, thread), 0);
    }
}

static void leave_station(struct sim *sim, int64_t kind)
{
    struct station *station = &sim->stations[kind];
    uint32_t pool = pool_size(sim->plan);

    station->busy--;
    if (station->line.count) {
        uint32_t number = numbers_shift(&station->line);
        station->busy++;
        queue_add(sim, sim->workers[number / pool].pool[number % pool].piece->wait_ns, WAIT_ENDED, number, 0);
    }
}

void wait_over(struct sim *sim, struct thread *thread)
{
    struct connection *connection = &sim->connections[thread->connection];

    connection->waited_ns[thread->piece->wait_kind] += sim->now_ns - thread->wait_began_ns;
    thread->piece++;
    gvl_want(sim, thread);
}

/* Whoever waited for less than the fastest wake-up takes has not slept: its system call came back at once, on the core it had. */
static bool has_slept(const struct sim *sim, const struct thread *thread)
{
    return sim->now_ns - thread->wait_began_ns >= sim->plan->wakeup_idle_ns[0];
}

/* The first time the wait itself is over, the second time the thread has a core. */
void wait_ended(struct sim *sim, struct thread *thread)
{
    int64_t extra_ns;

    if (!thread->late) {
        if (is_at_station(thread->piece)) leave_station(sim, thread->piece->wait_kind);
        extra_ns = has_slept(sim, thread) ? wakeup_extra_ns(sim) : 0;
        if (extra_ns) {
            thread->late = true;
            queue_add(sim, extra_ns, WAIT_ENDED, number_of(sim, thread), 0);
            return;
        }
    }
    thread->late = false;
    wait_over(sim, thread);
}
