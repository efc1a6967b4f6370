/* This system's, without what Darwin lacks. */
#include_next <poll.h>
#ifndef DARWIN_POLL_H
#define DARWIN_POLL_H
#undef POLLRDHUP
#pragma GCC poison POLLRDHUP ppoll
#endif
