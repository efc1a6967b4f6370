/* Cookies (RFC 6265), as much of them as one server needs: name, value, path, and when one is to be deleted. Domain, Secure, HttpOnly
 * and SameSite say who may see them; here there is one server, and nobody else. One that expires later is kept to the end. */
#include "client.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct text { const char *at; size_t length; };

/* One cookie in a jar. `bytes`: of all of it. */
struct cookie { struct text name, value, path; size_t bytes; };

#define LENGTHS_BYTES (3 * sizeof(uint16_t))

static struct cookie cookie_at(const struct jar *jar, size_t at)
{
    const char *bytes = jar->bytes + at;
    uint16_t lengths[3];
    const char *name = bytes + LENGTHS_BYTES;

    memcpy(lengths, bytes, sizeof(lengths));
    return (struct cookie){
        {name, lengths[0]}, {name + lengths[0], lengths[1]}, {name + lengths[0] + lengths[1], lengths[2]},
        LENGTHS_BYTES + (size_t)lengths[0] + lengths[1] + lengths[2],
    };
}

static bool same(struct text one, struct text other)
{
    return one.length == other.length && (one.length == 0 || memcmp(one.at, other.at, one.length) == 0);
}

static bool is(struct text text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.at, word, text.length) == 0;
}

static struct text stripped(struct text text)
{
    while (text.length && strchr(" \t", *text.at)) text.at++, text.length--;
    while (text.length && strchr(" \t\r\n", text.at[text.length - 1])) text.length--;
    return text;
}

/* What stands before a character, which is taken away with it; or all of it. */
static struct text split(struct text *rest, char character)
{
    const char *end = rest->length ? memchr(rest->at, character, rest->length) : NULL;
    struct text first = {rest->at, end ? (size_t)(end - rest->at) : rest->length};
    size_t taken = end ? first.length + 1 : first.length;

    rest->at += taken;
    rest->length -= taken;
    return first;
}

static bool has_control_character(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 0x7f) return true;
    }
    return false;
}

/* "Thu, 01 Jan 1970 00:00:00 GMT", with hyphens too, as old servers write it. What can't be read is no date that has passed. */
static bool has_passed(struct text date, int64_t now_s)
{
    /* Years of two digits first: %Y takes them for those of the first century, and %y leaves two of four, which do not fit. */
    static const char *const formats[] = {
        "%a, %d %b %y %H:%M:%S", "%a, %d-%b-%y %H:%M:%S", "%a, %d %b %Y %H:%M:%S", "%a, %d-%b-%Y %H:%M:%S",
    };
    char copy[64];

    if (date.length >= sizeof(copy)) return false;
    memcpy(copy, date.at, date.length);
    copy[date.length] = '\0';
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        struct tm when = {0};
        if (strptime(copy, formats[i], &when)) return timegm(&when) <= now_s;
    }
    return false;
}

/* A Max-Age of 0, or less, deletes. */
static bool is_over(struct text max_age)
{
    size_t zeros = 0;

    if (max_age.length == 0) return false;
    if (*max_age.at == '-') return true;
    while (zeros < max_age.length && max_age.at[zeros] == '0') zeros++;
    return zeros == max_age.length;
}

/* RFC 6265, section 5.1.4. */
static struct text default_path(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] != '/') length--;
    if (length > 1) length--;
    return length && *path == '/' ? (struct text){path, length} : (struct text){"/", 1};
}

static bool applies(struct text cookie_path, const char *path, size_t length)
{
    if (length < cookie_path.length || memcmp(path, cookie_path.at, cookie_path.length) != 0) return false;
    return length == cookie_path.length || cookie_path.at[cookie_path.length - 1] == '/' || path[cookie_path.length] == '/';
}

static void forget(struct jar *jar, struct text name, struct text path)
{
    for (size_t at = 0; at < jar->length;) {
        struct cookie cookie = cookie_at(jar, at);
        if (same(cookie.name, name) && same(cookie.path, path)) {
            memmove(jar->bytes + at, jar->bytes + at + cookie.bytes, jar->length - at - cookie.bytes);
            jar->length -= (uint32_t)cookie.bytes;
        } else {
            at += cookie.bytes;
        }
    }
}

static bool make_room(struct jar *jar, size_t bytes)
{
    size_t needed = jar->length + bytes, room = jar->room ? jar->room : 512;
    char *grown;

    if (needed > JAR_BYTES_MAX) return false;
    if (needed <= jar->room) return true;
    while (room < needed) room *= 2;
    grown = realloc(jar->bytes, room);
    if (!grown) return false;
    jar->bytes = grown;
    jar->room = (uint32_t)room;
    return true;
}

static bool add(struct jar *jar, struct text name, struct text value, struct text path)
{
    uint16_t lengths[] = {(uint16_t)name.length, (uint16_t)value.length, (uint16_t)path.length};
    size_t bytes = LENGTHS_BYTES + name.length + value.length + path.length;
    char *to;

    if (bytes > JAR_BYTES_MAX || !make_room(jar, bytes)) return false;
    to = jar->bytes + jar->length;
    memcpy(to, lengths, sizeof(lengths));
    memcpy(to += sizeof(lengths), name.at, name.length);
    if (value.length) memcpy(to + name.length, value.at, value.length);
    memcpy(to + name.length + value.length, path.at, path.length);
    jar->length += (uint32_t)bytes;
    return true;
}

bool load_jar_take(struct jar *jar, const char *header, size_t length, const char *path, size_t path_length, int64_t now_s)
{
    struct text rest = {header, length}, value = split(&rest, ';'), name = split(&value, '=');
    struct text cookie_path = default_path(path, path_length);
    bool has_max_age = false, over = false;

    if (name.at + name.length == value.at) return true; /* there is no "=", so it is no cookie */
    name = stripped(name);
    value = stripped(value);
    if (name.length == 0 || has_control_character(name) || has_control_character(value)) return true;
    while (rest.length) {
        struct text argument = split(&rest, ';'), attribute = stripped(split(&argument, '='));
        argument = stripped(argument);
        if (is(attribute, "path")) {
            if (argument.length && *argument.at == '/') cookie_path = argument;
        } else if (is(attribute, "max-age")) {
            has_max_age = true;
            over = is_over(argument);
        } else if (is(attribute, "expires") && !has_max_age) {
            over = has_passed(argument, now_s);
        }
    }
    forget(jar, name, cookie_path);
    return over || add(jar, name, value, cookie_path);
}

/* The length of the longest path that a cookie for this request has and that is shorter than the limit; 0: none has. */
static size_t next_shorter(const struct jar *jar, const char *path, size_t path_length, size_t limit)
{
    size_t longest = 0;

    for (size_t at = 0; at < jar->length;) {
        struct cookie cookie = cookie_at(jar, at);
        at += cookie.bytes;
        if (cookie.path.length >= limit || cookie.path.length <= longest) continue;
        if (applies(cookie.path, path, path_length)) longest = cookie.path.length;
    }
    return longest;
}

/* "; a=1", behind others; without a `to` only its length. */
static size_t write_cookie(struct cookie cookie, bool first, char *to)
{
    if (to) {
        if (!first) memcpy(to, "; ", 2), to += 2;
        memcpy(to, cookie.name.at, cookie.name.length);
        to[cookie.name.length] = '=';
        memcpy(to + cookie.name.length + 1, cookie.value.at, cookie.value.length);
    }
    return (first ? 0 : 2) + cookie.name.length + 1 + cookie.value.length;
}

/* Cookies of longer paths come first (section 5.4); in the jar they stand in the order in which they came. */
size_t load_jar_write(const struct jar *jar, const char *path, size_t path_length, char *to)
{
    size_t length = 0, paths = path_length + 1;

    while ((paths = next_shorter(jar, path, path_length, paths))) {
        for (size_t at = 0; at < jar->length;) {
            struct cookie cookie = cookie_at(jar, at);
            at += cookie.bytes;
            if (cookie.path.length != paths || !applies(cookie.path, path, path_length)) continue;
            length += write_cookie(cookie, length == 0, to ? to + length : NULL);
        }
    }
    return length;
}

const char *load_jar_find(const struct jar *jar, const char *name, size_t name_length, size_t *length)
{
    const char *found = NULL;

    for (size_t at = 0; at < jar->length;) {
        struct cookie cookie = cookie_at(jar, at);
        at += cookie.bytes;
        if (!same(cookie.name, (struct text){name, name_length})) continue;
        found = cookie.value.at;
        *length = cookie.value.length;
    }
    return found;
}
