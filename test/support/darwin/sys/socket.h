/* This system's, without what Darwin lacks, and with its own. */
#include_next <sys/socket.h>
#ifndef DARWIN_SOCKET_H
#define DARWIN_SOCKET_H
#undef SOCK_NONBLOCK
#undef SOCK_CLOEXEC
#undef MSG_NOSIGNAL
#define SO_NOSIGPIPE 0x1022
#pragma GCC poison accept4
#endif
