/* Traces of a sample of requests: at most TRACES_PER_ENTRY_MAX of an endpoint and TRACES_MAX in all, each request of an
 * endpoint as likely to be kept as any other (Vitter's algorithm R). When the space is used up, an endpoint with few
 * traces takes a random one from the endpoint that has most, which leaves that one's sample as uniform as it was. */
#include "ledger.h"
#include "random.h"
#include "traces.h"
#include <string.h>

#define TRACES_PER_RESERVATION 16
_Static_assert(TRACES_MAX % TRACES_PER_RESERVATION == 0, "no more is reserved than there is");

struct reservoir {
    uint64_t seen_count;
    uint32_t count;
    uint16_t places[TRACES_PER_ENTRY_MAX];
};

static struct reservoir reservoirs[ENTRIES_MAX];
static uint64_t random_state;
static uint64_t epoch_seen;
static uint32_t used_count;     /* of this window */
static uint32_t reserved_count; /* of the file: a new window finds room for so many */

/* Seeded by the process id, so that workers keep different samples. */
void pt_traces_start(uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    memset(reservoirs, 0, sizeof(reservoirs));
    used_count = reserved_count = 0;
    epoch_seen = 0;
}

static struct reservoir *richest(void)
{
    struct reservoir *best = reservoirs;
    for (int i = 1; i < ENTRIES_MAX; i++) {
        if (reservoirs[i].count > best->count) best = &reservoirs[i];
    }
    return best;
}

/* A place for one more trace, or -1: unused space, or one that the richest endpoint gives up. */
static int place_for(const struct reservoir *needy, bool (*reserve)(uint32_t first, uint32_t count))
{
    struct reservoir *giver;
    uint32_t index;
    int place;

    if (used_count == reserved_count && reserved_count < TRACES_MAX && reserve(reserved_count, TRACES_PER_RESERVATION)) {
        reserved_count += TRACES_PER_RESERVATION;
    }
    if (used_count < reserved_count) return (int)used_count++;
    giver = richest();
    if (giver->count <= needy->count + 1) return -1;
    index = (uint32_t)random_below(&random_state, giver->count);
    place = giver->places[index];
    giver->places[index] = giver->places[--giver->count];
    return place;
}

int pt_traces_place(uint32_t entry, uint64_t epoch, bool (*reserve)(uint32_t first, uint32_t count))
{
    struct reservoir *reservoir = &reservoirs[entry];
    uint64_t seen_count;
    int place;

    if (epoch != epoch_seen) { /* a new window: all samples begin anew, in the space there is */
        for (int i = 0; i < ENTRIES_MAX; i++) reservoirs[i].seen_count = reservoirs[i].count = 0;
        used_count = 0;
        epoch_seen = epoch;
    }
    seen_count = ++reservoir->seen_count;
    if (reservoir->count == seen_count - 1 && reservoir->count < TRACES_PER_ENTRY_MAX) {
        place = place_for(reservoir, reserve);
        if (place >= 0) {
            reservoir->places[reservoir->count++] = (uint16_t)place;
            return place;
        }
    }
    if (reservoir->count == 0 || random_below(&random_state, seen_count) >= reservoir->count) return -1;
    return reservoir->places[random_below(&random_state, reservoir->count)];
}
