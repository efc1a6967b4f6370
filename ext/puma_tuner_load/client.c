/* What a client keeps from its responses, and puts into its requests. See client.h. */
#include "load.h"
#include <stdlib.h>
#include <string.h>

bool load_client_set(struct client *client, uint32_t value, const char *bytes, size_t length)
{
    char *copy = realloc(client->values[value].bytes, length ? length : 1);

    if (!copy) return false;
    if (length) memcpy(copy, bytes, length);
    client->values[value] = (struct value){copy, (uint32_t)length};
    return true;
}

void load_client_free(struct client *client)
{
    for (uint32_t i = 0; client->values && i < client->values_count; i++) free(client->values[i].bytes);
    free(client->values);
    free(client->jar.bytes);
    free(client->text);
}

/* The path of a request, without its query. */
static const char *path_of(const char *message, size_t message_length, size_t *length)
{
    const char *end = message + message_length, *at = memchr(message, ' ', message_length);
    const char *last;

    *length = 0;
    if (!at) return message;
    for (last = ++at; last < end && *last != ' ' && *last != '?' && *last != '\r'; last++) (*length)++;
    return at;
}

/* RFC 3986: all but what is unreserved; so it can stand in a path, a query and a form. */
static size_t encode(struct value value, char *to)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t length = 0;

    for (uint32_t i = 0; i < value.length; i++) {
        unsigned char c = (unsigned char)value.bytes[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c && strchr("-._~", c));
        if (plain) {
            if (to) to[length] = (char)c;
            length++;
        } else {
            if (to) to[length] = '%', to[length + 1] = digits[c >> 4], to[length + 2] = digits[c & 15];
            length += 3;
        }
    }
    return length;
}

static size_t fill_value(struct value value, char *to)
{
    if (to && value.length) memcpy(to, value.bytes, value.length);
    return value.length;
}

#define COOKIE_NAME "Cookie: "

/* `text`: what has been filled in so far, which begins with the path. */
static size_t fill_cookies(const struct client *client, const char *text, size_t text_length, char *to)
{
    size_t path_length, name = strlen(COOKIE_NAME);
    const char *path = path_of(text, text_length, &path_length);
    size_t length = load_jar_write(&client->jar, path, path_length, to ? to + name : NULL);

    if (length == 0) return 0;
    if (to) memcpy(to, COOKIE_NAME, name), memcpy(to + name + length, "\r\n", 2);
    return name + length + 2;
}

static size_t body_length(const struct client *client, const struct message *message, size_t body_at)
{
    size_t length = message->length - body_at;

    for (uint32_t i = 0; i < message->holes_count; i++) {
        const struct hole *hole = &message->holes[i];
        if (hole->at < body_at) continue;
        if (hole->filling == FILL_VALUE) length += client->values[hole->value].length;
        else if (hole->filling == FILL_VALUE_ENCODED) length += encode(client->values[hole->value], NULL);
    }
    return length;
}

#define DIGITS_MAX 20

/* The most that one hole can take. Of cookies each has two characters more than in its jar at most, whose lengths take six. */
static size_t bound(const struct client *client, const struct hole *hole)
{
    switch (hole->filling) {
      case FILL_VALUE:
        return client->values[hole->value].length;
      case FILL_VALUE_ENCODED:
        return (size_t)client->values[hole->value].length * 3;
      case FILL_COOKIES:
        return client->jar.length + strlen(COOKIE_NAME) + 2;
      default:
        return DIGITS_MAX + 1;
    }
}

static bool make_room(struct client *client, const struct message *message)
{
    size_t needed = message->length;
    char *text;

    for (uint32_t i = 0; i < message->holes_count; i++) needed += bound(client, &message->holes[i]);
    if (needed <= client->room) return true;
    text = realloc(client->text, needed);
    if (!text) return false;
    client->text = text;
    client->room = needed;
    return true;
}

static size_t fill(const struct client *client, const struct message *message, const struct hole *hole, size_t at)
{
    char *to = client->text + at;

    switch (hole->filling) {
      case FILL_VALUE:
        return fill_value(client->values[hole->value], to);
      case FILL_VALUE_ENCODED:
        return encode(client->values[hole->value], to);
      case FILL_COOKIES:
        return fill_cookies(client, client->text, at, to);
      default:
        return (size_t)snprintf(to, DIGITS_MAX + 1, "%zu", body_length(client, message, hole->body_at));
    }
}

bool load_client_fill_in(struct client *client, const struct message *message, const char **bytes, size_t *length)
{
    size_t taken = 0, at = 0;

    if (!make_room(client, message)) return false;
    for (uint32_t i = 0; i < message->holes_count; i++) {
        const struct hole *hole = &message->holes[i];
        memcpy(client->text + at, message->bytes + taken, hole->at - taken);
        at += hole->at - taken;
        taken = hole->at;
        at += fill(client, message, hole, at);
    }
    memcpy(client->text + at, message->bytes + taken, message->length - taken);
    *bytes = client->text;
    *length = at + message->length - taken;
    return true;
}

uint32_t load_client_take_cookies(struct client *client, const struct response *response, const char *sent, size_t sent_length)
{
    const char *at = response->head, *end = at + response->head_length, *header;
    size_t length, path_length;
    const char *path = path_of(sent, sent_length, &path_length);
    uint32_t dropped_count = 0;

    while ((header = load_next_header(&at, end, "set-cookie", &length))) {
        dropped_count += !load_jar_take(&client->jar, header, length, path, path_length, (int64_t)time(NULL));
    }
    return dropped_count;
}

uint32_t load_client_pick(struct client *client, const struct pick *picks, uint32_t picks_count, const struct response *response)
{
    char value[VALUE_BYTES_MAX];
    uint32_t i;

    for (i = 0; i < picks_count; i++) {
        size_t length = load_find(&picks[i], response, &client->jar, value);
        if (length == 0 || !load_client_set(client, picks[i].value, value, length)) break;
    }
    return i;
}
