/* The simulation of clients, Puma's workers and the cores they share.
 *
 * Pure: no clock, no Ruby, no system call but malloc; all chance comes from the plan's seeds. One run belongs to one thread,
 * which need not have the GVL. Each file says why its rules are what they are, and where they are from. A twin in Ruby
 * (test/oracles/simulation) has the same rules; both must take the same steps in the same order, to the nanosecond, which
 * test/predict/twin_test.rb holds them to.
 *
 *   queue.c    what happens when          worker.c    pool threads, todo list, Puma's rules after a response
 *   cores.c    who computes how fast      waits.c, locks.c   what pool threads wait for without the GVL
 *   gvl.c      who has the GVL            acceptor.c, reactor.c, background.c   the other threads
 *   tally.c    what came of it            clients.c   who sends what when
 *   run.c      set-up, loop, end
 */
#ifndef PUMA_TUNER_SIM_H
#define PUMA_TUNER_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include "../shared/parts.h"
#include "../shared/random.h"

#define NEVER_NS INT64_MAX

/* Codes, which Ruby has by the same names as Core::CODES. */
#define SIM_CODE(name) name,

/* The kinds of events. */
#define EVENTS(CODE) \
    CODE(BURST_ENDED) CODE(TICK) CODE(HANDED_OVER) CODE(WAIT_ENDED) CODE(ARRIVAL) CODE(THINK_ENDED) CODE(CLIENT_WOKE) \
    CODE(ACCEPTOR_WOKE) CODE(ACCEPTOR_DELAYED) CODE(REACTOR_WOKE) CODE(PARK_ENDED) CODE(UNPARKED) CODE(QUOTA_RENEWED) \
    CODE(QUOTA_SPENT) CODE(LOCK_WOKE) CODE(BACKGROUND_WOKE) CODE(CORE_FREE)
enum event_kind { EVENTS(SIM_CODE) };

#define GVL_RULES(CODE) CODE(FIFO) CODE(BARGING) CODE(HOT)
enum gvl_rule { GVL_RULES(SIM_CODE) };

#define AFTER_RESPONSE(CODE) CODE(PARK) CODE(POLL_TODO) CODE(POLL_INLINE)
enum after_response { AFTER_RESPONSE(SIM_CODE) };

#define ARRIVALS(CODE) CODE(CLOSED) CODE(POISSON) CODE(EVEN) CODE(BURSTY) CODE(REPLAYED)
enum arrivals_kind { ARRIVALS(SIM_CODE) };

/* wait_ns: after the burst; -1 after the last; of ACQUIRE and RELEASE the index of the lock
 * wait_kind: enum part, of those that are a WAIT; or enum marker, which takes no time of its own, and has no station */
struct piece { int64_t burst_ns, gc_ns, wait_ns, wait_kind; };

/* Each worker has one of its own; locks.c says who has it next. */
#define HANDOVERS(CODE) CODE(FIRST_IS_WOKEN) CODE(FIRST_IS_GIVEN) CODE(ALL_ARE_WOKEN)
enum lock_handover { HANDOVERS(SIM_CODE) };
struct lock_rule { int64_t servers_count, handover; };

/* Each worker has one such thread. */
struct background { int64_t burst_ns, gap_ns; };

/* gc_debt_ns: what a request of it adds to what the next long collection waits for */
struct endpoint { double upper_ratio; int64_t first_pick, picks_count, io_bound, gc_debt_ns; };

struct plan {
    int64_t seed, requests_count, warm_up_count, steps_max; /* after about so many steps it ends, whatever came of it */
    int64_t workers_count, threads_min, threads_max, io_threads_max;
    int64_t gvl_rule, tick_ns, ticks_per_slice, handoff_ns, handoff_busy_ns, switch_cpu_ns, switch_busy_cpu_ns, cold_cpu_ns;
    int64_t release_cpu_ns;
    int64_t meeting_permille, affinity;
    int64_t queue_requests, after_response, park_ns, inline_max, gate, busy_delay_ns, single_delay, overload_delay_ns, overload_factor;
    int64_t acceptor_cpu_ns, reactor_wakeup_cpu_ns, reactor_register_cpu_ns, tail_cpu_ns;
    int64_t cores_count, quota_ns, period_ns;
    int64_t arrivals, connections_count, think_ns, reuse_count;
    double gap_ns, group_count;
    int64_t send_cpu_ns, receive_cpu_ns;
    int64_t stations[PARTS];                    /* of each kind of wait: servers; 0: no queue */
    const int64_t *wakeup_idle_ns, *wakeup_loaded_ns, *rates, *times_ns, *picks, *demands;
    int64_t wakeup_idle_count, wakeup_loaded_count, rates_count, times_count;
    const struct piece *pieces;                 /* of a demand: from pieces[demands[i]] until wait_ns is -1 */
    const int64_t *long_gcs_ns;                 /* a sample of long collections */
    int64_t long_gcs_count;
    const struct endpoint *endpoints;
    const struct lock_rule *locks;
    const struct background *background;
    int64_t endpoints_count, locks_count, background_count;
};

/* Threads that a worker can have. */
static inline uint32_t pool_size(const struct plan *plan) { return (uint32_t)(plan->threads_max + plan->io_threads_max); }

struct event { int64_t at_ns; uint64_t serial; uint32_t kind, subject, generation; };

struct queue { struct event *events; size_t count, room; uint64_t serial; };

/* Something that computes: a thread, the client, or the kernel that hands a GVL over. */
enum task_kind { THREAD_TASK, CLIENT_TASK, HAND_OVER_TASK };
struct task { int64_t end; bool running; enum task_kind kind; };

#define TASKS_MAX 4096

struct cores {
    struct task *tasks[TASKS_MAX];
    size_t count;
    int64_t total, read_ns, rate;               /* CPU per task in units of ns / 65536; 65536 is a core of its own */
    int64_t tokens;                             /* of the quota, same units */
    bool frozen;
};

enum thread_kind { POOL, ACCEPTOR, REACTOR, BACKGROUND };
enum pool_state { IDLE, TAKING, FRESH, BURST, WAITING, COMPUTING, LOCKING, TAIL, POLLED, PARKED, UNPARKING, GONE };
enum watcher_state { ASLEEP, WAKING, LOOKING, GATED, DELAYED, ACCEPTING, WORKING };

struct thread {
    struct task task;                           /* first: a task of a thread is the thread */
    enum thread_kind kind;
    int state;
    uint32_t index, worker;
    int32_t connection;                         /* that it serves; -1 */
    struct thread *next;                        /* in line for the GVL */
    int64_t asleep_since_ns;
    int64_t left_ns, gc_ns, wanted_ns, began_ns; /* gc_ns: the end of the burst, which nothing interrupts */
    const struct piece *piece;
    int64_t wait_began_ns;
    int64_t long_gc_ns;                         /* still to come in its request */
    int64_t switch_ns;                          /* CPU that its next burst takes more, as another had the GVL before it */
    int64_t waits_for;                          /* the lock it is in line for; -1 */
    uint64_t seen;                              /* number of the last search that came by */
    uint32_t held_count;                        /* locks that it has */
    uint32_t generation;
    bool io_bound, readable, timed_out, signalled, late, closing;
};

struct gvl {
    struct task hand_over;                      /* first: a task of a hand-over is the GVL */
    struct thread *owner, *first, *last, *last_owner, *returning;
    int64_t ticks;
    uint32_t generation, timer_generation;
    bool ticking, handing_over;
};

/* A ring of numbers that grows. */
struct numbers { uint32_t *items; size_t first, count, room; };

/* busy_count: servers of it that somebody has */
struct lock { struct numbers line; int64_t busy_count; };

struct worker {
    struct gvl gvl;                             /* first, and so the worker */
    struct thread *pool, acceptor, reactor, *background;
    struct thread *last_pool;                   /* of the pool, the last that had the GVL */
    struct lock *locks;
    uint32_t *depths;                           /* by thread and lock, how often it has it: a Monitor can be entered again */
    struct numbers displaced;                   /* pool threads that have no core, though their wait is over */
    int64_t slice_ends_ns, freed_ns;            /* of whoever took the core from the last of them; when the GVL was free last */
    int64_t spawned, waiting, io_bound;
    struct numbers idle, todo, ready, batch, input;
    size_t registering;                         /* of input, in this pass of the reactor */
    uint32_t delay_generation;
    int64_t computed_ns;                        /* when one of its pool threads last did */
    int64_t gc_debt_ns, next_long_gc_ns;        /* the next long collection comes when the debt has grown to it */
};

struct connection {
    int32_t worker;                             /* -1: not accepted */
    bool open, fresh, registered, data_ready, closing;
    int32_t parked_thread;
    int64_t served_count, inline_count;         /* inline: without a pass through the reactor */
    /* its request */
    uint32_t demand, endpoint;
    int64_t intended_ns, ready_ns, answered_ns;
    int64_t queue_ns, gvl_wait_ns, gc_ns, held_ns, waited_ns[PARTS], slices;
    int64_t on_core_ns;                         /* gc_ns included */
};

struct station { struct numbers line; int64_t busy; };

struct client { struct task task; int64_t asleep_since_ns; struct numbers items; bool waking, busy, sending; uint32_t connection; };

/* Sums that a client knows beside those of a recorded request. */
enum {
    LAST_SUM = SUMS - 1,
    PARTS_OF_TIME(PARTS_NOTHING, PARTS_NOTHING, PARTS_NOTHING, PARTS_NOTHING, PARTS_SUM)
    SIMULATED_SUMS
};

struct totals { int64_t sums[SIMULATED_SUMS], slices, server_cpu; };

/* The waits for one lock: how often somebody had to wait for it, and how long. */
struct lock_waits { int64_t count, ns; };

struct tally {
    int64_t left_to_warm_up, count, began_ns, ended_ns, began_server_cpu_ns, in_flight, began_in_flight;
    int64_t *latencies;
    int32_t *endpoints;                         /* of each latency */
    int64_t *worker_counts;
    struct lock_waits *lock_waits;
    struct totals totals;
};

struct sim {
    const struct plan *plan;
    int64_t now_ns;
    struct queue queue;
    struct cores cores;
    struct worker *workers;
    struct connection *connections;
    struct lock_waits *lock_waits;              /* of each connection's request, by lock */
    struct station stations[PARTS];
    struct client client;
    struct numbers backlog, idle_connections, closed_connections;
    struct { int64_t *intended; size_t first, count, room; } due;
    struct tally tally;
    uint64_t arrivals_random, picks_random, wakeups_random, gc_random, background_random;
    int64_t server_cpu_ns, next_arrival_ns, group_left, replayed_at;
    uint64_t events_count, hash;
    uint64_t searches_count;
    struct numbers search;
    struct worker *deadlocked;                  /* where threads wait for each other's locks, and so nothing more is to be learned */
    bool failed;                                /* no memory */
};

/* Ends well with true, in a deadlock and after too many steps, too; false: no memory. Results are in sim->tally, to be freed by sim_free
 * either way. */
bool sim_run(struct sim *sim, const struct plan *plan, const bool *stop);
void sim_free(struct sim *sim);

/* queue.c */
void queue_add(struct sim *sim, int64_t delay_ns, enum event_kind kind, uint32_t subject, uint32_t generation);
static inline int64_t queue_due_ns(const struct queue *queue) { return queue->count ? queue->events[0].at_ns : NEVER_NS; }
struct event queue_take(struct queue *queue);
void numbers_push(struct sim *sim, struct numbers *numbers, uint32_t number);
void numbers_push_front(struct sim *sim, struct numbers *numbers, uint32_t number);
uint32_t numbers_shift(struct numbers *numbers);

/* cores.c */
void cores_start(struct sim *sim, struct task *task, int64_t cpu_ns);
int64_t cores_stop(struct sim *sim, struct task *task);
int64_t cores_left_ns(struct sim *sim, const struct task *task);
int64_t cores_due_ns(const struct sim *sim);
struct task *cores_finish(struct sim *sim);
void cores_renew_quota(struct sim *sim);
bool cores_others_busy(const struct sim *sim);
bool cores_gone_cold(const struct sim *sim, int64_t since_ns);
int64_t wakeup_ns(struct sim *sim, int64_t asleep_since_ns);
int64_t wakeup_extra_ns(struct sim *sim);

/* gvl.c */
void gvl_want(struct sim *sim, struct thread *thread);
void gvl_release(struct sim *sim, struct thread *thread, bool blocking);
void gvl_handed_over(struct sim *sim, uint32_t worker, uint32_t generation);
void gvl_hand_over_ended(struct sim *sim, struct task *task);
void gvl_tick(struct sim *sim, uint32_t worker, uint32_t generation);

/* run.c: threads of any kind */
void thread_run(struct sim *sim, struct thread *thread);
void thread_compute(struct sim *sim, struct thread *thread);
void thread_wake(struct sim *sim, struct thread *thread, enum event_kind kind);
int64_t thread_stop(struct sim *sim, struct thread *thread);

/* worker.c */
void pool_run(struct sim *sim, struct thread *thread);
void pool_burst_ended(struct sim *sim, struct thread *thread);
void pool_park_ended(struct sim *sim, struct thread *thread, uint32_t generation, bool timed_out);
void pool_add(struct sim *sim, struct worker *worker, uint32_t connection);
int64_t pool_busy(const struct worker *worker);
void worker_plan_gc(struct sim *sim, struct worker *worker);

void pool_next_piece(struct sim *sim, struct thread *thread);

/* waits.c */
void wait_begin(struct sim *sim, struct thread *thread);
void wait_over(struct sim *sim, struct thread *thread);
void wait_ended(struct sim *sim, struct thread *thread);
void displaced_gvl_is_free(struct sim *sim, uint32_t worker);
void displaced_core_free(struct sim *sim, struct worker *worker);

/* locks.c */
bool lock_acquire(struct sim *sim, struct thread *thread);
void lock_release(struct sim *sim, struct thread *thread, int64_t index);
void lock_release_all(struct sim *sim, struct thread *thread);
void lock_run(struct sim *sim, struct thread *thread);
void lock_woke(struct sim *sim, struct thread *thread);

/* background.c */
void background_begin(struct sim *sim);
void background_woke(struct sim *sim, struct thread *thread);
void background_burst_ended(struct sim *sim, struct thread *thread);

/* acceptor.c */
void acceptor_notice(struct sim *sim, struct worker *worker);
void acceptor_woke(struct sim *sim, struct worker *worker);
void acceptor_delayed(struct sim *sim, struct worker *worker, uint32_t generation);
void acceptor_thread_free(struct sim *sim, struct worker *worker);
void acceptor_run(struct sim *sim, struct thread *thread);
void acceptor_burst_ended(struct sim *sim, struct thread *thread);

/* reactor.c */
void reactor_notice(struct sim *sim, struct worker *worker, uint32_t connection);
void reactor_add(struct sim *sim, struct worker *worker, uint32_t connection);
void reactor_woke(struct sim *sim, struct worker *worker);
void reactor_run(struct sim *sim, struct thread *thread);
void reactor_burst_ended(struct sim *sim, struct thread *thread);

/* clients.c */
void clients_begin(struct sim *sim);
void clients_arrival(struct sim *sim);
void clients_think_ended(struct sim *sim, uint32_t connection);
void clients_woke(struct sim *sim);
void clients_burst_ended(struct sim *sim);
void clients_answered(struct sim *sim, uint32_t connection);

/* tally.c */
struct lock_waits *tally_lock_waits(struct sim *sim, const struct connection *connection);
void tally_count(struct sim *sim, const struct connection *connection);
static inline bool tally_full(const struct sim *sim) { return sim->tally.count >= sim->plan->requests_count; }

#endif
