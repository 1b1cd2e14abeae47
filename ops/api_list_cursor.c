/* See api_list_cursor.h. The bytes: version 1, due 8, partition 4, offset 8, topic, check 4; big-endian. The check is there for people who copy half of it. */
#include "ops/api_list_cursor.h"

#include <string.h>

#include "base/buffer.h"
#include "dlq/letter_text.h"

#define VERSION 1
#define HEAD 21 /* before the topic */
#define CHECK 4
#define BYTES_MAX (HEAD + API_LIST_PLACE_TOPIC_MAX + CHECK)

static void put(uint8_t *at, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(number >> (8 * (bytes - 1 - i)));
    }
}

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++) {
        number = number << 8 | at[i];
    }
    return number;
}

static uint32_t check_of(const uint8_t *bytes, size_t length)
{
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ bytes[i]) * UINT32_C(16777619);
    }
    return hash;
}

/* Of the two alphabets of base64, which differ in two letters. */
static char exchange(char letter, const char *from, const char *to)
{
    if (letter == from[0]) {
        return to[0];
    }
    if (letter == from[1]) {
        return to[1];
    }
    return letter;
}

void api_list_cursor_text(const struct api_list_cursor *cursor, char text[API_LIST_CURSOR_TEXT_SIZE])
{
    uint8_t bytes[BYTES_MAX];
    size_t topic = strlen(cursor->place.topic);
    bytes[0] = VERSION;
    put(bytes + 1, (uint64_t)cursor->due_ms, 8);
    put(bytes + 9, (uint32_t)cursor->place.partition, 4);
    put(bytes + 13, (uint64_t)cursor->offset, 8);
    memcpy(bytes + HEAD, cursor->place.topic, topic);
    put(bytes + HEAD + topic, check_of(bytes, HEAD + topic), CHECK);
    struct buffer buffer = buffer_new(API_LIST_CURSOR_TEXT_SIZE - 1);
    letter_text_add_base64(&buffer, (struct span){bytes, HEAD + topic + CHECK});
    size_t length = 0;
    for (; length < buffer.length && buffer.data[length] != '='; length++) {
        text[length] = exchange((char)buffer.data[length], "+/", "-_");
    }
    text[length] = '\0';
    buffer_free(&buffer);
}

/* The bytes that base64url without padding stands for. */
static bool decode(struct span text, struct buffer *bytes)
{
    char plain[API_LIST_CURSOR_TEXT_SIZE + 4];
    size_t length = 0;
    if (text.data == NULL || text.length == 0 || text.length >= API_LIST_CURSOR_TEXT_SIZE) {
        return false;
    }
    for (; length < text.length; length++) {
        char byte = (char)text.data[length];
        if (byte == '+' || byte == '/' || byte == '=') {
            return false;
        }
        plain[length] = exchange(byte, "-_", "+/");
    }
    while (length % 4 != 0) {
        plain[length++] = '=';
    }
    return letter_text_decode_base64(bytes, (struct span){(const uint8_t *)plain, length});
}

static bool is_topic_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
}

static bool read_bytes(const uint8_t *bytes, size_t length, struct api_list_cursor *cursor)
{
    if (length < HEAD + CHECK || length > BYTES_MAX || bytes[0] != VERSION ||
        get(bytes + length - CHECK, CHECK) != check_of(bytes, length - CHECK)) {
        return false;
    }
    struct api_list_cursor made = {.due_ms = (int64_t)get(bytes + 1, 8), .offset = (int64_t)get(bytes + 13, 8)};
    size_t topic = length - HEAD - CHECK;
    made.place.partition = (int32_t)get(bytes + 9, 4);
    for (size_t i = 0; i < topic; i++) {
        if (!is_topic_byte(bytes[HEAD + i])) {
            return false;
        }
    }
    memcpy(made.place.topic, bytes + HEAD, topic);
    bool right = made.due_ms >= 0 && made.place.partition >= -1 && made.offset >= -1;
    if (right) {
        *cursor = made;
    }
    return right;
}

bool api_list_cursor_read(struct span text, struct api_list_cursor *cursor)
{
    struct buffer bytes = buffer_new(API_LIST_CURSOR_TEXT_SIZE);
    bool right = decode(text, &bytes) && read_bytes(bytes.data, bytes.length, cursor);
    buffer_free(&bytes);
    return right;
}
