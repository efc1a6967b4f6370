/* A server whose latencies are known beforehand: it answers each request `service_ns` after it came, and once, some time
 * after its first request, stands still for `stall_ns`; then it answers all that has gathered. In C, because after the
 * standstill two hundred answers must go out before it matters how long that takes. It serves until it is killed. */
#include "load.h"
#include "stall.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define DUE_MAX 65536

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

struct due { uint64_t at_ns; int fd; };

/* All are served equally long, so first in, first out. */
static struct due dues[DUE_MAX];
static size_t first_due, due_count;

/* One request at a time on a connection, and none with a body. */
static void receive(int fd, uint64_t service_ns)
{
    char buffer[4096];
    ssize_t length = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);

    if (length > 0 && due_count < DUE_MAX) dues[(first_due + due_count++) % DUE_MAX] = (struct due){now_ns() + service_ns, fd};
    else if (length == 0 || (errno != EAGAIN && errno != EINTR)) close(fd);
}

static void answer_due(void)
{
    while (due_count && dues[first_due].at_ns <= now_ns()) {
        if (send(dues[first_due].fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL) < 0) close(dues[first_due].fd);
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

void stall_serve(int listener, uint64_t service_ns, uint64_t stall_ns, uint64_t stall_after_ns)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
    uint64_t stall_at_ns = 0;
    bool stalled = false;

    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(epoll, events, 256, due_count || stall_at_ns ? 1 : -1);
        if (count < 0 && errno != EINTR) return;
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener) accept_all(epoll, listener);
            else receive(events[i].data.fd, service_ns);
        }
        if (due_count && !stall_at_ns && !stalled) stall_at_ns = now_ns() + stall_after_ns;
        if (stall_at_ns && now_ns() >= stall_at_ns) {
            struct timespec still = {(time_t)(stall_ns / 1000000000u), (long)(stall_ns % 1000000000u)};
            nanosleep(&still, NULL);
            stalled = true;
            stall_at_ns = 0;
        }
        answer_due();
    }
}
