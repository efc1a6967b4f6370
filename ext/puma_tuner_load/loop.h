/* loop.c, connection.c, tally.c and doubts.c share this. */
#ifndef PUMA_TUNER_LOOP_H
#define PUMA_TUNER_LOOP_H

#include "events.h"
#include "load.h"
#include "ring.h"

#define READ_BYTES 65536

/* In an open loop an IDLE connection stands in `idle`, a CLOSED one in `closed`, and no other does. In a closed loop each
 * connection keeps to itself; one that thinks stands in `thinking`, whether it is THINKING or, its server having hung up
 * meanwhile, CLOSED. One that is CONNECTING and has no socket stands in `unconnected`. */
enum phase { CLOSED, CONNECTING, SENDING, RECEIVING, IDLE, THINKING };

struct connection {
    int fd;
    uint32_t generation;        /* one more with each connection that is made here */
    enum phase phase;
    struct choice choice;
    bool sent_for_good;         /* it was sent once more already, or something has come back: it is not sent again */
    bool waited_for_connection;
    bool met;                   /* closed loop: its first request has come to its end */
    bool hung_up;               /* by the server: what has come is all there will be */
    uint64_t intended_ns, sent_ns;
    size_t written;
    uint32_t served_count, reuse_limit;
    const char *bytes;          /* that are sent: a message of the plan, or the client's own copy of it */
    size_t length;
    struct response response;
};

struct loop {
    const struct plan *plan;
    struct tally *tally;
    struct connection *connections;
    struct events events;
    uint64_t random_state, reuse_state; /* of arrivals; of connections, which the server's doing makes: they must not move arrivals */
    uint64_t began_ns, end_ns, next_ns; /* end_ns: of sending; until it has settled, the latest possible */
    uint64_t timer_ns;          /* when the timer rings next, or has rung; 0: never set */
    uint64_t last_response_ns, longest_ns; /* of all responses, whether or not they count in latency: when, and the longest latency */
    uint64_t refused_since_ns;  /* since when all connections have been refused; 0: the last one was not, or a response came */
    uint64_t looks_count;       /* so often it was looked whether the load is of redirects only */
    double next_at;             /* of the schedule, nanoseconds since began_ns */
    uint64_t order_at, row;
    struct ring waiting;        /* open loop: due, and no connection free */
    struct ring thinking;       /* closed loop: all think equally long, so first in, first out */
    struct ring unconnected;    /* have a request, and found no place in the backlog of a unix socket */
    uint64_t connect_ns;        /* when the first of these tries again */
    uint32_t *idle;             /* open loop: a ring of idle connections, longest idle first */
    size_t idle_first, idle_count;
    uint32_t *closed;           /* open loop: a stack */
    size_t closed_count;
    uint32_t in_flight_count;
    uint32_t begun_count;       /* set-up: connections that have begun */
    char buffer[READ_BYTES];
};

static inline uint32_t index_of(const struct loop *loop, const struct connection *connection)
{
    return (uint32_t)(connection - loop->connections);
}

static inline const struct request *request_of(const struct loop *loop, const struct connection *connection)
{
    return &loop->plan->requests[connection->choice.request];
}

static inline bool is_open(const struct loop *loop) { return loop->plan->mode >= OPEN_EVEN; }

/* loop.c: the connection's request has come to its end, answered or failed; its phase is IDLE or CLOSED. */
void load_free_again(struct loop *loop, struct connection *connection, uint64_t now);

/* loop.c: a request has come to its end and is counted. In a closed loop the one that all others wait for settles it. */
void load_meet(struct loop *loop, struct connection *connection, uint64_t now);

/* loop.c: the server has closed an IDLE connection; its phase is CLOSED. */
void load_forget_idle(struct loop *loop, struct connection *connection);

/* loop.c: a connection that is CONNECTING and found no room tries again a breath later. False: there is no memory. */
bool load_connect_later(struct loop *loop, struct connection *connection);

/* connection.c: connects for a request that has begun, which is sent then; an event tells when. */
void load_connect(struct loop *loop, struct connection *connection);

/* connection.c: begins a request on a connection that is free. */
void load_begin(struct loop *loop, struct connection *connection, struct choice choice, uint64_t intended_ns, bool waited_for_connection);

/* connection.c: does what an event makes possible. Its name: generation << 32 | index, as the connection was added. */
void load_handle(struct loop *loop, const event *event);

/* set_up.c: the first connections begin with the first step; and one that has come to the end of a step goes on. */
void load_begin_set_up(struct loop *loop);
void load_go_on_with_set_up(struct loop *loop, struct connection *connection, uint64_t now);

/* tally.c */
void load_count_lag(struct loop *loop, const struct connection *connection);
void load_count_response(struct loop *loop, const struct connection *connection, uint64_t now);
void load_count_failure(struct loop *loop, const char *what, int error);
bool load_as_expected(const struct request *request, const struct response *response);
void load_forget_latencies(struct loop *loop);

/* doubts.c: counts a response if it is a redirect, and where it leads to. */
void load_count_redirect(struct tally *all, struct request_tally *tally, const struct response *response);
/* doubts.c: whether it makes no sense to go on. */
bool load_pointless(struct loop *loop, uint64_t now);
/* doubts.c: at the end, what is doubtful about the responses. */
void load_conclude(struct loop *loop);

#endif
