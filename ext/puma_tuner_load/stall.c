/* A server whose latencies are known beforehand: it answers each request `service_ns` after it came; but from
 * `stall_after_ns` after its first request on it answers nothing for `stall_ns`, and then all that has gathered. Clients see
 * what they see of a server that stands still. In C, because two hundred responses must then go out before it matters how
 * long that takes. */
#include "events.h"
#include "load.h"
#include "prompt.h"
#include "sockets.h"
#include "stall.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define DUE_MAX 65536
/* So often it looks whether it is to end. */
#define WAIT_NS 100000000u

static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

struct due { uint64_t at_ns; int fd; };

/* All are served equally long, so first in, first out. */
static struct due dues[DUE_MAX];
static size_t first_due, due_count;
static uint64_t stall_from_ns, stall_until_ns; /* 0: not known yet */
static uint64_t lateness[BUCKETS], standstill_late_ns;
static struct events events;
static volatile sig_atomic_t ended;

static void end(int signal) { ended = 1; }

static void hang_up(int fd)
{
    events_remove(&events, (uint64_t)fd);
    close(fd);
}

static void answer_to(int fd)
{
    if (send(fd, response, sizeof(response) - 1, MSG_NOSIGNAL) < 0) hang_up(fd);
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
    else if (length == 0 || (errno != EAGAIN && errno != EINTR)) hang_up(fd);
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

static void accept_all(int listener)
{
    int fd;
    while ((fd = socket_accept(listener)) >= 0) {
        if (!events_add(&events, fd, (uint64_t)fd, WHILE_INPUT)) close(fd);
    }
}

static void set_timer(void)
{
    uint64_t at = now_ns() + WAIT_NS;
    events_ring_at(&events, due_count && dues[first_due].at_ns < at ? dues[first_due].at_ns : at);
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

struct stall_lateness stall_serve(int listener, struct stall_plan plan)
{
    event told[EVENTS_MAX];
    struct sigaction at_end = {.sa_handler = end};

    sigaction(SIGTERM, &at_end, NULL);
    be_prompt();
    if (!events_open(&events) || !events_add(&events, listener, (uint64_t)listener, WHILE_INPUT)) ended = 1;
    while (!ended) {
        int count;
        set_timer();
        count = events_wait(&events, told);
        if (count < 0) break;
        for (int i = 0; i < count; i++) {
            if (!event_of_socket(&told[i])) continue;
            if (event_name(&told[i]) == (uint64_t)listener) accept_all(listener);
            else receive((int)event_name(&told[i]), &plan);
        }
        answer_due();
    }
    events_close(&events);
    return (struct stall_lateness){lateness_p99_ns(), standstill_late_ns};
}
