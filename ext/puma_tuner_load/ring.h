/* A queue of what is due, in a ring that grows. */
#ifndef PUMA_TUNER_RING_H
#define PUMA_TUNER_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A request, in one of its messages. */
struct choice { uint32_t request, message; };

struct due {
    uint64_t ns;
    struct choice choice;           /* open loop: a request that waits for a connection */
    uint32_t connection;        /* closed loop: one that thinks */
};

struct ring { struct due *items; size_t first, count, room; };

/* False when there is no memory; then nothing has changed. */
static inline bool ring_push(struct ring *ring, struct due due)
{
    if (ring->count == ring->room) {
        size_t room = ring->room ? ring->room * 2 : 1024;
        struct due *items = malloc(room * sizeof(*items));
        if (!items) return false;
        for (size_t i = 0; i < ring->count; i++) items[i] = ring->items[(ring->first + i) % ring->room];
        free(ring->items);
        *ring = (struct ring){items, 0, ring->count, room};
    }
    ring->items[(ring->first + ring->count++) % ring->room] = due;
    return true;
}

/* The first one; there must be one. */
static inline struct due *ring_first(struct ring *ring) { return &ring->items[ring->first]; }

static inline struct due ring_shift(struct ring *ring)
{
    struct due due = *ring_first(ring);
    ring->first = (ring->first + 1) % ring->room;
    ring->count--;
    return due;
}

#endif
