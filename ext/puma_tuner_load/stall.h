#ifndef PUMA_TUNER_STALL_H
#define PUMA_TUNER_STALL_H

#include <stdint.h>

struct stall_plan { uint64_t service_ns, stall_ns, stall_after_ns; };

/* The lateness of the server itself: with its responses, by their 99th percentile, and with the first one after the standstill. */
struct stall_lateness { uint64_t answers_p99_ns, standstill_ns; };

/* Serves until SIGTERM, or until it can't wait for sockets. `listener` does not block. A stall_ns of 0: no standstill. */
struct stall_lateness stall_serve(int listener, struct stall_plan plan);

#endif
