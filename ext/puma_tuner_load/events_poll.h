/* See events.h. For systems without epoll: poll asks for all sockets in each turn, so a turn takes longer the more of them there are, and it
 * counts time in milliseconds: what is left of the last one is waited for by asking again and again, as what is due has to leave in time. */
#include <poll.h>
#include <stddef.h>

#define EVENTS_BY "poll"
#define EVENTS_BY_POLL

struct events {
    struct pollfd *sockets;    /* by their places; a socket below 0: none is there */
    uint64_t *names;
    uint32_t count, room, first; /* first: to be looked at */
    uint64_t ring_at_ns;       /* UINT64_MAX: not at all */
};
typedef struct { uint64_t name; short what; } event;

bool events_open(struct events *events);
void events_close(struct events *events);
bool events_add(struct events *events, int fd, uint64_t name, enum told told);
void events_remove(struct events *events, uint64_t name);
int events_wait(struct events *events, event *told);
bool events_ended(int fd);

static inline void events_await(struct events *events, uint64_t name, enum awaited awaited)
{
    events->sockets[(uint32_t)name].events = awaited == AWAIT_INPUT ? POLLIN : awaited == AWAIT_ROOM ? POLLOUT : 0;
}

static inline bool events_again(struct events *events, int fd, uint64_t name) { return true; } /* it tells as long as there is some */

static inline void events_ring_at(struct events *events, uint64_t at_ns) { events->ring_at_ns = at_ns; }

static inline bool event_of_socket(const event *event) { return true; }
static inline uint64_t event_name(const event *event) { return event->name; }
static inline bool event_input(const event *event) { return event->what & POLLIN; }
static inline bool event_room(const event *event) { return event->what & POLLOUT; }
static inline bool event_hung_up(const event *event) { return event->what & (POLLHUP | POLLERR | POLLNVAL); }
