/* A server whose latencies are known beforehand: it answers each request `service_ns` after it came; but from
 * `stall_after_ns` after its first request on it answers nothing for `stall_ns`, and then all that has gathered. Clients see
 * what they see of a server that stands still. In C, because two hundred responses must then go out before it matters how
 * long that takes. */
#include "load.h"
#include "prompt.h"
#include "stall.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define DUE_MAX 65536
#define EVENTS_MAX 256
/* So often it looks whether it is to end. */
#define WAIT_MS 100

static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

struct due { uint64_t at_ns; int fd; };

/* All are served equally long, so first in, first out. */
static struct due dues[DUE_MAX];
static size_t first_due, due_count;
static uint64_t stall_from_ns, stall_until_ns; /* 0: not known yet */
static uint64_t lateness[BUCKETS], standstill_late_ns;
static volatile sig_atomic_t ended;

static void end(int signal) { ended = 1; }

static void answer_to(int fd)
{
    if (send(fd, response, sizeof(response) - 1, MSG_NOSIGNAL) < 0) close(fd);
}

static uint64_t due_ns(uint64_t now, const struct stall_plan *plan)
{
    uint64_t at = now + plan->service_ns;

    if (!stall_from_ns) {
        stall_from_ns = now + plan->stall_after_ns;
        stall_until_ns = stall_from_ns + plan->stall_ns;
    }
    return at >= stall_from_ns && at < stall_until_ns ? stall_until_ns : at;
}

/* One request at a time on a connection, and none with a body. */
static void receive(int fd, const struct stall_plan *plan)
{
    char buffer[4096];
    ssize_t length = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);

    if (length > 0 && plan->service_ns == 0) answer_to(fd);
    else if (length > 0 && due_count < DUE_MAX) dues[(first_due + due_count++) % DUE_MAX] = (struct due){due_ns(now_ns(), plan), fd};
    else if (length == 0 || (errno != EAGAIN && errno != EINTR)) close(fd);
}

/* Only the first of those that gathered can be on time. */
static void count_lateness(uint64_t at_ns, uint64_t now)
{
    if (at_ns != stall_until_ns) lateness[bucket_of(now - at_ns)]++;
    else if (!standstill_late_ns) standstill_late_ns = now - at_ns;
}

static void answer_due(void)
{
    uint64_t now;

    while (due_count && dues[first_due].at_ns <= (now = now_ns())) {
        count_lateness(dues[first_due].at_ns, now);
        answer_to(dues[first_due].fd);
        first_due = (first_due + 1) % DUE_MAX;
        due_count--;
    }
}

static void accept_all(int epoll, int listener)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
}

static void set_timer(int timer)
{
    uint64_t at;
    struct itimerspec spec = {{0, 0}, {0, 0}};

    if (!due_count) return;
    at = dues[first_due].at_ns;
    spec.it_value = (struct timespec){(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

static uint64_t lateness_p99_ns(void)
{
    uint64_t count = 0, seen = 0;
    uint32_t bucket = 0, octave;

    for (uint32_t i = 0; i < BUCKETS; i++) count += lateness[i];
    while (bucket < BUCKETS - 1 && (seen += lateness[bucket]) * 100 < count * 99) bucket++;
    octave = bucket >> SUB_BUCKET_BITS;
    if (octave == 0) return (uint64_t)bucket << (FIRST_OCTAVE - SUB_BUCKET_BITS);
    return (uint64_t)((1u << SUB_BUCKET_BITS) + (bucket & ((1u << SUB_BUCKET_BITS) - 1))) << (octave + FIRST_OCTAVE - 1 - SUB_BUCKET_BITS);
}

static void add(int epoll, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

struct stall_lateness stall_serve(int listener, struct stall_plan plan)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event events[EVENTS_MAX];
    struct sigaction at_end = {.sa_handler = end};

    sigaction(SIGTERM, &at_end, NULL);
    be_prompt();
    add(epoll, listener, EPOLLIN);
    add(epoll, timer, EPOLLIN | EPOLLET);
    while (!ended) {
        int count = epoll_wait(epoll, events, EVENTS_MAX, WAIT_MS);
        if (count < 0 && errno != EINTR) break;
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener) accept_all(epoll, listener);
            else if (events[i].data.fd != timer) receive(events[i].data.fd, &plan);
        }
        answer_due();
        set_timer(timer);
    }
    close(epoll);
    close(timer);
    return (struct stall_lateness){lateness_p99_ns(), standstill_late_ns};
}
