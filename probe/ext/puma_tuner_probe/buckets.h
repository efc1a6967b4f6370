/* Log-linear buckets of durations (like HdrHistogram): 32 to each doubling, from 1 µs to 73 min, below that 32 ns wide.
 * The middle of a bucket is at most 1/64 = 1.6% away from any value in it. Oracle: Probe::Histogram.bucket_of. */
#ifndef PUMA_TUNER_BUCKETS_H
#define PUMA_TUNER_BUCKETS_H

#include <stdint.h>

#define SUB_BUCKET_BITS 5
#define FIRST_OCTAVE 10
#define LAST_OCTAVE 41
#define BUCKETS ((LAST_OCTAVE - FIRST_OCTAVE + 2) << SUB_BUCKET_BITS)

static inline uint32_t bucket_of(uint64_t ns)
{
    int octave;

    if (ns >> FIRST_OCTAVE == 0) return (uint32_t)(ns >> (FIRST_OCTAVE - SUB_BUCKET_BITS));
    octave = 63 - __builtin_clzll(ns);
    if (octave > LAST_OCTAVE) return BUCKETS - 1;
    return (uint32_t)(((uint64_t)(octave - FIRST_OCTAVE + 1) << SUB_BUCKET_BITS) +
        ((ns >> (octave - SUB_BUCKET_BITS)) & ((1u << SUB_BUCKET_BITS) - 1)));
}

#endif
