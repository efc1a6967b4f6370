/* What a client has from one request to the next, over whichever connection: cookies, and values that it was given or has picked
 * from responses. All of it is bounded, as it comes from the server. */
#ifndef PUMA_TUNER_CLIENT_H
#define PUMA_TUNER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct response;

/* RFC 6265, section 6.1, asks for 4096 bytes a cookie at least; a server that is sent more than this of them refuses the request. */
#define JAR_BYTES_MAX 16384
#define VALUE_BYTES_MAX 4096

/* Cookies one after the other: the lengths of name, value and path as uint16_t, then these. `room` is what is allocated. */
struct jar { char *bytes; uint32_t length, room; };

struct value { char *bytes; uint32_t length; };

struct client {
    struct jar jar;
    struct value *values;       /* `values_count` of them; bytes NULL: nothing yet */
    uint32_t values_count;
    char *text;                 /* the message that was filled in last */
    size_t room;
};

/* What is filled in at a place of a message: a value as it is or percent-encoded, a header line of cookies, or the length of the
 * body, which begins at `body_at`. In ascending order of `at`. */
enum filling { FILL_VALUE, FILL_VALUE_ENCODED, FILL_COOKIES, FILL_BODY_LENGTH };

struct hole {
    uint32_t at, filling;
    union { uint32_t value, body_at; };
};

/* A request's bytes, as they go over the wire. */
struct message { const char *bytes; size_t length; const struct hole *holes; uint32_t holes_count; };

/* Where a value is found in a response: the content of a meta element, the value of an input element, a field of JSON, a header, or
 * a cookie, each by its name; of JSON by names with dots between. */
enum source { IN_META, IN_INPUT, IN_JSON, IN_HEADER, IN_COOKIE };

struct pick {
    uint32_t value;             /* its place among the client's */
    enum source source;
    const char *key;
    size_t key_length;
};

/* client.c: the message as this client sends it, valid until its next one. False when there is no memory. */
bool load_client_fill_in(struct client *client, const struct message *message, const char **bytes, size_t *length);

/* client.c: takes the cookies out of a response to a request that was sent with these bytes. How many had no room. */
uint32_t load_client_take_cookies(struct client *client, const struct response *response, const char *sent, size_t sent_length);

/* client.c: takes the values out of a response. The place of the first pick that was not there; `picks_count` when all were. */
uint32_t load_client_pick(struct client *client, const struct pick *picks, uint32_t picks_count, const struct response *response);

/* client.c: gives a value, of VALUE_BYTES_MAX at most. False when there is no memory. */
bool load_client_set(struct client *client, uint32_t value, const char *bytes, size_t length);

void load_client_free(struct client *client);

/* jar.c: takes one Set-Cookie header. `path`: of the request, without its query; `now_s`: since the epoch. False when it had no room. */
bool load_jar_take(struct jar *jar, const char *header, size_t length, const char *path, size_t path_length, int64_t now_s);

/* jar.c: writes "a=1; b=2", of cookies for that path, to `to` if that is not NULL. Returns its length. */
size_t load_jar_write(const struct jar *jar, const char *path, size_t path_length, char *to);

/* jar.c: the value of the cookie that was taken last under this name; NULL: none. */
const char *load_jar_find(const struct jar *jar, const char *name, size_t name_length, size_t *length);

/* pick.c: finds a value in a response, or in a jar that has taken its cookies. Writes VALUE_BYTES_MAX at most to `to` and returns the
 * length; 0 for one that is not there, is empty or longer, or has a control character, which would not do in a header. */
size_t load_find(const struct pick *pick, const struct response *response, const struct jar *jar, char *to);

#endif
