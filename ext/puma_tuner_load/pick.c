/* Values that are found in a response: in HTML by an element's name, in JSON by a field's, in a header, in a cookie. What is read was
 * written by somebody else, and may be anything: nothing here needs it to be well-formed, or goes beyond its end. */
#include "load.h"
#include <string.h>
#include <strings.h>

struct reader { const char *at, *end; };

/* A value as it comes about; `full`: it would be longer than it may be. */
struct writer { char *to; size_t length; bool full; };

static void put(struct writer *writer, char c)
{
    if (writer->length == VALUE_BYTES_MAX) writer->full = true;
    else writer->to[writer->length++] = c;
}

static void put_all(struct writer *writer, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && !writer->full; i++) put(writer, bytes[i]);
}

static void put_utf8(struct writer *writer, uint32_t code)
{
    if (code < 0x80) {
        put(writer, (char)code);
    } else if (code < 0x800) {
        put(writer, (char)(0xc0 | code >> 6));
        put(writer, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        put(writer, (char)(0xe0 | code >> 12));
        put(writer, (char)(0x80 | (code >> 6 & 0x3f)));
        put(writer, (char)(0x80 | (code & 0x3f)));
    } else {
        put(writer, (char)(0xf0 | code >> 18));
        put(writer, (char)(0x80 | (code >> 12 & 0x3f)));
        put(writer, (char)(0x80 | (code >> 6 & 0x3f)));
        put(writer, (char)(0x80 | (code & 0x3f)));
    }
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && is_blank(*reader->at)) reader->at++;
}

static int digit(char c, int base)
{
    int value = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : base;
    return value < base ? value : -1;
}

/* "&#39;", "&#x2B;" and the five that are named; anything else stands for itself. What is behind it; NULL when it is none. */
static const char *entity(const char *at, const char *end, struct writer *writer)
{
    static const struct { const char *name; char character; } named[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    uint32_t code = 0;
    int base = 10, digits = 0;

    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
        size_t length = strlen(named[i].name);
        if ((size_t)(end - at) < length || memcmp(at, named[i].name, length) != 0) continue;
        put(writer, named[i].character);
        return at + length;
    }
    if (end - at < 4 || at[1] != '#') return NULL;
    at += 2;
    if ((*at | 0x20) == 'x') at++, base = 16;
    for (; at < end && digits < 7 && digit(*at, base) >= 0; at++, digits++) code = code * (uint32_t)base + (uint32_t)digit(*at, base);
    if (digits == 0 || at == end || *at != ';' || code > 0x10ffff) return NULL;
    put_utf8(writer, code);
    return at + 1;
}

static void put_html(struct writer *writer, const char *at, size_t length)
{
    const char *end = at + length;

    while (at < end && !writer->full) {
        const char *behind = *at == '&' ? entity(at, end, writer) : NULL;
        if (behind) at = behind;
        else put(writer, *at++);
    }
}

struct attribute { const char *name, *value; size_t name_length, value_length; };

/* The next attribute of an element; false at its end. */
static bool next_attribute(struct reader *reader, struct attribute *attribute)
{
    while (reader->at < reader->end && (is_blank(*reader->at) || *reader->at == '/')) reader->at++;
    if (reader->at == reader->end || *reader->at == '>') return false;
    *attribute = (struct attribute){.name = reader->at};
    do reader->at++; while (reader->at < reader->end && !is_blank(*reader->at) && !memchr("=>/", *reader->at, 3));
    attribute->name_length = (size_t)(reader->at - attribute->name);
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != '=') return true;
    reader->at++;
    skip_blanks(reader);
    attribute->value = reader->at;
    if (reader->at < reader->end && (*reader->at == '"' || *reader->at == '\'')) {
        const char *close = memchr(reader->at + 1, *reader->at, (size_t)(reader->end - reader->at - 1));
        attribute->value++;
        attribute->value_length = (size_t)((close ? close : reader->end) - attribute->value);
        reader->at = close ? close + 1 : reader->end;
        return true;
    }
    while (reader->at < reader->end && !is_blank(*reader->at) && *reader->at != '>') reader->at++;
    attribute->value_length = (size_t)(reader->at - attribute->value);
    return true;
}

static bool named(const struct attribute *attribute, const char *name)
{
    return attribute->value && attribute->name_length == strlen(name) && strncasecmp(attribute->name, name, attribute->name_length) == 0;
}

/* The value of the first element whose `name` is the key. */
static void find_in_html(struct reader reader, const char *element, const char *valued, const struct pick *pick, struct writer *writer)
{
    size_t element_length = strlen(element);

    while (reader.at < reader.end && (reader.at = memchr(reader.at, '<', (size_t)(reader.end - reader.at)))) {
        struct attribute attribute, value = {0};
        bool found = false;

        reader.at++;
        if ((size_t)(reader.end - reader.at) <= element_length || strncasecmp(reader.at, element, element_length) != 0) continue;
        if (!is_blank(reader.at[element_length]) && reader.at[element_length] != '/') continue;
        reader.at += element_length;
        while (next_attribute(&reader, &attribute)) {
            if (named(&attribute, "name")) {
                found = attribute.value_length == pick->key_length && memcmp(attribute.value, pick->key, pick->key_length) == 0;
            } else if (named(&attribute, valued)) {
                value = attribute;
            }
        }
        if (found) return put_html(writer, value.value, value.value_length);
    }
}

/* From behind the opening quotation mark to behind the closing one. False when there is none. */
static bool skip_string(struct reader *reader)
{
    for (; reader->at < reader->end; reader->at++) {
        if (*reader->at == '"') return reader->at++, true;
        if (*reader->at == '\\' && ++reader->at == reader->end) return false;
    }
    return false;
}

/* One value of JSON, however deep, and whether or not its brackets match. */
static bool skip_value(struct reader *reader)
{
    uint64_t depth = 0;

    do {
        skip_blanks(reader);
        if (reader->at == reader->end) return false;
        switch (*reader->at) {
          case '"':
            reader->at++;
            if (!skip_string(reader)) return false;
            break;
          case '{': case '[':
            depth++;
            reader->at++;
            break;
          case '}': case ']':
            if (depth == 0) return false;
            depth--;
            reader->at++;
            break;
          case ',': case ':':
            if (depth == 0) return false;
            reader->at++;
            break;
          default:
            while (reader->at < reader->end && !is_blank(*reader->at) && !memchr(",:]}[{\"", *reader->at, 7)) reader->at++;
        }
    } while (depth);
    return true;
}

static bool takes(struct reader *reader, char c)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != c) return false;
    reader->at++;
    return true;
}

/* To the value of this field, in an object. A name with an escape in it is not found. */
static bool enter_field(struct reader *reader, const char *name, size_t length)
{
    do {
        const char *begin;
        bool found;

        if (!takes(reader, '"')) return false;
        begin = reader->at;
        if (!skip_string(reader)) return false;
        found = (size_t)(reader->at - 1 - begin) == length && memcmp(begin, name, length) == 0;
        if (!takes(reader, ':')) return false;
        if (found) return true;
        if (!skip_value(reader)) return false;
    } while (takes(reader, ','));
    return false;
}

/* To the value at this place, in an array, counted from 0. */
static bool enter_place(struct reader *reader, const char *number, size_t length)
{
    uint32_t place = 0;

    if (length == 0 || length > 6) return false;
    for (size_t i = 0; i < length; i++) {
        if (digit(number[i], 10) < 0) return false;
        place = place * 10 + (uint32_t)digit(number[i], 10);
    }
    for (; place; place--) {
        if (!skip_value(reader) || !takes(reader, ',')) return false;
    }
    return true;
}

/* Four hexadecimal digits; -1 when they are none. */
static int32_t four_digits(struct reader *reader)
{
    int32_t code = 0;

    if (reader->end - reader->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int value = digit(*reader->at++, 16);
        if (value < 0) return -1;
        code = code * 16 + value;
    }
    return code;
}

/* After "\u". Half a pair stands for nothing, so the value is none. */
static bool put_escaped_code(struct reader *reader, struct writer *writer)
{
    int32_t code = four_digits(reader), other;

    if (code < 0 || (code >= 0xdc00 && code < 0xe000)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u') return false;
        reader->at += 2;
        other = four_digits(reader);
        if (other < 0xdc00 || other >= 0xe000) return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (other - 0xdc00);
    }
    put_utf8(writer, (uint32_t)code);
    return true;
}

/* From behind the opening quotation mark. */
static bool put_string(struct reader *reader, struct writer *writer)
{
    static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";

    while (reader->at < reader->end && !writer->full) {
        char c = *reader->at++;
        const char *escape;

        if (c == '"') return true;
        if (c != '\\') {
            put(writer, c);
            continue;
        }
        if (reader->at == reader->end) return false;
        c = *reader->at++;
        if (c == 'u') {
            if (!put_escaped_code(reader, writer)) return false;
            continue;
        }
        for (escape = escapes; *escape && *escape != c; escape += 2) continue;
        if (!*escape) return false;
        put(writer, escape[1]);
    }
    return false;
}

/* A string, a number, true or false. */
static bool put_json(struct reader *reader, struct writer *writer)
{
    const char *begin;

    if (takes(reader, '"')) return put_string(reader, writer);
    begin = reader->at;
    if (begin == reader->end || memchr("{[]},:", *begin, 6) || !skip_value(reader)) return false;
    if (reader->at - begin == 4 && memcmp(begin, "null", 4) == 0) return false;
    put_all(writer, begin, (size_t)(reader->at - begin));
    return true;
}

static void find_in_json(struct reader reader, const struct pick *pick, struct writer *writer)
{
    const char *key = pick->key, *end = key + pick->key_length;

    while (key <= end) {
        const char *dot = memchr(key, '.', (size_t)(end - key));
        size_t length = (size_t)((dot ? dot : end) - key);
        bool entered = takes(&reader, '{') ? enter_field(&reader, key, length) : takes(&reader, '[') && enter_place(&reader, key, length);

        if (!entered) return;
        key += length + 1;
    }
    if (!put_json(&reader, writer)) writer->length = 0;
}

static void find_in_head(const struct response *response, const struct pick *pick, struct writer *writer)
{
    const char *at = response->head, *value;
    char name[256];
    size_t length;

    if (pick->key_length >= sizeof(name)) return;
    memcpy(name, pick->key, pick->key_length);
    name[pick->key_length] = '\0';
    value = load_next_header(&at, response->head + response->head_length, name, &length);
    if (value) put_all(writer, value, length);
}

static void find_in_jar(const struct jar *jar, const struct pick *pick, struct writer *writer)
{
    size_t length;
    const char *value = load_jar_find(jar, pick->key, pick->key_length, &length);

    if (value) put_all(writer, value, length);
}

size_t load_find(const struct pick *pick, const struct response *response, const struct jar *jar, char *to)
{
    struct writer writer = {.to = to};
    struct reader body = {response->body, response->body + response->body_length};

    switch (pick->source) {
      case IN_META:
        find_in_html(body, "meta", "content", pick, &writer);
        break;
      case IN_INPUT:
        find_in_html(body, "input", "value", pick, &writer);
        break;
      case IN_JSON:
        find_in_json(body, pick, &writer);
        break;
      case IN_HEADER:
        find_in_head(response, pick, &writer);
        break;
      case IN_COOKIE:
        find_in_jar(jar, pick, &writer);
        break;
    }
    if (writer.full) return 0;
    for (size_t i = 0; i < writer.length; i++) {
        if ((unsigned char)to[i] < ' ' || to[i] == 0x7f) return 0;
    }
    return writer.length;
}
