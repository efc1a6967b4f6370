/* One request over one connection, from being sent to its response. See loop.h. */
#include "loop.h"
#include "sockets.h"
#include "../shared/random.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* A server that closes a kept connection just as we send has looked at it a moment before, and found nothing to read.
 * In between it may lose the GVL, or use up its quota of CPU: that takes 100 ms each. Once it is closed, the kernel
 * tells us at once, however busy the server is. What breaks later than this was being worked on. */
#define RETRY_NS 200000000u
/* So many full buffers of a long response are read before other sockets are looked at. */
#define READS_TURN 16

static uint64_t name_of(const struct loop *loop, const struct connection *connection)
{
    return (uint64_t)connection->generation << 32 | index_of(loop, connection);
}

static void close_connection(struct loop *loop, struct connection *connection)
{
    if (connection->fd >= 0) {
        events_remove(&loop->events, name_of(loop, connection));
        close(connection->fd);
    }
    connection->fd = -1;
    connection->generation++;
    connection->phase = CLOSED;
}

static void lost(struct loop *loop, struct connection *connection, const char *what, int error);
static void receive(struct loop *loop, struct connection *connection);

/* A unix socket whose backlog is full says so at once; of TCP the kernel tries again by itself. */
static void no_room(struct loop *loop, struct connection *connection)
{
    close_connection(loop, connection);
    connection->phase = CONNECTING;
    if (!load_connect_later(loop, connection)) lost(loop, connection, "no memory", 0);
}

void load_connect(struct loop *loop, struct connection *connection)
{
    const struct plan *plan = loop->plan;
    int one = 1;

    connection->phase = CONNECTING;
    connection->written = 0;
    connection->hung_up = false;
    connection->served_count = 0;
    connection->reuse_limit = plan->reuse_max == 0 ? 0
        : plan->reuse_min + (uint32_t)random_below(&loop->reuse_state, plan->reuse_max - plan->reuse_min + 1);
    connection->fd = socket_new(plan->address.ss_family);
    if (connection->fd < 0) return lost(loop, connection, "no socket", errno);
    if (plan->address.ss_family != AF_UNIX) setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(connection->fd, (const struct sockaddr *)&plan->address, plan->address_length) && errno != EINPROGRESS) {
        if (errno == EAGAIN && plan->address.ss_family == AF_UNIX) return no_room(loop, connection);
        return lost(loop, connection, "connecting", errno);
    }
    if (!events_add(&loop->events, connection->fd, name_of(loop, connection), EACH_CHANGE)) lost(loop, connection, EVENTS_BY, errno);
}

static void send_rest(struct loop *loop, struct connection *connection)
{
    while (connection->written < connection->length) {
        ssize_t sent = send(connection->fd, connection->bytes + connection->written, connection->length - connection->written, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EAGAIN) return events_await(&loop->events, name_of(loop, connection), AWAIT_ROOM);
            if (errno == EINTR) continue;
            if (errno != EPIPE && errno != ECONNRESET) return lost(loop, connection, "sending", errno);
            /* A server may refuse what is too large for it before it has read all: its response has come then. */
            connection->phase = RECEIVING;
            connection->hung_up = true;
            return receive(loop, connection);
        }
        connection->written += (size_t)sent;
    }
    connection->phase = RECEIVING;
    events_await(&loop->events, name_of(loop, connection), AWAIT_INPUT);
}

/* The client's own copy of the message; of no length when there is no memory for it, and then there is no response. Apart, as is
 * `learn`: loads without clients should not pay for it. */
static __attribute__((noinline, cold)) void fill_in(struct loop *loop, struct connection *connection, const struct message *message)
{
    struct client *client = &loop->plan->clients[index_of(loop, connection)];
    if (!load_client_fill_in(client, message, &connection->bytes, &connection->length)) connection->length = 0;
}

void load_begin(struct loop *loop, struct connection *connection, struct choice choice, uint64_t intended_ns, bool waited_for_connection)
{
    const struct request *request = &loop->plan->requests[choice.request];
    const struct message *message = &request->messages[choice.message];

    connection->choice = choice;
    connection->bytes = message->bytes;
    connection->length = message->length;
    connection->intended_ns = intended_ns;
    connection->waited_for_connection = waited_for_connection;
    connection->sent_for_good = false;
    connection->written = 0;
    if (++loop->in_flight_count > loop->tally->in_flight_max) loop->tally->in_flight_max = loop->in_flight_count;
    load_response_begin(&connection->response, request->keeps_body);
    if (loop->plan->clients) fill_in(loop, connection, message);
    connection->sent_ns = now_ns();
    load_count_lag(loop, connection);
    if (connection->fd < 0) {
        load_connect(loop, connection);
    } else {
        connection->phase = SENDING;
        send_rest(loop, connection);
    }
}

/* A request got no response. A kept-alive connection may be closed by the server in the very moment we use it (see
 * RETRY_NS): then the request is sent again, once, over a new one, its latency going on. */
static void lost(struct loop *loop, struct connection *connection, const char *what, int error)
{
    uint64_t now = now_ns();
    bool reused = connection->served_count > 0 && !connection->sent_for_good;

    close_connection(loop, connection);
    if (reused && now < connection->sent_ns + RETRY_NS) {
        connection->sent_for_good = true;
        loop->tally->retried_count++;
        load_connect(loop, connection);
        return;
    }
    load_count_failure(loop, what, error);
    loop->in_flight_count--;
    load_meet(loop, connection, now);
    load_free_again(loop, connection, now);
}

/* What the client keeps of its response. */
static __attribute__((noinline, cold)) void learn(struct loop *loop, struct connection *connection)
{
    const struct request *request = request_of(loop, connection);
    struct client *client = &loop->plan->clients[index_of(loop, connection)];
    struct request_tally *tally = &loop->tally->requests[connection->choice.request];
    struct response *response = &connection->response;
    uint32_t unpicked;

    loop->tally->dropped_cookies_count += load_client_take_cookies(client, response, connection->bytes, connection->length);
    if (!load_as_expected(request, response)) return;
    unpicked = load_client_pick(client, request->picks, request->picks_count, response);
    if (unpicked < request->picks_count && !tally->unpicked_count++) tally->unpicked = unpicked;
}

static void answered(struct loop *loop, struct connection *connection)
{
    uint64_t now = now_ns();
    bool last;

    loop->in_flight_count--;
    loop->refused_since_ns = 0;
    if (loop->plan->clients) learn(loop, connection);
    load_count_response(loop, connection, now);
    load_meet(loop, connection, now);
    connection->served_count++;
    last = connection->response.close || connection->hung_up ||
        (connection->reuse_limit && connection->served_count >= connection->reuse_limit) || events_ended(connection->fd);
    if (last) close_connection(loop, connection);
    else connection->phase = IDLE;
    load_free_again(loop, connection, now);
}

/* Of a head that fills its place without an end, one may be HTTP all the same. */
static const char *why_no_http(const struct response *response)
{
    bool too_long = response->head_length == HEAD_MAX && !memmem(response->head, HEAD_MAX, "\r\n\r\n", 4) &&
        memcmp(response->head, "HTTP/1.", 7) == 0;

    return too_long ? "the response's head (status line and headers) is longer than " HEAD_MAX_TOLD : "the response is not HTTP";
}

/* Reads all there is, as an edge is told once. A short read means that more will be told of; but the server's hanging up
 * has been told already when it came together with the last bytes. */
static void receive(struct loop *loop, struct connection *connection)
{
    bool head_only = request_of(loop, connection)->head;

    for (int i = 0; i < READS_TURN; i++) {
        ssize_t length = recv(connection->fd, loop->buffer, READ_BYTES, 0);

        if (length < 0) {
            if (errno == EAGAIN) return;
            if (errno == EINTR) continue;
            return lost(loop, connection, "receiving", errno);
        }
        if (length == 0) {
            if (connection->response.until_close) return answered(loop, connection);
            return lost(loop, connection, "closed before the response was complete", 0);
        }
        connection->sent_for_good = true;
        switch (load_response_feed(&connection->response, loop->buffer, (size_t)length, head_only)) {
          case COMPLETE:
            return answered(loop, connection);
          case NO_HTTP:
            return lost(loop, connection, why_no_http(&connection->response), 0);
          case NEEDS_MORE:
            if (length < READ_BYTES && !connection->hung_up) return;
        }
    }
    if (!events_again(&loop->events, connection->fd, name_of(loop, connection))) lost(loop, connection, EVENTS_BY, errno);
}

static void connected(struct loop *loop, struct connection *connection, const event *event)
{
    int error = 0;
    socklen_t length = sizeof(error);

    getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) return lost(loop, connection, "connecting", error);
    if (!event_room(event)) return;
    loop->tally->connections_count++;
    loop->refused_since_ns = 0;
    connection->phase = SENDING;
    send_rest(loop, connection);
}

/* Between two requests the server may hang up. In a closed loop the connection keeps its place among those that think,
 * and is opened anew when its time comes. */
static void hung_up_at_rest(struct loop *loop, struct connection *connection)
{
    bool was_idle = connection->phase == IDLE;

    close_connection(loop, connection);
    if (was_idle) load_forget_idle(loop, connection);
}

void load_handle(struct loop *loop, const event *event)
{
    struct connection *connection = &loop->connections[(uint32_t)event_name(event)];
    bool hung_up = event_hung_up(event);

    if (connection->generation != event_name(event) >> 32) return; /* told of a connection that has been closed since */
    if (hung_up) connection->hung_up = true;
    switch (connection->phase) {
      case CONNECTING:
        connected(loop, connection, event);
        break;
      case SENDING:
        send_rest(loop, connection);
        break;
      case RECEIVING:
        break;
      case IDLE:
      case THINKING:
        if (hung_up || events_ended(connection->fd)) hung_up_at_rest(loop, connection);
        else events_await(&loop->events, name_of(loop, connection), AWAIT_NOTHING); /* what nobody asked for would be told without bound */
        return;
      case CLOSED:
        return;
    }
    if (connection->phase == RECEIVING && (hung_up || event_input(event))) receive(loop, connection);
}
