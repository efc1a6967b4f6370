/* The cores, as a fluid that busy tasks share evenly: each gets a whole core, or, when there are more tasks than cores, what
 * was measured for so many (`effective_cores`). The operating system's own slices are milliseconds, short against what
 * is asked of this simulation.
 *
 * All tasks advance at the same rate, so one running total of CPU per task serves them all: a task is done when the total
 * has grown by what it asked for, however often the rate changed on the way. All in whole numbers, a nanosecond of CPU being
 * 65,536 units, so that the twin in Ruby rounds alike.
 *
 * A control group's quota: so much CPU in each period, for all tasks together; when it is spent, all stand still until the
 * next (Linux, sched-bwc).
 *
 * How late a sleeping thread gets a core is drawn from measured samples. Linux lets a thread that hardly ever computes through,
 * even when all cores are busy (client, reactor, acceptor). One that computes as much as others goes back to the core that it
 * had; if that is busy, it waits for the end of the other's burst or slice, even beside an idle one. */
#include "sim.h"

#define UNIT 65536
/* An idle core that was left this recently is not asleep itself, and costs no more than a switch. (Linux's haltpoll,
 * guest_halt_poll_ns; on bare metal, sleep that is short is shallow.) */
#define HALT_NS 200000
/* Two that meet on one core take turns after so long, or are moved apart (Linux 6.18: of 2,200 such meetings of pool threads of two
 * workers in its own trace, half lasted 1.4 ms and nine of ten less than 2.9 ms). */
#define MEETING_MOST_NS 3000000

/* Ends never lie in the past, so the quotient is exact. */
static int64_t ceiling(int64_t amount, int64_t rate) { return (amount + rate - 1) / rate; }

static void read_total(struct sim *sim)
{
    struct cores *cores = &sim->cores;
    int64_t grown = (sim->now_ns - cores->read_ns) * cores->rate;

    cores->read_ns = sim->now_ns;
    if (!grown) return;
    cores->total += grown;
    if (sim->plan->quota_ns) cores->tokens -= grown * (int64_t)cores->count;
    /* Only differences matter, and half of the numbers are 19 hours of computing. */
    if (cores->total > INT64_MAX / 2) {
        for (size_t i = 0; i < cores->count; i++) cores->tasks[i]->end -= cores->total;
        cores->total = 0;
    }
}

static void share_out(struct sim *sim)
{
    struct cores *cores = &sim->cores;
    int64_t last = sim->plan->rates_count - 1;

    if (!cores->count || cores->frozen) cores->rate = 0;
    else if ((int64_t)cores->count - 1 <= last) cores->rate = sim->plan->rates[cores->count - 1];
    else cores->rate = sim->plan->rates[last] * (last + 1) / (int64_t)cores->count;
}

void cores_start(struct sim *sim, struct task *task, int64_t cpu_ns)
{
    struct cores *cores = &sim->cores;

    read_total(sim);
    if (cores->count == TASKS_MAX) { sim->failed = true; return; }
    task->end = cores->total + cpu_ns * UNIT;
    task->running = true;
    cores->tasks[cores->count++] = task;
    share_out(sim);
}

static void take_off(struct sim *sim, struct task *task)
{
    struct cores *cores = &sim->cores;
    size_t at = 0;

    while (cores->tasks[at] != task) at++;
    cores->count--;
    for (; at < cores->count; at++) cores->tasks[at] = cores->tasks[at + 1];
    task->running = false;
    share_out(sim);
}

/* Nanoseconds of CPU that it still needs. */
int64_t cores_left_ns(struct sim *sim, const struct task *task)
{
    int64_t left;

    read_total(sim);
    left = task->end - sim->cores.total;
    return left > 0 ? ceiling(left, UNIT) : 0;
}

int64_t cores_stop(struct sim *sim, struct task *task)
{
    int64_t left_ns = cores_left_ns(sim, task);
    take_off(sim, task);
    return left_ns;
}

static struct task *first_task(const struct cores *cores)
{
    struct task *first = cores->tasks[0];
    for (size_t i = 1; i < cores->count; i++) {
        if (cores->tasks[i]->end < first->end) first = cores->tasks[i];
    }
    return first;
}

/* Returns when the next task will be done, or the quota spent, if nothing changes. */
int64_t cores_due_ns(const struct sim *sim)
{
    const struct cores *cores = &sim->cores;
    int64_t left, due_ns, spent_ns;

    if (!cores->rate) return NEVER_NS;
    left = first_task(cores)->end - cores->total;
    due_ns = cores->read_ns + (left > 0 ? ceiling(left, cores->rate) : 0);
    if (!sim->plan->quota_ns) return due_ns;
    spent_ns = cores->read_ns + (cores->tokens > 0 ? ceiling(cores->tokens, cores->rate * (int64_t)cores->count) : 0);
    return spent_ns < due_ns ? spent_ns : due_ns;
}

/* Takes the task that is done off the cores, of several the one that started first; NULL: the quota is spent instead. */
struct task *cores_finish(struct sim *sim)
{
    struct task *task;

    read_total(sim);
    task = first_task(&sim->cores);
    if (task->end > sim->cores.total) {
        sim->cores.frozen = true;
        share_out(sim);
        return NULL;
    }
    take_off(sim, task);
    return task;
}

void cores_renew_quota(struct sim *sim)
{
    read_total(sim);
    sim->cores.tokens = sim->plan->quota_ns * UNIT;
    sim->cores.frozen = false;
    share_out(sim);
    queue_add(sim, sim->plan->period_ns, QUOTA_RENEWED, 0, 0);
}

/* A call that comes back at once, or a hand-over: over before long. */
static bool is_brief(const struct task *task)
{
    const struct thread *thread = (const struct thread *)task;

    return task->kind == HAND_OVER_TASK || (task->kind == THREAD_TASK && thread->kind == POOL && thread->state == WAITING);
}

/* Tells whether a thread that just let go of its core has left the only idle one. Bound to one core, it has no other to wake up on.
 * Cores with something brief are as good as idle. (Rejected was to count them: binding 2x5 was forecast 1.02x for an app that reads 24
 * small files, and 1.08x without; 1.09x was measured, 1.07 to 1.12.) */
bool cores_others_busy(const struct sim *sim)
{
    const struct cores *cores = &sim->cores;
    int64_t computing = 0;

    for (size_t i = 0; i < cores->count; i++) computing += !is_brief(cores->tasks[i]);
    return sim->plan->affinity || computing >= sim->plan->cores_count - 1;
}

/* Tells whether a core that a process left idle since then has gone to sleep by now. Where all are busy, the others keep it awake. */
bool cores_gone_cold(const struct sim *sim, int64_t since_ns)
{
    return sim->now_ns - since_ns >= HALT_NS && (int64_t)sim->cores.count < sim->plan->cores_count;
}

static int64_t drawn(struct sim *sim, const int64_t *sample, int64_t count)
{
    return sample[random_below(&sim->wakeups_random, (uint64_t)count)];
}

/* Returns how late a sleeping thread that hardly ever computes gets a core: it is let through even when all are busy. */
int64_t wakeup_ns(struct sim *sim, int64_t asleep_since_ns)
{
    int64_t late_ns = drawn(sim, sim->plan->wakeup_idle_ns, sim->plan->wakeup_idle_count), awake_ns = sim->plan->handoff_busy_ns;
    return sim->now_ns - asleep_since_ns < HALT_NS && awake_ns < late_ns ? awake_ns : late_ns;
}

/* Returns how much later one gets it that does compute: the core where it last ran may be busy, the more likely the more are, while
 * another is idle. It waits for the end of that task's burst or slice.
 *
 * A worker's only thread is alone on its core but for others that hardly ever compute: how long it waits is a calibrated sample. Threads
 * of several workers get onto each other's cores, and two that meet on one take turns there for milliseconds, the one that woke up and
 * the one that was there. Where each last ran is left to chance; how much rarer they meet is calibrated, as schedulers differ in how
 * hard they look for an idle core. Workers that are bound to a core of their own never meet. */
int64_t wakeup_extra_ns(struct sim *sim)
{
    const struct plan *plan = sim->plan;
    bool several = pool_size(plan) > 1;
    uint64_t likely = several ? (uint64_t)plan->meeting_permille : 1000;
    uint64_t place = random_below(&sim->wakeups_random, 1000 * (uint64_t)plan->cores_count);
    int64_t most_ns, burst_ns;

    if (place >= likely * sim->cores.count || (several && plan->affinity && plan->workers_count <= plan->cores_count)) return 0;
    most_ns = several ? MEETING_MOST_NS : drawn(sim, plan->wakeup_loaded_ns, plan->wakeup_loaded_count);
    burst_ns = cores_left_ns(sim, sim->cores.tasks[place / likely]);
    return burst_ns < most_ns ? burst_ns : most_ns;
}
