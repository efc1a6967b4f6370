/* Decides who has the GVL of a worker (Ruby source, thread_pthread.c, and probes of it).
 *
 * Ruby 3.3 to 4.0 (fifo):
 * - Strictly first come, first served. Who releases it while others wait goes to the tail, were it for a microsecond.
 * - It is handed over, not thrown: during the hand-off nobody runs, and nobody can step in between.
 * - A timer of 10 ms of wall time ticks while somebody waits. It adds a tick to the owner's slice, on a core or not; with
 *   the slice full the owner goes to the tail. An owner that ran alone for seconds still has its whole slice once somebody
 *   comes. The count begins anew only when another thread has run in between.
 * - A timer that ticks already keeps its phase when owners change, so that a slice lasts between one tick less and full.
 * - Garbage collection has no safe point: a slice can't end in it.
 *
 * 3.1 and 3.2 (barging): it is thrown. The first in line is woken, and whoever wants it before that one runs has it; the
 * woken one then asks the thief to go. The first in line is the timer: after one slice it asks the owner to go.
 *
 * 4.1 (hot): as fifo, but who returns from a call that may block before its successor has begun takes it back; the successor
 * stays the first in line. Not after a sleep, a lock or the end of a slice. */
#include "sim.h"

static struct gvl *gvl_of(struct sim *sim, const struct thread *thread) { return &sim->workers[thread->worker].gvl; }

static void line_up(struct gvl *gvl, struct thread *thread)
{
    thread->next = NULL;
    if (gvl->first) gvl->last->next = thread;
    else gvl->first = thread;
    gvl->last = thread;
}

static void line_up_in_front(struct gvl *gvl, struct thread *thread)
{
    thread->next = gvl->first;
    gvl->first = thread;
    if (!thread->next) gvl->last = thread;
}

static struct thread *next_in_line(struct gvl *gvl)
{
    struct thread *thread = gvl->first;
    if (thread) gvl->first = thread->next;
    return thread;
}

/* An owner's slice goes on while nobody else has run. */
static void take(struct sim *sim, struct gvl *gvl, struct thread *thread)
{
    gvl->owner = thread;
    if (gvl->last_owner != thread) gvl->ticks = 0;
    gvl->last_owner = thread;
    thread_run(sim, thread);
}

/* Barging: the first in line waits for one slice, and then asks the owner to go. */
static void start_timer(struct sim *sim, struct gvl *gvl, uint32_t worker)
{
    const struct plan *plan = sim->plan;

    if (gvl->ticking) return;
    gvl->ticking = true;
    queue_add(sim, plan->gvl_rule == BARGING ? plan->tick_ns * plan->ticks_per_slice : plan->tick_ns, TICK, worker, ++gvl->timer_generation);
}

/* Where no core is idle, both threads share one, and the hand-over is work on it, as it was measured: a system call that wakes one
 * thread, two switches, and one that puts the other to sleep. It takes a core from whoever else computes, and of a quota. Where a core
 * is idle, it is mostly a wait for that core to wake up.
 *
 * To wake an idle core takes longer than to go on with the one that has just been left. Who waited for the GVL goes on there. (Rejected
 * was that it waits for the core that it had: two workers of 16 threads came out 6 to 12% too slow.) A pool thread that rested may find
 * its core taken: without it, an open load of pure CPU had the same p99 at 2x16 as at 2x1, where 28 and 14 ms were measured, and 13 with
 * workers that are bound to a core. */
static void hand_over(struct sim *sim, struct gvl *gvl, uint32_t worker)
{
    const struct thread *next = gvl->owner ? gvl->owner : gvl->first;
    bool busy = cores_others_busy(sim);
    int64_t delay_ns = busy ? sim->plan->handoff_busy_ns : sim->plan->handoff_ns;
    int64_t extra_ns = next->kind == POOL && next->state == TAKING ? wakeup_extra_ns(sim) : 0;

    gvl->generation++;
    if (busy && !extra_ns) cores_start(sim, &gvl->hand_over, delay_ns);
    else queue_add(sim, delay_ns + extra_ns, HANDED_OVER, worker, gvl->generation);
}

void gvl_hand_over_ended(struct sim *sim, struct task *task)
{
    const struct worker *worker = (const struct worker *)task;

    _Static_assert(offsetof(struct worker, gvl) == 0 && offsetof(struct gvl, hand_over) == 0, "a task of a hand-over is the worker");
    sim->server_cpu_ns += sim->plan->handoff_busy_ns;
    gvl_handed_over(sim, (uint32_t)(worker - sim->workers), worker->gvl.generation);
}

/* Hot: the successor is not let through. */
static void call_off(struct sim *sim, struct gvl *gvl)
{
    gvl->handing_over = false;
    gvl->generation++;
    if (gvl->hand_over.running) sim->server_cpu_ns += sim->plan->handoff_busy_ns - cores_stop(sim, &gvl->hand_over);
}

/* Hot: it is back before its successor has begun. */
static bool may_return(const struct sim *sim, const struct gvl *gvl, const struct thread *thread)
{
    return sim->plan->gvl_rule == HOT && gvl->handing_over && gvl->returning == thread;
}

void gvl_want(struct sim *sim, struct thread *thread)
{
    struct gvl *gvl = gvl_of(sim, thread);

    thread->wanted_ns = sim->now_ns;
    if (may_return(sim, gvl, thread)) {
        call_off(sim, gvl);
        line_up_in_front(gvl, gvl->owner);
        take(sim, gvl, thread);
    } else if (!gvl->owner) {
        take(sim, gvl, thread);
    } else {
        line_up(gvl, thread);
        start_timer(sim, gvl, thread->worker);
    }
}

/* Called by the owner. blocking: for a call that may come back at once, as opposed to a sleep, a lock or the end of a slice. */
void gvl_release(struct sim *sim, struct thread *thread, bool blocking)
{
    struct gvl *gvl = gvl_of(sim, thread);

    gvl->returning = blocking ? thread : NULL;
    gvl->owner = NULL;
    if (!gvl->first) {
        displaced_gvl_is_free(sim, thread->worker);
        return;
    }
    if (sim->plan->gvl_rule != BARGING) gvl->owner = next_in_line(gvl);
    else if (gvl->handing_over) return; /* woken already */
    gvl->handing_over = true;
    hand_over(sim, gvl, thread->worker);
}

/* False when it is in the middle of what nothing interrupts. */
static bool end_slice(struct sim *sim, struct gvl *gvl)
{
    struct thread *owner = gvl->owner;

    if (!owner->task.running || cores_left_ns(sim, &owner->task) <= owner->gc_ns) return false;
    owner->left_ns = thread_stop(sim, owner);
    owner->wanted_ns = sim->now_ns;
    if (owner->kind == POOL && owner->state == BURST) sim->connections[owner->connection].slices++;
    line_up(gvl, owner);
    gvl_release(sim, owner, false);
    return true;
}

void gvl_handed_over(struct sim *sim, uint32_t worker, uint32_t generation)
{
    struct gvl *gvl = &sim->workers[worker].gvl;

    if (generation != gvl->generation) return;
    gvl->handing_over = false;
    if (sim->plan->gvl_rule != BARGING) {
        take(sim, gvl, gvl->owner);
    } else if (!gvl->owner) {
        gvl->ticking = false;
        gvl->timer_generation++;
        struct thread *next = next_in_line(gvl);
        if (gvl->first) start_timer(sim, gvl, worker);
        take(sim, gvl, next);
    } else {
        end_slice(sim, gvl); /* a thief, who goes at once */
    }
}

static void tick_of_waiter(struct sim *sim, struct gvl *gvl, uint32_t worker)
{
    gvl->ticking = false;
    if (!gvl->first) return;
    if (gvl->owner) end_slice(sim, gvl);
    start_timer(sim, gvl, worker);
}

void gvl_tick(struct sim *sim, uint32_t worker, uint32_t generation)
{
    struct gvl *gvl = &sim->workers[worker].gvl;

    if (generation != gvl->timer_generation) return;
    if (sim->plan->gvl_rule == BARGING) { tick_of_waiter(sim, gvl, worker); return; }
    gvl->ticking = false;
    if (!gvl->first) return;
    start_timer(sim, gvl, worker);
    if (gvl->handing_over) return;
    if (++gvl->ticks >= sim->plan->ticks_per_slice) end_slice(sim, gvl);
}
