/* See events_poll.h. Empty where there is epoll. */
#include "events.h"

#ifdef EVENTS_BY_POLL
#include "load.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define NS_PER_MS 1000000u

bool events_open(struct events *events)
{
    memset(events, 0, sizeof(*events));
    events->ring_at_ns = UINT64_MAX;
    return true;
}

void events_close(struct events *events)
{
    free(events->sockets);
    free(events->names);
    memset(events, 0, sizeof(*events));
}

static bool make_room(struct events *events, uint32_t place)
{
    uint32_t room = events->room ? events->room : 64;
    struct pollfd *sockets;
    uint64_t *names;

    while (room <= place) room *= 2;
    sockets = realloc(events->sockets, room * sizeof(*sockets));
    if (sockets) events->sockets = sockets;
    names = realloc(events->names, room * sizeof(*names));
    if (names) events->names = names;
    if (!sockets || !names) return false;
    events->room = room;
    return true;
}

bool events_add(struct events *events, int fd, uint64_t name, enum told told)
{
    uint32_t place = (uint32_t)name;

    if (place >= events->room && !make_room(events, place)) return false;
    while (events->count <= place) events->sockets[events->count++] = (struct pollfd){.fd = -1};
    events->sockets[place] = (struct pollfd){.fd = fd};
    events->names[place] = name;
    events_await(events, name, told == EACH_CHANGE ? AWAIT_ROOM : AWAIT_INPUT); /* a connection is there when it has room */
    return true;
}

void events_remove(struct events *events, uint64_t name)
{
    uint32_t place = (uint32_t)name;
    if (place < events->count) events->sockets[place].fd = -1;
}

/* Milliseconds, rounded down, so that the timer is never late for that. */
static int left_ms(const struct events *events)
{
    uint64_t now = now_ns(), left;

    if (events->ring_at_ns == UINT64_MAX) return -1;
    left = events->ring_at_ns > now ? (events->ring_at_ns - now) / NS_PER_MS : 0;
    return left < INT_MAX ? (int)left : INT_MAX;
}

/* Begins behind the last one that was told of: with more of them than are told at once, each has its turn. */
int events_wait(struct events *events, event *told)
{
    int ready = poll(events->sockets, events->count, left_ms(events)), count = 0;

    if (ready < 0) return errno == EINTR || errno == EAGAIN ? 0 : -1;
    for (uint32_t i = 0; i < events->count && count < ready && count < EVENTS_MAX; i++) {
        uint32_t place = (events->first + i) % events->count;
        const struct pollfd *socket = &events->sockets[place];
        if (socket->fd < 0 || !socket->revents) continue;
        told[count++] = (event){events->names[place], socket->revents};
    }
    if (count) events->first = (uint32_t)told[count - 1].name + 1;
    return count;
}

bool events_ended(int fd)
{
    char byte;
    ssize_t length = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return length == 0 || (length < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}
#endif
