/* A queue of what is to happen, soonest first, of equals the first scheduled: a heap with four children per node, which touches fewer
 * cache lines than one with two. And the rings of numbers that everything else waits in. */
#include "sim.h"
#include <stdlib.h>

static bool before(const struct event *one, const struct event *other)
{
    return one->at_ns != other->at_ns ? one->at_ns < other->at_ns : one->serial < other->serial;
}

void queue_add(struct sim *sim, int64_t delay_ns, enum event_kind kind, uint32_t subject, uint32_t generation)
{
    struct queue *queue = &sim->queue;
    struct event event = {sim->now_ns + delay_ns, queue->serial++, kind, subject, generation};
    size_t at;

    if (queue->count == queue->room) {
        size_t room = queue->room ? queue->room * 2 : 256;
        struct event *events = realloc(queue->events, room * sizeof(*events));
        if (!events) { sim->failed = true; return; }
        queue->events = events;
        queue->room = room;
    }
    for (at = queue->count++; at; at = (at - 1) / 4) {
        size_t parent = (at - 1) / 4;
        if (!before(&event, &queue->events[parent])) break;
        queue->events[at] = queue->events[parent];
    }
    queue->events[at] = event;
}

/* The soonest; there must be one. */
struct event queue_take(struct queue *queue)
{
    struct event soonest = queue->events[0], last = queue->events[--queue->count];
    size_t at = 0;

    for (;;) {
        size_t child = at * 4 + 1, end = child + 4, best = child;
        if (child >= queue->count) break;
        if (end > queue->count) end = queue->count;
        for (size_t i = child + 1; i < end; i++) {
            if (before(&queue->events[i], &queue->events[best])) best = i;
        }
        if (!before(&queue->events[best], &last)) break;
        queue->events[at] = queue->events[best];
        at = best;
    }
    if (queue->count) queue->events[at] = last;
    return soonest;
}

static bool numbers_make_room(struct sim *sim, struct numbers *numbers)
{
    size_t room = numbers->room ? numbers->room * 2 : 16;
    uint32_t *items;

    if (numbers->count < numbers->room) return true;
    items = malloc(room * sizeof(*items));
    if (!items) { sim->failed = true; return false; }
    for (size_t i = 0; i < numbers->count; i++) items[i] = numbers->items[(numbers->first + i) & (numbers->room - 1)];
    free(numbers->items);
    *numbers = (struct numbers){items, 0, numbers->count, room};
    return true;
}

void numbers_push(struct sim *sim, struct numbers *numbers, uint32_t number)
{
    if (!numbers_make_room(sim, numbers)) return;
    numbers->items[(numbers->first + numbers->count++) & (numbers->room - 1)] = number;
}

void numbers_push_front(struct sim *sim, struct numbers *numbers, uint32_t number)
{
    if (!numbers_make_room(sim, numbers)) return;
    numbers->first = (numbers->first + numbers->room - 1) & (numbers->room - 1);
    numbers->items[numbers->first] = number;
    numbers->count++;
}

/* The first; there must be one. */
uint32_t numbers_shift(struct numbers *numbers)
{
    uint32_t number = numbers->items[numbers->first];
    numbers->first = (numbers->first + 1) & (numbers->room - 1);
    numbers->count--;
    return number;
}
