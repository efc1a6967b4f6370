/* This system's, without the clocks that Darwin lacks, and with its own. */
#include_next <time.h>
#ifndef DARWIN_TIME_H
#define DARWIN_TIME_H
#include <stdint.h>
#undef CLOCK_BOOTTIME
#undef CLOCK_MONOTONIC_COARSE
#define CLOCK_UPTIME_RAW 8
uint64_t clock_gettime_nsec_np(clockid_t clock);
#pragma GCC poison CLOCK_BOOTTIME CLOCK_MONOTONIC_COARSE clock_nanosleep timer_create
#endif
