/* Decides which requests' traces are kept, and where. See traces.c. */
#ifndef PUMA_TUNER_TRACES_H
#define PUMA_TUNER_TRACES_H

#include <stdbool.h>
#include <stdint.h>

void pt_traces_start(uint64_t seed);

/* Returns where the trace of one more request of `entry` goes; -1: it is not kept. `reserve` makes room in the file. */
int pt_traces_place(uint32_t entry, uint64_t epoch, bool (*reserve)(uint32_t first, uint32_t count));

#endif
