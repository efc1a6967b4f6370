/* The clock of hooks. CLOCK_MONOTONIC through the vDSO takes 28 ns on the machine this was written on, and a GVL cycle
 * reads it three times; the counter beneath it takes 9 ns. So where the kernel itself keeps time by the TSC, and only
 * there, it is read directly and scaled; elsewhere the vDSO serves.
 *
 * Instants of this clock compare with each other, across the processes that descend from the one that prepared it, and
 * with no other clock: it is not slewed by NTP (a few parts per million). */
#ifndef PUMA_TUNER_CLOCK_H
#define PUMA_TUNER_CLOCK_H

#include "platform.h"

extern uint64_t pt_tsc_scale; /* nanoseconds per tick in units of 2^-32; 0: no TSC to trust */

static inline uint64_t clock_ns(void)
{
#ifdef TSC_READABLE
    if (__builtin_expect(pt_tsc_scale != 0, 1)) {
        return (uint64_t)(((unsigned __int128)__builtin_ia32_rdtsc() * pt_tsc_scale) >> 32);
    }
#endif
    return system_ns(HOOK_CLOCK);
}

/* Finds out whether the TSC can be trusted and how fast it is; waits up to 3 ms. Once, before the first reading. */
void pt_clock_prepare(void);

#endif
