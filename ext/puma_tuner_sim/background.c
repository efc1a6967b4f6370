/* Threads of the app's own in a worker, such as one that sends metrics: each wants the GVL, computes, and is away for a while,
 * whatever the load. Each time it disturbs a request for a burst, and lets the others' slices begin anew.
 *
 * Of its recording only means are kept, so its bursts are all alike, and its gaps exponential: at a random instant the next
 * one is as far off as at any other. */
#include "sim.h"
#include <math.h>

static void sleep_a_while(struct sim *sim, struct thread *thread)
{
    const struct plan *plan = sim->plan;
    double gap_ns = -log(1.0 - random_fraction(&sim->background_random)) * (double)plan->background[thread->index].gap_ns;

    queue_add(sim, (int64_t)(gap_ns + 0.5), BACKGROUND_WOKE, thread->worker * (uint32_t)plan->background_count + thread->index, 0);
}

void background_begin(struct sim *sim)
{
    for (int64_t worker = 0; worker < sim->plan->workers_count; worker++) {
        for (int64_t i = 0; i < sim->plan->background_count; i++) sleep_a_while(sim, &sim->workers[worker].background[i]);
    }
}

void background_woke(struct sim *sim, struct thread *thread)
{
    thread->left_ns = sim->plan->background[thread->index].burst_ns;
    gvl_want(sim, thread);
}

void background_burst_ended(struct sim *sim, struct thread *thread)
{
    gvl_release(sim, thread, false);
    sleep_a_while(sim, thread);
}
