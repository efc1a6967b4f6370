/* Measures how fast the TSC is, by two readings beside CLOCK_MONOTONIC_RAW, 3 ms apart, each accurate to some 50 ns: 35 ppm, which
 * is less than any part is known to. The process that serves waits for it, once. */
#include "clock.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t pt_tsc_scale;

#ifdef TSC_READABLE
#define BASE_NS 3000000u

struct reading { uint64_t ticks, ns; };

/* The kernel trusts the TSC on this machine: it ticks evenly, in step on all cores, and does not stop, but may begin anew after the machine
 * has slept to memory (see pt_window_hold). */
static bool kernel_keeps_time_by_tsc(void)
{
    char name[16] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (!file) return false;
    if (!fgets(name, sizeof(name), file)) name[0] = 0;
    fclose(file);
    return strcmp(name, "tsc\n") == 0;
}

/* The tightest of several tries: an interrupt between the two counters would tilt the scale. */
static struct reading read_both(void)
{
    struct reading best = {0, 0};
    uint64_t best_width = UINT64_MAX;

    for (int i = 0; i < 20; i++) {
        uint64_t before = __builtin_ia32_rdtsc();
        uint64_t ns = system_ns(CLOCK_MONOTONIC_RAW);
        uint64_t width = __builtin_ia32_rdtsc() - before;
        if (width < best_width) {
            best_width = width;
            best = (struct reading){before + width / 2, ns};
        }
    }
    return best;
}
#endif

void pt_clock_prepare(void)
{
#ifdef TSC_READABLE
    struct reading first, second;
    const struct timespec base = {0, BASE_NS};

    if (pt_tsc_scale || !kernel_keeps_time_by_tsc()) return;
    first = read_both();
    nanosleep(&base, NULL); /* cut short by a signal, it is only less accurate */
    second = read_both();
    if (second.ns - first.ns < BASE_NS / 4 || second.ticks <= first.ticks) return;
    pt_tsc_scale = (uint64_t)(((unsigned __int128)(second.ns - first.ns) << 32) / (second.ticks - first.ticks));
#endif
}
