/* Chance for samples: xorshift64* (Vigna 2016). The state must not be zero. */
#ifndef PUMA_TUNER_RANDOM_H
#define PUMA_TUNER_RANDOM_H

#include <stdint.h>

static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 2685821657736338717u) % below;
}

#endif
