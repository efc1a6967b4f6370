/* The event loop: connections, and who sends what when. See load.h. */
#include "load.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_MAX 256
#define READ_BYTES 65536
/* Looked at this often for a wish to stop. */
#define STOP_CHECK_NS 100000000u

enum phase { CLOSED, CONNECTING, SENDING, RECEIVING, IDLE, THINKING };

struct connection {
    int fd;
    enum phase phase;
    uint32_t request;
    bool retried, held_back;
    uint64_t intended_ns, sent_ns;
    size_t written;
    uint32_t served_count, reuse_limit;
    struct response response;
};

struct due { uint64_t ns; uint32_t index; }; /* of a request, or of a connection that thinks */

/* A ring that grows. */
struct ring { struct due *items; size_t first, count, room; };

struct loop {
    const struct plan *plan;
    struct tally *tally;
    struct connection *connections;
    int epoll, timer;
    uint64_t random_state, began_ns, end_ns, next_ns;
    double next_at;             /* of the schedule, nanoseconds since began_ns */
    uint64_t order_at;
    struct ring waiting;        /* open loop: due, and no connection free */
    struct ring thinking;       /* closed loop: all think equally long, so first in, first out */
    uint32_t *idle;             /* open loop: a ring of idle connections, longest idle first */
    size_t idle_first, idle_count;
    uint32_t in_flight_count;
    char buffer[READ_BYTES];
};

static bool push(struct ring *ring, struct due due)
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

static struct due shift(struct ring *ring)
{
    struct due due = ring->items[ring->first];
    ring->first = (ring->first + 1) % ring->room;
    ring->count--;
    return due;
}

/* xorshift64* (Vigna 2016), 0 <= number < 1. */
static double random_number(struct loop *loop)
{
    loop->random_state ^= loop->random_state >> 12;
    loop->random_state ^= loop->random_state << 25;
    loop->random_state ^= loop->random_state >> 27;
    return (double)((loop->random_state * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

/* The gap to the next arrival. Poisson: exponential gaps. */
static double next_gap_ns(struct loop *loop)
{
    double mean_ns = 1e9 / loop->plan->rate_per_s;
    return loop->plan->mode == OPEN_EVEN ? mean_ns : -log(1.0 - random_number(loop)) * mean_ns;
}

static void broken(struct loop *loop, const char *what, int error)
{
    if (!loop->tally->broken_count++) {
        snprintf(loop->tally->first_breakage, sizeof(loop->tally->first_breakage), "%s%s%s", what, error ? ": " : "", error ? strerror(error) : "");
    }
}

static uint32_t index_of(struct loop *loop, struct connection *connection) { return (uint32_t)(connection - loop->connections); }

static void leave_idle(struct loop *loop, struct connection *connection)
{
    size_t max = loop->plan->connections_max;
    for (size_t i = 0, kept = 0, count = loop->idle_count; i < count; i++) {
        uint32_t index = loop->idle[(loop->idle_first + i) % max];
        if (index == index_of(loop, connection)) loop->idle_count--;
        else loop->idle[(loop->idle_first + kept++) % max] = index;
    }
}

static void close_connection(struct loop *loop, struct connection *connection)
{
    if (connection->phase == IDLE && loop->plan->mode != CLOSED_LOOP) leave_idle(loop, connection);
    if (connection->fd >= 0) close(connection->fd);
    connection->fd = -1;
    connection->phase = CLOSED;
}

static void send_rest(struct loop *loop, struct connection *connection);
static void free_again(struct loop *loop, struct connection *connection, uint64_t now);

static void lost(struct loop *loop, struct connection *connection, const char *what, int error);

static void connect_and_send(struct loop *loop, struct connection *connection)
{
    const struct plan *plan = loop->plan;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP, .data.u32 = index_of(loop, connection)};
    int one = 1;

    connection->fd = socket(plan->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->fd < 0) return lost(loop, connection, "no socket", errno);
    if (plan->address.ss_family != AF_UNIX) setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    loop->tally->connections_count++;
    connection->served_count = 0;
    connection->reuse_limit = plan->reuse_max == 0 ? 0
        : plan->reuse_min + (uint32_t)(random_number(loop) * (plan->reuse_max - plan->reuse_min + 1));
    connection->phase = CONNECTING;
    if (connect(connection->fd, (const struct sockaddr *)&plan->address, plan->address_length) && errno != EINPROGRESS) {
        return lost(loop, connection, "connecting", errno);
    }
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, connection->fd, &event)) lost(loop, connection, "epoll", errno);
}

static void send_request(struct loop *loop, struct connection *connection)
{
    connection->written = 0;
    load_response_begin(&connection->response);
    connection->sent_ns = now_ns();
    if (!connection->held_back && loop->plan->mode != CLOSED_LOOP && !connection->retried) {
        loop->tally->lag[bucket_of(connection->sent_ns - connection->intended_ns)]++;
    }
    if (connection->fd < 0) {
        connect_and_send(loop, connection);
    } else {
        connection->phase = SENDING;
        send_rest(loop, connection);
    }
}

/* Begins a request on a connection that is free. */
static void begin(struct loop *loop, struct connection *connection, uint32_t request, uint64_t intended_ns, bool held_back)
{
    connection->request = request;
    connection->intended_ns = intended_ns;
    connection->held_back = held_back;
    connection->retried = false;
    if (held_back) loop->tally->held_back_count++;
    if (++loop->in_flight_count > loop->tally->in_flight_max) loop->tally->in_flight_max = loop->in_flight_count;
    send_request(loop, connection);
}

static uint32_t next_request(struct loop *loop) { return loop->plan->order[loop->order_at++ % loop->plan->order_count]; }

/* A request got no answer. A kept-alive connection may be closed by the server in the very moment we use it: then the
 * request is sent again, once, its latency going on. */
static void lost(struct loop *loop, struct connection *connection, const char *what, int error)
{
    bool reused = connection->served_count > 0 && connection->response.head_length == 0 && !connection->retried;

    close_connection(loop, connection);
    if (reused) {
        connection->retried = true;
        connect_and_send(loop, connection);
        return;
    }
    broken(loop, what, error);
    loop->in_flight_count--;
    free_again(loop, connection, now_ns());
}

static bool right_body(const struct request *request, const struct response *response)
{
    return !request->body_text || memmem(response->body, response->body_length, request->body_text, request->body_text_length);
}

static void count_answer(struct loop *loop, struct connection *connection, uint64_t now)
{
    const struct request *request = &loop->plan->requests[connection->request];
    struct request_tally *by_request = &loop->tally->requests[connection->request];
    const struct response *response = &connection->response;
    uint64_t latency_ns = now - connection->intended_ns, service_ns = now - connection->sent_ns;

    loop->tally->answered_count++;
    loop->tally->latency[bucket_of(latency_ns)]++;
    loop->tally->service[bucket_of(service_ns)]++;
    loop->tally->latency_sum_ns += latency_ns;
    loop->tally->service_sum_ns += service_ns;
    by_request->latency[bucket_of(latency_ns)]++;
    by_request->statuses[response->status]++;
    by_request->body_bytes += response->body_bytes;
    if (!by_request->answered_count++ || response->body_bytes < by_request->body_bytes_min) by_request->body_bytes_min = response->body_bytes;
    if (response->body_bytes > by_request->body_bytes_max) by_request->body_bytes_max = response->body_bytes;
    if (!(request->expected[response->status / 8] >> (response->status % 8) & 1)) by_request->unexpected_count++;
    else if (!right_body(request, response)) by_request->wrong_body_count++;
    if (loop->plan->raw) {
        fprintf(loop->plan->raw, "%u,%llu,%llu,%llu,%d,%llu\n", connection->request,
            (unsigned long long)(connection->intended_ns - loop->began_ns), (unsigned long long)(connection->sent_ns - loop->began_ns),
            (unsigned long long)(now - loop->began_ns), response->status, (unsigned long long)response->body_bytes);
    }
}

static void answered(struct loop *loop, struct connection *connection)
{
    uint64_t now = now_ns();
    bool last;

    loop->in_flight_count--;
    /* Closed loop: what is answered after the end would count time in which less was sent. */
    if (loop->plan->mode != CLOSED_LOOP || now <= loop->end_ns) count_answer(loop, connection, now);
    connection->served_count++;
    last = connection->response.close || (connection->reuse_limit && connection->served_count >= connection->reuse_limit);
    if (last) close_connection(loop, connection);
    else connection->phase = IDLE;
    free_again(loop, connection, now);
}

/* The connection can take another request: it does so now, or is kept for later. */
static void free_again(struct loop *loop, struct connection *connection, uint64_t now)
{
    if (loop->plan->mode == CLOSED_LOOP) {
        if (now >= loop->end_ns) return;
        /* A refused connection must not be tried without end: a breath, then again. */
        uint64_t pause_ns = connection->served_count == 0 && connection->phase == CLOSED ? 1000000 : 0;
        if (loop->plan->think_ns < pause_ns || loop->plan->think_ns) {
            if (connection->phase == IDLE) connection->phase = THINKING;
            push(&loop->thinking, (struct due){now + (loop->plan->think_ns > pause_ns ? loop->plan->think_ns : pause_ns), index_of(loop, connection)});
        } else {
            begin(loop, connection, next_request(loop), now, false);
        }
    } else if (loop->waiting.count) {
        struct due due = shift(&loop->waiting);
        begin(loop, connection, due.index, due.ns, true);
    } else if (connection->phase == IDLE) {
        loop->idle[(loop->idle_first + loop->idle_count++) % loop->plan->connections_max] = index_of(loop, connection);
    }
}

static void send_rest(struct loop *loop, struct connection *connection)
{
    const struct request *request = &loop->plan->requests[connection->request];

    while (connection->written < request->length) {
        ssize_t sent = send(connection->fd, request->bytes + connection->written, request->length - connection->written, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EAGAIN) return;
            if (errno == EINTR) continue;
            return lost(loop, connection, "sending", errno);
        }
        connection->written += (size_t)sent;
    }
    connection->phase = RECEIVING;
}

/* Reads all there is, as an edge is told once. */
static void receive(struct loop *loop, struct connection *connection)
{
    for (;;) {
        ssize_t length = recv(connection->fd, loop->buffer, READ_BYTES, 0);
        enum reading reading;

        if (length < 0) {
            if (errno == EAGAIN) return;
            if (errno == EINTR) continue;
            return lost(loop, connection, "receiving", errno);
        }
        if (length == 0) {
            if (connection->response.until_close) return answered(loop, connection);
            return lost(loop, connection, "closed before the answer was complete", 0);
        }
        reading = load_response_feed(&connection->response, loop->buffer, (size_t)length, loop->plan->requests[connection->request].head);
        if (reading == COMPLETE) return answered(loop, connection);
        if (reading == NO_HTTP) {
            connection->retried = true; /* it is no matter of timing */
            return lost(loop, connection, "the answer is no HTTP", 0);
        }
        if (length < READ_BYTES) return; /* an edge will tell of more */
    }
}

static void handle(struct loop *loop, struct connection *connection, uint32_t events)
{
    int error = 0;
    socklen_t length = sizeof(error);

    switch (connection->phase) {
      case CONNECTING:
        getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &length);
        if (error) return lost(loop, connection, "connecting", error);
        if (!(events & EPOLLOUT)) return;
        connection->phase = SENDING;
        send_rest(loop, connection);
        break;
      case SENDING:
        send_rest(loop, connection);
        if (connection->phase == RECEIVING && events & EPOLLIN) receive(loop, connection);
        break;
      case RECEIVING:
        if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) receive(loop, connection);
        break;
      case IDLE:
      case THINKING:
        /* The server ended the connection between two requests, as it may. */
        if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
            bool thinks = connection->phase == THINKING;
            close_connection(loop, connection);
            if (thinks) connection->phase = CLOSED; /* it stays in the ring, and connects when its time comes */
        }
        break;
      case CLOSED:
        break;
    }
}

static struct connection *free_connection(struct loop *loop)
{
    if (loop->idle_count) {
        uint32_t index = loop->idle[loop->idle_first];
        loop->idle_first = (loop->idle_first + 1) % loop->plan->connections_max;
        loop->idle_count--;
        return &loop->connections[index];
    }
    if (loop->in_flight_count == loop->plan->connections_max) return NULL;
    for (uint32_t i = 0; i < loop->plan->connections_max; i++) {
        if (loop->connections[i].phase == CLOSED) return &loop->connections[i];
    }
    return NULL;
}

/* Sends what is due by now. */
static void issue(struct loop *loop, uint64_t now)
{
    if (loop->plan->mode == CLOSED_LOOP) {
        while (loop->thinking.count && loop->thinking.items[loop->thinking.first].ns <= now && now < loop->end_ns) {
            struct connection *connection = &loop->connections[shift(&loop->thinking).index];
            begin(loop, connection, next_request(loop), now, false);
        }
        return;
    }
    while (loop->next_ns <= now && loop->next_ns < loop->end_ns) {
        struct connection *connection = loop->waiting.count ? NULL : free_connection(loop);
        uint32_t request = next_request(loop);

        loop->tally->intended_count++;
        if (connection) begin(loop, connection, request, loop->next_ns, false);
        else push(&loop->waiting, (struct due){loop->next_ns, request});
        loop->next_at += next_gap_ns(loop);
        loop->next_ns = loop->began_ns + (uint64_t)loop->next_at;
        now = now_ns();
    }
}

static bool over(const struct loop *loop, uint64_t now)
{
    if (now < loop->end_ns) return false;
    return (loop->in_flight_count == 0 && loop->waiting.count == 0) || now >= loop->end_ns + loop->plan->drain_ns;
}

/* The timer is set to the next thing to do that no socket tells of. */
static void set_timer(struct loop *loop, uint64_t now)
{
    uint64_t at = now + STOP_CHECK_NS;
    struct itimerspec spec = {{0, 0}, {0, 0}};

    if (loop->plan->mode != CLOSED_LOOP && loop->next_ns < loop->end_ns && loop->next_ns < at) at = loop->next_ns;
    if (loop->thinking.count && loop->thinking.items[loop->thinking.first].ns < at) at = loop->thinking.items[loop->thinking.first].ns;
    if (now < loop->end_ns && loop->end_ns < at) at = loop->end_ns;
    spec.it_value.tv_sec = (time_t)(at / 1000000000u);
    spec.it_value.tv_nsec = (long)(at % 1000000000u);
    timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void turn(struct loop *loop)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(loop->epoll, events, EVENTS_MAX, -1);
    uint64_t expirations;

    for (int i = 0; i < count; i++) {
        if (events[i].data.u32 == UINT32_MAX) {
            if (read(loop->timer, &expirations, sizeof(expirations)) < 0) continue;
        } else {
            handle(loop, &loop->connections[events[i].data.u32], events[i].events);
        }
        /* Answers must not keep waiting what is due. */
        if (loop->plan->mode != CLOSED_LOOP) issue(loop, now_ns());
    }
}

static bool set_up(struct loop *loop)
{
    const struct plan *plan = loop->plan;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    bool looks_at_bodies = false;

    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    loop->connections = calloc(plan->connections_max, sizeof(*loop->connections));
    loop->idle = calloc(plan->connections_max, sizeof(*loop->idle));
    if (loop->epoll < 0 || loop->timer < 0 || !loop->connections || !loop->idle) return false;
    for (uint32_t i = 0; i < plan->requests_count; i++) looks_at_bodies |= plan->requests[i].body_text != NULL;
    for (uint32_t i = 0; i < plan->connections_max; i++) {
        loop->connections[i].fd = -1;
        if (looks_at_bodies && !(loop->connections[i].response.body = malloc(BODY_KEPT_MAX))) return false;
    }
    prctl(PR_SET_TIMERSLACK, 1); /* else 50 µs late, always */
    return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->timer, &event) == 0;
}

static void tear_down(struct loop *loop)
{
    for (uint32_t i = 0; loop->connections && i < loop->plan->connections_max; i++) {
        if (loop->connections[i].fd >= 0) close(loop->connections[i].fd);
        free(loop->connections[i].response.body);
    }
    free(loop->connections);
    free(loop->idle);
    free(loop->waiting.items);
    free(loop->thinking.items);
    if (loop->epoll >= 0) close(loop->epoll);
    if (loop->timer >= 0) close(loop->timer);
}

static uint64_t own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool load_run(const struct plan *plan, struct tally *tally, const volatile bool *stop)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    uint64_t now, cpu_ns = own_cpu_ns();
    int error = 0;

    if (!loop) return false;
    loop->plan = plan;
    loop->tally = tally;
    loop->random_state = plan->seed * 0x9e3779b97f4a7c15u + 1;
    if (set_up(loop)) {
        loop->began_ns = now = now_ns();
        loop->end_ns = now + plan->duration_ns;
        if (plan->mode == CLOSED_LOOP) {
            for (uint32_t i = 0; i < plan->connections_max; i++) begin(loop, &loop->connections[i], next_request(loop), now, false);
        } else {
            loop->next_at = next_gap_ns(loop);
            loop->next_ns = loop->began_ns + (uint64_t)loop->next_at;
        }
        while (!over(loop, now) && !*stop) {
            issue(loop, now);
            set_timer(loop, now_ns());
            turn(loop);
            now = now_ns();
        }
        tally->began_ns = loop->began_ns;
        tally->ended_ns = now;
        tally->unanswered_count = loop->in_flight_count + loop->waiting.count;
        tally->cpu_ns = own_cpu_ns() - cpu_ns;
    } else {
        error = errno;
    }
    tear_down(loop);
    free(loop);
    errno = error;
    return error == 0;
}
