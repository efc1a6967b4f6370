/* What the loop waits for: sockets, and one timer. By epoll and timerfd where they are; elsewhere (or with `extconf.rb --enable-poll`, as the
 * tests do it) by poll. Both have the same functions, so that the loop knows neither:
 *
 *   events_open, events_close   of the set; a set of zeros is not open, and may be closed
 *   events_add                  a socket by the name it is told by, whose lower half (its place in the set) no other socket has at that time
 *   events_remove               before the socket is closed
 *   events_await                what the owner of a socket waits for next: whoever is told by edges need not be told that
 *   events_again                a socket of EACH_CHANGE is told of once more, as its owner has left some of it unread
 *   events_ring_at              when the timer rings, by the clock of now_ns; one time alone is kept
 *   events_wait                 until a socket has something to tell, the timer rings, or a signal comes: how many have; -1 says that it failed
 *   event_*                     what one tells
 *   events_ended                whether the other side has hung up, where an event does not tell that together with the last bytes */
#ifndef PUMA_TUNER_EVENTS_H
#define PUMA_TUNER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define EVENTS_MAX 256

enum awaited { AWAIT_NOTHING, AWAIT_INPUT, AWAIT_ROOM };

/* EACH_CHANGE: input, room for output and the end, each time they come; WHILE_INPUT: input, as long as there is some. */
enum told { EACH_CHANGE, WHILE_INPUT };

#if defined(HAVE_SYS_EPOLL_H) && defined(HAVE_SYS_TIMERFD_H)
#include "events_epoll.h"
#else
#include "events_poll.h"
#endif

#endif
