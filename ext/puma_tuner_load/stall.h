#ifndef PUMA_TUNER_STALL_H
#define PUMA_TUNER_STALL_H

#include <stdint.h>

/* Returns only when epoll fails. */
void stall_serve(int listener, uint64_t service_ns, uint64_t stall_ns, uint64_t stall_after_ns);

#endif
