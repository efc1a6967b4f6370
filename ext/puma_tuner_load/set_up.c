/* Set-up: each connection sends the plan's requests once, in their order. See load.h. */
#include "loop.h"

/* So many connections are at work: hashing a password may take a quarter of a second, and whoever is last would wait for minutes. */
#define AT_WORK_MAX 16

static void begin_next(struct loop *loop)
{
    struct connection *connection = &loop->connections[loop->begun_count++];
    load_begin(loop, connection, (struct choice){0, 0}, now_ns(), false);
}

void load_begin_set_up(struct loop *loop)
{
    while (loop->begun_count < loop->plan->connections_max && loop->begun_count < AT_WORK_MAX) begin_next(loop);
}

/* One that went wrong ends it for all: the rest would only be kept waiting. */
static bool went_wrong(const struct loop *loop, const struct connection *connection)
{
    const struct request_tally *tally = &loop->tally->requests[connection->choice.request];
    return loop->tally->failed_count || tally->unexpected_count || tally->wrong_body_count || tally->unpicked_count;
}

void load_go_on_with_set_up(struct loop *loop, struct connection *connection, uint64_t now)
{
    uint32_t next = connection->choice.request + 1;

    if (now >= loop->end_ns) return;
    if (went_wrong(loop, connection)) {
        loop->end_ns = now;
    } else if (next < loop->plan->requests_count) {
        load_begin(loop, connection, (struct choice){next, 0}, now, false);
    } else if (++loop->tally->set_up_count == loop->plan->connections_max) {
        loop->end_ns = now;
    } else if (loop->begun_count < loop->plan->connections_max) {
        begin_next(loop);
    }
}
