/* The parts of time: one row for each, and no other list of them anywhere. Ruby is given the rows when it loads the
 * extension, and reads this file where there is no extension (probe/parts.rb), so that each row stays on a line of its
 * own. The simulator has a copy of this file (ext/shared), so that a step of a trace has the same number there.
 *
 * Hooks see a thread go from step to step; when a window of it is closed, the steps become sums.
 *
 *   STEP     is seen, and is divided among other parts when the window is closed
 *   SUM      is known when the window is closed
 *   BOTH     is seen, and summed as it is
 *   INSIDE   is seen, and summed on its own and in the sum that the second column names
 *   OUTSIDE  is known to a client alone, and so to simulations
 *
 * SPREAD: of each request's there is a histogram, too; these sums come first.
 * OF_WALL: one of those that make up the wall time of a request; OF_THREAD: the same of a pool thread's time.
 * DEMANDED: a request takes it when nobody is in its way. SIMULATED: known of simulated requests, too. WAIT: a step
 * without the GVL that simulations replay.
 *
 * HELD: with the GVL; it is divided into CPU, PREEMPTED and GC. GVL_WAIT: for the GVL, GC_WAITED of it while another
 * thread collected garbage. IO: all of it as a sum, and as a step that of which nothing more is known. LOCK: the same,
 * beside POOL, which waits inside a connection pool's checkout. COMPUTE: without the GVL, in code known to compute; it
 * is CPU and PREEMPTED. IDLE: waiting for a request; it is the last step. QUEUE: in Puma. BEFORE_PUMA: between a
 * proxy's stamp and Puma, by two clocks. */
#ifndef PUMA_TUNER_PARTS_H
#define PUMA_TUNER_PARTS_H

#define PARTS_OF_TIME(STEP, SUM, BOTH, INSIDE, OUTSIDE) \
    SUM(WALL, NONE, SPREAD | SIMULATED) \
    SUM(QUEUE, NONE, SPREAD | OF_WALL | SIMULATED) \
    STEP(HELD, NONE, 0) \
    SUM(CPU, NONE, SPREAD | OF_WALL | OF_THREAD | DEMANDED | SIMULATED) \
    SUM(PREEMPTED, NONE, SPREAD | OF_WALL | OF_THREAD | SIMULATED) \
    BOTH(GVL_WAIT, NONE, SPREAD | OF_WALL | OF_THREAD | SIMULATED) \
    SUM(GC, NONE, SPREAD | OF_WALL | OF_THREAD | DEMANDED | SIMULATED) \
    BOTH(IO, NONE, SPREAD | OF_WALL | OF_THREAD | DEMANDED | SIMULATED | WAIT) \
    BOTH(LOCK, NONE, SPREAD | OF_WALL | OF_THREAD | DEMANDED | SIMULATED | WAIT) \
    BOTH(SLEEP, NONE, SPREAD | OF_WALL | OF_THREAD | DEMANDED | SIMULATED | WAIT) \
    INSIDE(DB, IO, SIMULATED | WAIT) \
    INSIDE(REDIS, IO, SIMULATED | WAIT) \
    INSIDE(HTTP, IO, SIMULATED | WAIT) \
    INSIDE(FILE, IO, SIMULATED | WAIT) \
    INSIDE(POOL, LOCK, SIMULATED | WAIT) \
    SUM(GC_WAITED, GVL_WAIT, 0) \
    STEP(COMPUTE, NONE, WAIT) \
    BOTH(IDLE, NONE, OF_THREAD) \
    SUM(BEFORE_PUMA, NONE, 0) \
    OUTSIDE(CLIENT, NONE, OF_WALL | SIMULATED)

/* CPU time beyond that of HELD and COMPUTE was used in other steps, and is taken from them in this order (see
 * pt_close). */
#define PARTS_WITH_EXCESS \
    PART_FILE, PART_IO, PART_HTTP, PART_REDIS, PART_DB, PART_SLEEP, PART_LOCK, PART_POOL, PART_GVL_WAIT, PART_IDLE

/* The counts of a kind of work. CYCLES: times a thread took the GVL; 0 of what is no thread. */
#define COUNTS_OF_WORK(COUNT) \
    COUNT(ALL) \
    COUNT(UNACCOUNTED) \
    COUNT(SLICES) \
    COUNT(LONG_HOLDS) \
    COUNT(STAMPED) \
    COUNT(CYCLES)

/* Among the steps of a trace, where a lock is tried to get and where it is given back. They take no time. */
#define MARKERS_IN_TRACES(MARKER) \
    MARKER(ACQUIRE, 64) \
    MARKER(RELEASE, 65)

enum { SPREAD = 1, OF_WALL = 2, OF_THREAD = 4, DEMANDED = 8, SIMULATED = 16, WAIT = 32 };

#define PARTS_NOTHING(...)
#define PARTS_STEP(code, of, is) PART_##code,
#define PARTS_SUM(code, of, is) SUM_##code,
#define PARTS_IS_SPREAD(code, of, is) + !!((is) & SPREAD)
#define PARTS_COUNT(code) COUNT_##code,
#define PARTS_MARKER(code, number) code = number,

enum part { PARTS_OF_TIME(PARTS_STEP, PARTS_NOTHING, PARTS_STEP, PARTS_STEP, PARTS_NOTHING) PARTS };
enum sum { PARTS_OF_TIME(PARTS_NOTHING, PARTS_SUM, PARTS_SUM, PARTS_SUM, PARTS_NOTHING) SUMS };
enum { HISTOGRAMS = 0 PARTS_OF_TIME(PARTS_NOTHING, PARTS_IS_SPREAD, PARTS_IS_SPREAD, PARTS_IS_SPREAD, PARTS_NOTHING) };
enum count { COUNTS_OF_WORK(PARTS_COUNT) COUNTS };
enum marker { MARKERS_IN_TRACES(PARTS_MARKER) };

_Static_assert(PART_HELD == 0 && PART_IDLE == PARTS - 1 && (int)PARTS < (int)ACQUIRE, "steps are in another order");
_Static_assert(HISTOGRAMS == SUM_SLEEP + 1, "sums with a histogram come first");

#endif
