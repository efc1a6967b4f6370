/* Reads responses as the load generator does, for test/support/fuzz: from standard input each is a length (uint32_t) and bytes, to standard output
 * goes a letter for what came of it. The same bytes are read at once and in pieces, and must come to the same; what is found in them must be such as
 * the generator sends on. Anything else ends the process, so that whoever watches sees it. */
#include "loop.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_MAX 1048576
#define SECONDS_MAX 10 /* the process is ended by SIGALRM after that */

static struct response whole, pieces;
static struct client client;

static uint32_t chance;

static uint32_t next_chance(uint32_t below)
{
    chance = chance * 1664525u + 1013904223u;
    return (chance >> 8) % below;
}

static void must(bool so, const char *what)
{
    if (so) return;
    fprintf(stderr, "responses.c: %s\n", what);
    abort();
}

/* Copied to memory of just that size, whose ends the sanitizer watches. */
static enum reading feed(struct response *response, const char *bytes, size_t length, bool head_only)
{
    char *copy = malloc(length ? length : 1);
    enum reading reading;

    must(copy, "no memory");
    memcpy(copy, bytes, length);
    reading = load_response_feed(response, copy, length, head_only);
    free(copy);
    return reading;
}

static enum reading feed_pieces(const char *bytes, size_t length, bool head_only)
{
    enum reading reading = NEEDS_MORE;

    for (size_t at = 0; at < length && reading == NEEDS_MORE;) {
        size_t piece = 1 + next_chance(next_chance(4) ? 40 : 20000);
        if (piece > length - at) piece = length - at;
        reading = feed(&pieces, bytes + at, piece, head_only);
        at += piece;
    }
    return reading;
}

static void compare(enum reading at_once, enum reading in_pieces)
{
    /* What comes behind the end of a response is seen only if it comes with it. */
    if (at_once == NO_HTTP && in_pieces == COMPLETE) return;
    must(at_once == in_pieces, "pieces make another response than the whole");
    if (at_once == NO_HTTP) return;
    must(whole.status == pieces.status && whole.body_length == pieces.body_length && whole.body_bytes == pieces.body_bytes, "pieces are read otherwise than the whole");
    must(!whole.body_length || memcmp(whole.body, pieces.body, whole.body_length) == 0, "pieces make another body");
    must(whole.body_length <= BODY_KEPT_MAX && whole.head_length <= HEAD_MAX, "more is kept than may be");
}

static void look_into(const struct response *response)
{
    static struct tally all;
    static const char sent[] = "GET /a/b?c HTTP/1.1\r\n";
    static const char *const keys[] = {"t", "a.1.t", "x-t", "csrf-token", ""};
    struct request_tally tally = {0};
    char found[VALUE_BYTES_MAX];
    const char *bytes;
    size_t length;
    struct hole holes[] = {{4, FILL_VALUE_ENCODED, {0}}, {15, FILL_COOKIES, {0}}};
    struct message message = {"GET  HTTP/1.1\r\n\r\n", 17, holes, 2};

    load_client_take_cookies(&client, response, sent, sizeof(sent) - 1);
    must(client.jar.length <= JAR_BYTES_MAX, "the jar is fuller than it may be");
    for (enum source source = IN_META; source <= IN_COOKIE; source++) {
        for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
            struct pick pick = {0, source, keys[i], strlen(keys[i])};
            length = load_find(&pick, response, &client.jar, found);
            must(length <= VALUE_BYTES_MAX, "a value is longer than it may be");
            for (size_t j = 0; j < length; j++) must((unsigned char)found[j] >= ' ' && found[j] != 0x7f, "a value would break a header");
            load_client_pick(&client, &pick, 1, response);
        }
    }
    must(load_client_fill_in(&client, &message, &bytes, &length), "no memory");
    load_count_redirect(&all, &tally, response);
    must(strlen(tally.location) <= LOCATION_MAX, "a location is longer than it may be");
}

static char read_one(const char *bytes, size_t length)
{
    bool head_only = length && bytes[0] == '\1', keeps_body = !(length && bytes[0] == '\2');
    enum reading at_once;

    chance = (uint32_t)length * 2654435761u + (length ? (unsigned char)bytes[length / 2] : 0);
    if (length && (unsigned char)bytes[0] < 3) bytes++, length--;
    load_response_begin(&whole, keeps_body);
    load_response_begin(&pieces, keeps_body);
    at_once = length ? feed(&whole, bytes, length, head_only) : NEEDS_MORE;
    compare(at_once, feed_pieces(bytes, length, head_only));
    if (whole.head_done && at_once != NO_HTTP) look_into(&whole);
    if (client.jar.length > JAR_BYTES_MAX / 2) load_client_free(&client), client = (struct client){.values = calloc(1, sizeof(struct value)), .values_count = 1};
    return at_once == COMPLETE ? 'c' : at_once == NO_HTTP ? 'n' : 'm';
}

static bool read_all(void *to, size_t length)
{
    return fread(to, 1, length, stdin) == length;
}

int main(void)
{
    static char input[INPUT_MAX];
    uint32_t length;

    client = (struct client){.values = calloc(1, sizeof(struct value)), .values_count = 1};
    while (read_all(&length, sizeof(length)) && length <= INPUT_MAX && read_all(input, length)) {
        char letter;
        alarm(SECONDS_MAX);
        letter = read_one(input, length);
        alarm(0);
        if (write(STDOUT_FILENO, &letter, 1) != 1) return 1;
    }
    return 0;
}
