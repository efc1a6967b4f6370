/* Chance for samples: xorshift64* (Vigna 2016). The state must not be zero. */
#ifndef PUMA_TUNER_RANDOM_H
#define PUMA_TUNER_RANDOM_H

#include <stdint.h>

static inline uint64_t random_bits(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static inline uint64_t random_below(uint64_t *state, uint64_t below) { return random_bits(state) % below; }

/* 0 <= fraction < 1. */
static inline double random_fraction(uint64_t *state) { return (double)(random_bits(state) >> 11) / 9007199254740992.0; }

#endif
