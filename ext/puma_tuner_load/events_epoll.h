/* See events.h. A socket is told of by its edges: once for each change, so nothing has to be said between two of them. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_BY "epoll"
#define TIMER UINT64_MAX
#define ALL_CHANGES (EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP)

struct events {
    bool open;
    int epoll, timer;
};
typedef struct epoll_event event;

static inline void events_close(struct events *events)
{
    if (!events->open) return;
    if (events->epoll >= 0) close(events->epoll);
    if (events->timer >= 0) close(events->timer);
    events->open = false;
}

static inline bool events_open(struct events *events)
{
    /* The timer is watched by its edge, so it need not be read. */
    event ring = {.events = EPOLLIN | EPOLLET, .data.u64 = TIMER};
    int error;

    *events = (struct events){true, epoll_create1(EPOLL_CLOEXEC), timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    if (events->epoll >= 0 && events->timer >= 0 && epoll_ctl(events->epoll, EPOLL_CTL_ADD, events->timer, &ring) == 0) return true;
    error = errno;
    events_close(events);
    errno = error;
    return false;
}

static inline bool events_add(struct events *events, int fd, uint64_t name, enum told told)
{
    event event = {.events = told == EACH_CHANGE ? ALL_CHANGES : EPOLLIN, .data.u64 = name};
    return epoll_ctl(events->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static inline bool events_again(struct events *events, int fd, uint64_t name)
{
    event event = {.events = ALL_CHANGES, .data.u64 = name};
    return epoll_ctl(events->epoll, EPOLL_CTL_MOD, fd, &event) == 0;
}

static inline void events_remove(struct events *events, uint64_t name) {} /* to close it is enough */

static inline void events_await(struct events *events, uint64_t name, enum awaited awaited) {}

static inline void events_ring_at(struct events *events, uint64_t at_ns)
{
    struct itimerspec spec = {{0, 0}, {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)}};
    timerfd_settime(events->timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

static inline int events_wait(struct events *events, event *told)
{
    int count = epoll_wait(events->epoll, told, EVENTS_MAX, -1);
    return count < 0 && errno == EINTR ? 0 : count;
}

static inline bool event_of_socket(const event *event) { return event->data.u64 != TIMER; }
static inline uint64_t event_name(const event *event) { return event->data.u64; }
static inline bool event_input(const event *event) { return event->events & EPOLLIN; }
static inline bool event_room(const event *event) { return event->events & EPOLLOUT; }
static inline bool event_hung_up(const event *event) { return event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR); }

static inline bool events_ended(int fd) { return false; }
