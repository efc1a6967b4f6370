/* Sockets that never block, are closed by exec, and tell of a lost reader by an error, never by a signal: how that is said differs. */
#ifndef PUMA_TUNER_SOCKETS_H
#define PUMA_TUNER_SOCKETS_H

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE says it */
#endif

/* Returns the socket, or -1, as it was handed one. */
static inline int socket_prepared(int fd)
{
#ifdef SO_NOSIGPIPE
    int one = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof(one));
#endif
    return fd;
}

/* What accept and socket are not told here. */
static inline int socket_set(int fd)
{
    if (fd >= 0) {
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return socket_prepared(fd);
}

static inline int socket_new(int family)
{
#if defined(SOCK_NONBLOCK) && defined(SOCK_CLOEXEC)
    return socket_prepared(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
#else
    return socket_set(socket(family, SOCK_STREAM, 0));
#endif
}

static inline int socket_accept(int listener)
{
#ifdef HAVE_ACCEPT4
    return socket_prepared(accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
#else
    return socket_set(accept(listener, NULL, NULL));
#endif
}

#endif
