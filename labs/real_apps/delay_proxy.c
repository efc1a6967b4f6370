/* delay_proxy SOCKET DELAY_US: a network's delay before a server on this machine.
 *
 * Listens on a free loopback port, which it prints, and passes bytes between its clients and the Unix socket at SOCKET, in both directions, each DELAY_US
 * after it had arrived. Any number of bytes can be under way, as on a network; a round trip takes twice the delay, and what the server takes.
 *
 * One thread. A timer of the kernel's, without slack, wakes it when the next bytes are due. On SIGTERM it says how late it was and what CPU it took, so
 * that nobody has to believe that it was no bottleneck. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define READ_BYTES 65536
/* Of one direction; a sender that is far ahead of the receiver waits, as it would for a full window. */
#define QUEUED_BYTES_MAX (4 << 20)

/* Bytes under way; none: the sender has ended. */
struct chunk {
    struct chunk *next;
    int64_t due_ns;
    size_t length, sent;
    char bytes[];
};

/* One end of a connection. The queue holds what the other end has sent and this one is still to be given. */
struct end {
    struct end *other;
    struct connection *connection;
    struct chunk *first, *last;
    size_t queued_bytes;
    uint32_t interest;
    int fd;
    bool has_ended, was_told, is_full;
};

struct connection {
    struct connection *next;
    struct end client, server;
    bool is_broken;
};

static int epoll_fd, timer_fd, listener_fd;
static int64_t delay_ns;
static struct sockaddr_un server_address;
static struct connection *connections;
static volatile sig_atomic_t is_over;
static uint64_t chunks_count, bytes_count;
static int64_t late_ns, latest_ns;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void on_signal(int signal)
{
    (void)signal;
    is_over = 1;
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * NS_PER_S + time.tv_nsec;
}

static void watch(int fd, void *whom, uint32_t before, uint32_t wanted)
{
    struct epoll_event event = {.events = wanted, .data.ptr = whom};
    if (before == wanted) return;
    /* Without any interest it must be gone: a hang-up is reported whether one asks for it or not. */
    if (epoll_ctl(epoll_fd, wanted ? (before ? EPOLL_CTL_MOD : EPOLL_CTL_ADD) : EPOLL_CTL_DEL, fd, &event) < 0) fail("epoll_ctl");
}

static void update_interest(struct end *end)
{
    bool reads = !end->has_ended && end->other->queued_bytes < QUEUED_BYTES_MAX;
    uint32_t wanted = (reads ? EPOLLIN : 0) | (end->is_full ? EPOLLOUT : 0);
    watch(end->fd, end, end->interest, wanted);
    end->interest = wanted;
}

static void append(struct end *end, const char *bytes, size_t length)
{
    struct chunk *chunk = malloc(sizeof(*chunk) + length);
    if (!chunk) fail("malloc");
    *chunk = (struct chunk){.due_ns = now_ns() + delay_ns, .length = length};
    memcpy(chunk->bytes, bytes, length);
    if (end->last) end->last->next = chunk;
    else end->first = chunk;
    end->last = chunk;
    end->queued_bytes += length;
}

static void take_from(struct end *end)
{
    static char bytes[READ_BYTES];
    ssize_t length = read(end->fd, bytes, sizeof(bytes));
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (length <= 0) end->has_ended = true;
    append(end->other, bytes, length > 0 ? (size_t)length : 0);
}

static void drop_first(struct end *end)
{
    struct chunk *chunk = end->first;
    end->first = chunk->next;
    if (!end->first) end->last = NULL;
    end->queued_bytes -= chunk->length;
    free(chunk);
}

/* Of the first look at a chunk alone: what comes later waited for the receiver. */
static void note_lateness(const struct chunk *chunk, int64_t now)
{
    int64_t late = now - chunk->due_ns;
    chunks_count++;
    bytes_count += chunk->length;
    late_ns += late;
    if (late > latest_ns) latest_ns = late;
}

/* Returns whether the whole chunk went out. */
static bool send_rest(struct end *end, struct chunk *chunk)
{
    ssize_t sent = send(end->fd, chunk->bytes + chunk->sent, chunk->length - chunk->sent, MSG_NOSIGNAL);
    if (sent < 0) {
        if (errno == EAGAIN || errno == EINTR) end->is_full = true;
        else end->connection->is_broken = true;
        return false;
    }
    chunk->sent += (size_t)sent;
    return chunk->sent == chunk->length;
}

static void give(struct end *end, int64_t now)
{
    while (!end->is_full && !end->connection->is_broken && end->first && end->first->due_ns <= now) {
        struct chunk *chunk = end->first;
        if (chunk->length == 0) {
            shutdown(end->fd, SHUT_WR);
            end->was_told = true;
        }
        else {
            if (chunk->sent == 0) note_lateness(chunk, now);
            if (!send_rest(end, chunk)) continue;
        }
        drop_first(end);
    }
}

static void on_event(struct end *end, uint32_t events)
{
    if (events & EPOLLOUT) end->is_full = false;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !end->has_ended) take_from(end);
    if (events & EPOLLERR && end->has_ended) end->connection->is_broken = true;
}

static void open_end(struct end *end, int fd, struct end *other, struct connection *connection)
{
    *end = (struct end){.fd = fd, .other = other, .connection = connection};
}

static void accept_client(void)
{
    int on = 1, client = accept4(listener_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0 || server < 0 || connect(server, (struct sockaddr *)&server_address, sizeof(server_address)) < 0) {
        if (client >= 0) close(client);
        if (server >= 0) close(server);
        return;
    }
    struct connection *connection = calloc(1, sizeof(*connection));
    if (!connection) fail("calloc");
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    open_end(&connection->client, client, &connection->server, connection);
    open_end(&connection->server, server, &connection->client, connection);
    /* Blocking until here, as connecting to a Unix socket may wait for a place in the backlog. */
    if (fcntl(server, F_SETFL, O_NONBLOCK) < 0) fail("fcntl");
    connection->next = connections;
    connections = connection;
}

static void close_end(struct end *end)
{
    while (end->first) drop_first(end);
    close(end->fd);
}

/* After all events of a turn: some of them may point into a connection that an earlier one has ended. */
static void close_finished(void)
{
    struct connection **link = &connections;
    while (*link) {
        struct connection *connection = *link;
        if (connection->is_broken || (connection->client.was_told && connection->server.was_told)) {
            *link = connection->next;
            close_end(&connection->client);
            close_end(&connection->server);
            free(connection);
        }
        else {
            link = &connection->next;
        }
    }
}

/* Gives what is due, and returns when the next is: 0 for never. Some dozens of connections: a look at each is cheap. */
static int64_t give_all(void)
{
    int64_t now = now_ns(), next_ns = 0;
    for (struct connection *connection = connections; connection; connection = connection->next) {
        struct end *ends[] = {&connection->client, &connection->server};
        for (int index = 0; index < 2; index++) {
            give(ends[index], now);
            const struct chunk *first = ends[index]->is_full ? NULL : ends[index]->first;
            if (first && (next_ns == 0 || first->due_ns < next_ns)) next_ns = first->due_ns;
        }
    }
    close_finished();
    for (struct connection *connection = connections; connection; connection = connection->next) {
        update_interest(&connection->client);
        update_interest(&connection->server);
    }
    return next_ns;
}

static void wake_at(int64_t at_ns)
{
    struct itimerspec time = {.it_value = {.tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S}};
    if (timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &time, NULL) < 0) fail("timerfd_settime");
}

static void turn(void)
{
    struct epoll_event events[64];
    int count = epoll_wait(epoll_fd, events, 64, -1);
    for (int index = 0; index < count; index++) {
        uint64_t ticks;
        if (events[index].data.ptr == &listener_fd) accept_client();
        else if (events[index].data.ptr == &timer_fd) (void)!read(timer_fd, &ticks, sizeof(ticks));
        else on_event(events[index].data.ptr, events[index].events);
    }
    wake_at(give_all());
}

static void listen_on_a_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    listener_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener_fd < 0 || bind(listener_fd, (struct sockaddr *)&address, length) < 0 || listen(listener_fd, 512) < 0) fail("listen");
    if (getsockname(listener_fd, (struct sockaddr *)&address, &length) < 0) fail("getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
}

static void report(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    fprintf(stderr, "delay_proxy: %llu pieces, %llu bytes; late by %.3f ms on average, %.3f ms at most; %.2f s of CPU\n", (unsigned long long)chunks_count,
            (unsigned long long)bytes_count, chunks_count ? (double)late_ns / (double)chunks_count / 1e6 : 0.0, (double)latest_ns / 1e6, cpu_s);
}

static void read_words(int count, char **words)
{
    if (count != 3 || strlen(words[1]) >= sizeof(server_address.sun_path) || atoll(words[2]) < 0) {
        fprintf(stderr, "delay_proxy SOCKET DELAY_US\n");
        exit(2);
    }
    server_address.sun_family = AF_UNIX;
    strcpy(server_address.sun_path, words[1]);
    delay_ns = atoll(words[2]) * 1000;
}

int main(int count, char **words)
{
    struct sigaction action = {.sa_handler = on_signal};
    read_words(count, words);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    prctl(PR_SET_TIMERSLACK, 1);
    /* Whoever began it may be killed. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (epoll_fd < 0 || timer_fd < 0) fail("epoll or timerfd");
    listen_on_a_free_port();
    watch(listener_fd, &listener_fd, 0, EPOLLIN);
    watch(timer_fd, &timer_fd, 0, EPOLLIN);
    while (!is_over) turn();
    report();
    return 0;
}
