/* HTTP/1.1 responses, as much of it as a load generator needs: where one ends. (RFC 9112, sections 4, 6 and 7.) */
#include "load.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CHUNK_BEGIN, CHUNK_SIZE, CHUNK_EXTENSION, CHUNK_DATA, CHUNK_DATA_END, TRAILER, TRAILER_LINE };

void load_response_begin(struct response *response, bool keeps_body)
{
    size_t kept = offsetof(struct response, head_length);
    memset((char *)response + kept, 0, sizeof(*response) - kept);
    response->keeps_body = keeps_body;
}

/* Tells whether a list of tokens has this one. */
static bool has_token(const char *value, size_t length, const char *token)
{
    size_t token_length = strlen(token);
    while (length) {
        const char *comma = memchr(value, ',', length);
        size_t word = comma ? (size_t)(comma - value) : length, skipped = comma ? word + 1 : length;
        const char *at = value;
        while (word && strchr(" \t", *at)) at++, word--;
        while (word && strchr(" \t\r", at[word - 1])) word--;
        if (word == token_length && strncasecmp(at, token, word) == 0) return true;
        value += skipped;
        length -= skipped;
    }
    return false;
}

/* What the lines of a head say together of where the response ends, and of its connection. */
struct framing { bool has_length, wrong_length, coded, closes, keeps; };

/* Content-Length. The same number several times, in a list or in lines of their own, is one; of two numbers, or of what is none, nobody
 * knows which end is meant. */
static void take_length(const char *value, size_t length, struct framing *framing, uint64_t *known)
{
    const char *end = value + length;

    for (;; value++) {
        uint64_t number = 0;
        int digits = 0;

        while (value < end && strchr(" \t", *value)) value++;
        for (; value < end && digits < 18 && *value >= '0' && *value <= '9'; digits++) number = number * 10 + (uint64_t)(*value++ - '0');
        while (value < end && strchr(" \t\r", *value)) value++;
        if (digits == 0 || (framing->has_length && number != *known) || (value < end && *value != ',')) framing->wrong_length = true;
        framing->has_length = true;
        *known = number;
        if (value >= end || framing->wrong_length) return;
    }
}

/* The few header lines that tell where the response ends, or where it leads to. */
static void header_line(struct response *response, const char *line, size_t length, struct framing *framing)
{
    const char *colon = memchr(line, ':', length);
    size_t name_length;
    const char *value;

    if (!colon) return;
    name_length = (size_t)(colon - line);
    value = colon + 1;
    length -= name_length + 1;
    while (length && (*value == ' ' || *value == '\t')) value++, length--;
    if (name_length == 14 && strncasecmp(line, "content-length", 14) == 0) {
        take_length(value, length, framing, &response->left);
    } else if (name_length == 17 && strncasecmp(line, "transfer-encoding", 17) == 0) {
        response->chunked = has_token(value, length, "chunked");
        framing->coded = !has_token(value, length, "identity"); /* which is none, as RFC 2616 had it */
    } else if (name_length == 10 && strncasecmp(line, "connection", 10) == 0) {
        framing->closes |= has_token(value, length, "close");
        framing->keeps |= has_token(value, length, "keep-alive");
    } else if (name_length == 8 && strncasecmp(line, "location", 8) == 0) {
        response->location = value;
        response->location_length = length;
    }
}

const char *load_next_header(const char **at, const char *end, const char *name, size_t *length)
{
    size_t name_length = strlen(name);

    while (*at < end && **at != '\r' && **at != '\n') {
        const char *line = *at, *line_end = memchr(line, '\n', (size_t)(end - line)), *value;
        if (!line_end) line_end = end;
        *at = line_end < end ? line_end + 1 : end;
        if ((size_t)(line_end - line) <= name_length || line[name_length] != ':' || strncasecmp(line, name, name_length) != 0) continue;
        value = line + name_length + 1;
        while (value < line_end && strchr(" \t", *value)) value++;
        while (line_end > value && strchr(" \t\r", line_end[-1])) line_end--;
        *length = (size_t)(line_end - value);
        return value;
    }
    return NULL;
}

/* "HTTP/1.1 200 …": the status; 0 when it is none. */
static int status_of(const char *head, size_t length)
{
    int status = 0;

    if (length < 12 || memcmp(head, "HTTP/1.", 7) != 0 || head[8] != ' ') return 0;
    for (int i = 9; i < 12; i++) {
        if (head[i] < '0' || head[i] > '9') return 0;
        status = status * 10 + head[i] - '0';
    }
    return status >= 100 && status < STATUSES ? status : 0;
}

/* Interim responses, 204 and 304 have no body, whatever their lines say (RFC 9112, section 6.3). What comes behind SWITCHING is no HTTP. */
#define SWITCHING 101

static bool is_bodiless(int status) { return status < 200 || status == 204 || status == 304; }

/* The whole head is there. False when it is none. */
static bool parse_head(struct response *response, size_t head_end, bool head_only)
{
    const char *at = response->head, *end = response->head + head_end;
    struct framing framing = {0};

    response->status = status_of(at, head_end);
    if (!response->status) return false;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        header_line(response, at, (size_t)(line_end - at), &framing);
        at = line_end + 1;
    }
    response->close = framing.closes || response->status == SWITCHING || (response->head[7] == '0' && !framing.keeps);
    response->head_done = true;
    if (head_only || is_bodiless(response->status)) {
        response->left = 0;
        response->chunked = false;
    } else if (response->chunked) {
        response->left = 0;
    } else if (framing.coded || !framing.has_length) {
        response->until_close = true;
        response->close = true;
    } else if (framing.wrong_length) {
        return false;
    }
    return true;
}

/* Without memory for it less is kept, and the text that is looked for may be missed: no response is taken for right. */
static void keep_body(struct response *response, const char *bytes, size_t length)
{
    size_t needed = response->body_length + length;

    if (needed > BODY_KEPT_MAX) needed = BODY_KEPT_MAX;
    if (needed > response->body_room) {
        size_t room = response->body_room ? response->body_room : 4096;
        char *body;
        while (room < needed) room *= 2;
        body = realloc(response->body, room);
        if (!body) return;
        response->body = body;
        response->body_room = room;
    }
    memcpy(response->body + response->body_length, bytes, needed - response->body_length);
    response->body_length = needed;
}

static void body_bytes(struct response *response, const char *bytes, size_t length)
{
    response->body_bytes += length;
    if (response->keeps_body && length) keep_body(response, bytes, length);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* RFC 9112, section 7.1. */
static enum reading feed_chunks(struct response *response, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        char c = bytes[i];
        switch (response->chunk_state) {
          case CHUNK_BEGIN:
            if (hex(c) < 0) return NO_HTTP;
            response->chunk_state = CHUNK_SIZE;
            break;
          case CHUNK_SIZE:
            if (hex(c) >= 0 && response->left >> 56 == 0) response->left = response->left * 16 + (uint64_t)hex(c);
            else if (c == '\n') response->chunk_state = response->left ? CHUNK_DATA : TRAILER;
            else if (c == ';') response->chunk_state = CHUNK_EXTENSION;
            else if (c != '\r' && c != ' ') return NO_HTTP;
            i++;
            break;
          case CHUNK_EXTENSION:
            if (c == '\n') response->chunk_state = response->left ? CHUNK_DATA : TRAILER;
            i++;
            break;
          case CHUNK_DATA: {
            size_t part = length - i < response->left ? length - i : (size_t)response->left;
            body_bytes(response, bytes + i, part);
            response->left -= part;
            i += part;
            if (response->left == 0) response->chunk_state = CHUNK_DATA_END;
            break;
          }
          case CHUNK_DATA_END:
            if (c == '\n') response->chunk_state = CHUNK_BEGIN;
            else if (c != '\r') return NO_HTTP; /* the chunk is longer than it said */
            i++;
            break;
          case TRAILER:
            i++;
            if (c == '\n') return i == length ? COMPLETE : NO_HTTP;
            if (c != '\r') response->chunk_state = TRAILER_LINE;
            break;
          case TRAILER_LINE:
            if (c == '\n') response->chunk_state = TRAILER;
            i++;
            break;
        }
    }
    return NEEDS_MORE;
}

enum reading load_response_feed(struct response *response, const char *bytes, size_t length, bool head_only)
{
    if (!response->head_done) {
        size_t room = HEAD_MAX - response->head_length, taken = length < room ? length : room;
        const char *end;
        size_t head_end, before = response->head_length;

        memcpy(response->head + before, bytes, taken);
        response->head_length += taken;
        end = memmem(response->head, response->head_length, "\r\n\r\n", 4);
        if (!end) return response->head_length == HEAD_MAX ? NO_HTTP : NEEDS_MORE;
        head_end = (size_t)(end - response->head) + 4;
        if (!parse_head(response, head_end, head_only)) return NO_HTTP;
        if (response->status < 200 && response->status != SWITCHING) { /* an interim response: the real one follows */
            size_t used = head_end - before;
            load_response_begin(response, response->keeps_body);
            return load_response_feed(response, bytes + used, length - used, head_only);
        }
        bytes += head_end - before;
        length -= head_end - before;
        if (response->status == SWITCHING) return COMPLETE;
        if (!response->chunked && !response->until_close && response->left == 0) return length ? NO_HTTP : COMPLETE;
    }
    if (response->chunked) return feed_chunks(response, bytes, length);
    body_bytes(response, bytes, length);
    if (response->until_close) return NEEDS_MORE;
    if (length > response->left) return NO_HTTP;
    response->left -= length;
    return response->left == 0 ? COMPLETE : NEEDS_MORE;
}
