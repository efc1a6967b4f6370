/* The load generator: one thread, one epoll (or poll), requests that leave when they are meant to leave.
 *
 * Open loop: each request has its intended instant, whatever the server does; a request that finds no idle connection
 * opens another, up to `connections_max`, and waits for one beyond that. Its latency counts from the intended instant,
 * its service time from when it was sent. Closed loop: so many connections, each sending `think_ns` after its response.
 *
 * A closed loop is measured once it has settled, which is when each connection has had its first request answered or failed:
 * until then fewer clients than asked for are at work, as a busy server lets new connections in late. `duration_ns` begins there.
 *
 * A load runs in a process of its own, which does nothing else; all of this is without the GVL.
 *
 * Set-up: the requests of the plan are steps that each connection sends once, in their order. They are a load of their own, before
 * the one that counts; what a client has by then (client.h) is handed from load to load.
 *
 * loop.c: who sends what when. connection.c: how one request comes to its response. response.c: where a response ends.
 * client.c: what a client keeps from its responses and puts into its requests; jar.c: cookies; pick.c: values found in a response.
 * set_up.c: steps. tally.c: what is counted. doubts.c: whether the load makes sense. bindings.c: what Ruby sees. stall.c: the server that all
 * of it is tested against. */
#ifndef PUMA_TUNER_LOAD_H
#define PUMA_TUNER_LOAD_H

#include "../shared/buckets.h"
#include "client.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#define STATUSES 600

struct request {
    const struct message *messages; /* one; or one for each row of the data file, sent in turn */
    uint32_t messages_count;
    uint32_t weight;           /* how often it is sent, beside the others */
    bool head;                 /* its response has no body */
    bool redirect_is_meant;    /* nobody need be asked whether it is the redirect that should be measured */
    bool keeps_body;           /* its response's body is looked at */
    uint8_t expected[STATUSES / 8 + 1];
    const char *body_text;     /* must occur in the response; NULL: anything may */
    size_t body_text_length;
    const struct pick *picks;  /* what its response must hold for the client */
    uint32_t picks_count;
};

/* Those from OPEN_EVEN on are open loops. */
enum mode { CLOSED_LOOP, SET_UP, OPEN_EVEN, OPEN_POISSON };

struct plan {
    struct sockaddr_storage address;
    socklen_t address_length;
    struct request *requests;
    uint32_t requests_count;
    const uint32_t *order;     /* which request comes next, from the start again at the end */
    uint32_t order_count;
    enum mode mode;
    double rate_per_s;
    uint32_t connections_max;
    uint32_t reuse_min, reuse_max; /* requests over one connection; 0: without end */
    uint64_t duration_ns, think_ns;
    uint64_t drain_ns;         /* so long responses are waited for after the end; in a closed loop longer, if it is slow */
    uint64_t drain_limit_ns;   /* and no longer than this, if it is more */
    uint64_t settling_limit_ns; /* closed loop: by then it is measured, settled or not */
    uint64_t seed;
    struct client *clients;    /* one for each connection, which the load changes; NULL: messages have no holes, and cookies are not kept */
    FILE *raw;                 /* NULL: none */
};

#define LOCATION_MAX 200

/* The figures that are told apart by request. location: where its first redirect led to, without the query; whatever is not
 * printable ASCII is a "?"; other_locations: whether any other led elsewhere. */
struct request_tally {
    uint64_t redirected_count;
    char location[LOCATION_MAX + 1];
    bool other_locations;
    uint64_t statuses[STATUSES];
    uint64_t answered_count, unexpected_count, wrong_body_count;
    uint64_t unpicked_count;   /* responses that were as expected, but for something to pick */
    uint32_t unpicked;         /* what the first of these lacked: its place among the request's picks */
    uint64_t body_bytes, body_bytes_min, body_bytes_max;
    uint64_t latency[BUCKETS];
};

/* Open loop: intended_count = answered_count + unanswered_count + failed_count. Closed loop: latency and service are of responses
 * that came after settling and before the end; all else is of the whole load. */
struct tally {
    struct request_tally *requests;
    uint64_t latency[BUCKETS], service[BUCKETS], lag[BUCKETS];
    uint64_t latency_sum_ns, latency_max_ns, service_sum_ns;
    uint64_t intended_count;    /* requests that were due */
    uint64_t answered_count;    /* and answered */
    uint64_t in_time_count;     /* of these, before the end of what was asked for */
    uint64_t first_response_ns;   /* the first of these, since the beginning */
    uint64_t connection_wait_count;   /* and had to wait for a connection, all of them being busy */
    uint64_t unanswered_count;  /* no response at the end, or not sent for want of a connection */
    uint64_t failed_count;      /* connections refused, reset, or answering what is no HTTP; each cost one request */
    uint64_t redirects_count;   /* responses */
    uint64_t retried_count;     /* requests that were sent once more, see lost in connection.c */
    uint64_t connections_count; /* made in all */
    uint64_t in_flight_max;
    uint64_t settling_ns;       /* closed loop: from the beginning until it was measured; 0: it was stopped before */
    uint64_t unmet_count;       /* connections whose first request had come to no end by then */
    uint64_t set_up_count;      /* set-up: connections that have gone through all steps */
    uint64_t dropped_cookies_count; /* cookies too large for a jar, or for what was left of it */
    uint64_t began_ns, ended_ns, cpu_ns;
    bool stopped;               /* the load ended before its time, as somebody wished it */
    bool refused;               /* the load ended before its time, as nobody listened (any more) */
    bool redirected;            /* more than half of the mix was, which nobody meant; the load ends as soon as that is seen */
    char first_failure[128];
};

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* response.c: a response, read as it comes. */
enum reading { NEEDS_MORE, COMPLETE, NO_HTTP };

#define HEAD_MAX 32768
#define HEAD_MAX_TOLD "32 KiB"
#define BODY_KEPT_MAX 1048576

struct response {
    char head[HEAD_MAX];
    char *body;                 /* what is kept of it, for `body_length` bytes; grows, and stays for the next response */
    size_t body_room;
    /* The fields from here on are of this one response. */
    size_t head_length, body_length; /* head_length counts what came with its end, too */
    bool head_done, chunked, close, until_close;
    bool keeps_body;            /* it is to be looked at */
    const char *location;       /* in the head; NULL: none */
    size_t location_length;
    int status;
    int chunk_state;
    uint64_t left;              /* of the body, or of its chunk */
    uint64_t body_bytes;
};

/* Called before each response; `response` was zeroed once, at the very beginning. */
void load_response_begin(struct response *response, bool keeps_body);

/* One request is under way on a connection, so whatever comes belongs to its response. `head_only`: the request was HEAD.
 * After COMPLETE and NO_HTTP nothing more may be fed. A response whose end is that of the connection (`until_close`) stays
 * at NEEDS_MORE. */
enum reading load_response_feed(struct response *response, const char *bytes, size_t length, bool head_only);

/* The next header of this name in a head, from `*at` on; NULL when there is none. `*at` is then behind it. */
const char *load_next_header(const char **at, const char *end, const char *name, size_t *length);

/* loop.c: runs the plan to its end, or until `stop` is set by another thread or a signal. `tally` is zeroed but for
 * `requests`, one for each of the plan. False when the load could not be begun (errno says why). */
bool load_run(const struct plan *plan, struct tally *tally, const bool *stop);

#endif
