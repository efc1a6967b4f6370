/* The clock of hooks. CLOCK_MONOTONIC through the vDSO takes 28 ns on the machine this was written on, and a GVL cycle
 * reads it three times; the counter beneath it takes 9 ns. So where the kernel itself keeps time by the TSC, and only
 * there, it is read directly and scaled; elsewhere the vDSO serves.
 *
 * Instants of this clock compare with each other, across the processes that descend from the one that prepared it, and
 * with no other clock: it is not slewed by NTP (a few parts per million). */
#ifndef PUMA_TUNER_CLOCK_H
#define PUMA_TUNER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern uint64_t pt_tsc_scale; /* nanoseconds per tick in units of 2^-32; 0: no TSC to trust */

static inline uint64_t vdso_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_ns(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(pt_tsc_scale != 0, 1)) {
        return (uint64_t)(((unsigned __int128)__builtin_ia32_rdtsc() * pt_tsc_scale) >> 32);
    }
#endif
    return vdso_ns(CLOCK_MONOTONIC);
}

/* System calls of about 400 ns: at the ends of a request and once a second, never in a hook. */
static inline uint64_t thread_cpu_ns(void) { return vdso_ns(CLOCK_THREAD_CPUTIME_ID); }

/* Another thread's CPU clock: Linux makes its id from the thread's id. 0 when the thread has ended. */
static inline uint64_t cpu_ns_of(int64_t native_thread_id)
{
    struct timespec now;
    if (native_thread_id <= 0 || clock_gettime((clockid_t)((~(uint32_t)native_thread_id << 3) | 6), &now)) return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Finds out whether the TSC can be trusted and how fast it is; waits up to 3 ms. Once, before the first reading. */
void pt_clock_prepare(void);

#endif
