/* Counts a request and its response. */
#include "loop.h"
#include <errno.h>
#include <string.h>

/* Counts how late we ourselves are with a request that is being sent. One that waited for a connection is late by the server's doing. */
void load_count_lag(struct loop *loop, const struct connection *connection)
{
    if (connection->waited_for_connection || !is_open(loop)) return;
    loop->tally->lag[bucket_of(connection->sent_ns - connection->intended_ns)]++;
}

static bool has_text(const struct request *request, const struct response *response)
{
    if (!request->body_text) return true;
    return response->body_length && memmem(response->body, response->body_length, request->body_text, request->body_text_length);
}

static bool expects(const struct request *request, int status) { return request->expected[status / 8] >> (status % 8) & 1; }

/* By its status, and its text. */
bool load_as_expected(const struct request *request, const struct response *response)
{
    return expects(request, response->status) && has_text(request, response);
}

static void count_by_request(struct tally *all, struct request_tally *tally, const struct request *request, const struct response *response)
{
    tally->statuses[response->status]++;
    load_count_redirect(all, tally, response);
    tally->body_bytes += response->body_bytes;
    if (!tally->answered_count++ || response->body_bytes < tally->body_bytes_min) tally->body_bytes_min = response->body_bytes;
    if (response->body_bytes > tally->body_bytes_max) tally->body_bytes_max = response->body_bytes;
    if (!expects(request, response->status)) tally->unexpected_count++;
    else if (!has_text(request, response)) tally->wrong_body_count++;
}

static void write_raw(const struct loop *loop, const struct connection *connection, uint64_t now)
{
    fprintf(loop->plan->raw, "%u,%llu,%llu,%llu,%d,%llu\n", connection->choice.request,
        (unsigned long long)(connection->intended_ns - loop->began_ns), (unsigned long long)(connection->sent_ns - loop->began_ns),
        (unsigned long long)(now - loop->began_ns), connection->response.status, (unsigned long long)connection->response.body_bytes);
}

static void count_latency(struct tally *tally, const struct connection *connection, uint64_t now)
{
    uint64_t latency_ns = now - connection->intended_ns, service_ns = now - connection->sent_ns;

    tally->latency[bucket_of(latency_ns)]++;
    tally->service[bucket_of(service_ns)]++;
    tally->requests[connection->choice.request].latency[bucket_of(latency_ns)]++;
    tally->latency_sum_ns += latency_ns;
    tally->service_sum_ns += service_ns;
    if (latency_ns > tally->latency_max_ns) tally->latency_max_ns = latency_ns;
}

/* A response to a closed loop after its end belongs to a time in which fewer and fewer requests were sent: no latency. But the
 * server worked for it, so it is counted. */
void load_count_response(struct loop *loop, const struct connection *connection, uint64_t now)
{
    struct tally *tally = loop->tally;
    bool in_time = now <= loop->end_ns;

    tally->answered_count++;
    loop->last_response_ns = now;
    if (now - connection->intended_ns > loop->longest_ns) loop->longest_ns = now - connection->intended_ns;
    if (in_time && !tally->in_time_count++) tally->first_response_ns = now - loop->began_ns;
    if (in_time || is_open(loop)) count_latency(tally, connection, now);
    count_by_request(tally, &tally->requests[connection->choice.request], request_of(loop, connection), &connection->response);
    if (loop->plan->raw) write_raw(loop, connection, now);
}

/* The load has settled: what came before is no part of what is measured. */
void load_forget_latencies(struct loop *loop)
{
    struct tally *tally = loop->tally;

    memset(tally->latency, 0, sizeof(tally->latency));
    memset(tally->service, 0, sizeof(tally->service));
    tally->latency_sum_ns = tally->service_sum_ns = tally->latency_max_ns = 0;
    /* Requests without a response are skipped: to clear theirs would touch the memory of a long mix for the first time. */
    for (uint32_t i = 0; i < loop->plan->requests_count; i++) {
        if (tally->requests[i].answered_count) memset(tally->requests[i].latency, 0, sizeof(tally->requests[i].latency));
    }
}

/* A request that ended without a response. The first one's reason is kept. A unix socket that is not there any more (ENOENT) is one
 * that nobody listens on. */
void load_count_failure(struct loop *loop, const char *what, int error)
{
    struct tally *tally = loop->tally;

    if ((error == ECONNREFUSED || error == ENOENT) && !loop->refused_since_ns) loop->refused_since_ns = now_ns();
    if (tally->failed_count++) return;
    snprintf(tally->first_failure, sizeof(tally->first_failure), "%s%s%s", what, error ? ": " : "", error ? strerror(error) : "");
}
