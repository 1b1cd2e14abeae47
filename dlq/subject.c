/* Subjects of the streams: see subject.h. */
#include "dlq/subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LARGE_WORD "large."

/* In the order of enum subject_kind. */
static const char *const kind_words[] = {"dlq.", "parked.", "nack."};
enum { KINDS = sizeof(kind_words) / sizeof(kind_words[0]) };

static bool plain(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
}

/* Appends to a subject of `length` characters; three characters at most for each byte. What does not fit is cut: only a damaged topic is so long. */
static void add_byte(char subject[SUBJECT_SIZE], size_t *length, uint8_t byte, bool as_is)
{
    static const char digits[] = "0123456789ABCDEF";
    char written[] = {'%', digits[byte >> 4], digits[byte & 0xF]};
    size_t count = as_is ? 1 : sizeof(written);
    if (count < SUBJECT_SIZE - *length) {
        memcpy(subject + *length, as_is ? (const char *)&byte : written, count);
        *length += count;
    }
    subject[*length] = '\0';
}

static size_t add_start(char subject[SUBJECT_SIZE], const char *prefix, const char *word)
{
    int written = snprintf(subject, SUBJECT_SIZE, "%s%s", prefix, word);
    return written < 0 ? 0 : written >= SUBJECT_SIZE ? SUBJECT_SIZE - 1 : (size_t)written;
}

void subject_of(char subject[SUBJECT_SIZE], const char *prefix, enum subject_kind kind, struct span target)
{
    size_t length = add_start(subject, prefix, kind_words[kind]);
    if (target.length == 0) {
        target = span_of_text(SUBJECT_REFUSED);
    } else if (span_equals_text(target, SUBJECT_REFUSED)) { /* a topic may be called so: not to be taken for none */
        add_byte(subject, &length, '_', false);
        target.data++;
        target.length--;
    }
    for (size_t i = 0; i < target.length; i++) {
        add_byte(subject, &length, target.data[i], plain(target.data[i]));
    }
}

void subject_large(char subject[SUBJECT_SIZE], const char *prefix, const struct letter *letter, uint32_t n)
{
    (void)snprintf(subject, SUBJECT_SIZE, "%s" LARGE_WORD "%s.%016" PRIx64 "-%" PRIu32 ".%" PRIu32, prefix, letter->id, letter->parts_hash, letter->parts, n);
}

void subject_large_all(char subject[SUBJECT_SIZE], const char *prefix, const char *id)
{
    (void)snprintf(subject, SUBJECT_SIZE, "%s" LARGE_WORD "%s.>", prefix, id);
}

void subject_all(char subject[SUBJECT_SIZE], const char *prefix, enum subject_kind kind)
{
    (void)snprintf(subject, SUBJECT_SIZE, "%s%s>", prefix, kind_words[kind]);
}

/* The rest behind `start`, NULL: it does not begin so. */
static const char *behind(const char *text, const char *start)
{
    size_t length = strlen(start);
    return strncmp(text, start, length) == 0 ? text + length : NULL;
}

static int digit_of(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'A' && digit <= 'F') {
        return digit - 'A' + 10;
    }
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The byte that %XX at `text` stands for; 0: it is none, or NUL, which no topic can hold. */
static char decoded_at(const char *text)
{
    int high = digit_of(text[1]);
    int low = high < 0 ? -1 : digit_of(text[2]);
    return (char)(low < 0 ? 0 : high * 16 + low);
}

static bool read_topic(const char *token, bool dots, char topic[SUBJECT_SIZE])
{
    size_t length = 0;
    for (; *token != '\0'; token++) {
        char byte = *token;
        if (byte == '%') {
            byte = decoded_at(token);
            token += byte == '\0' ? 0 : 2;
        } else if (byte == '.' && !dots) {
            return false;
        }
        if (byte == '\0' || length >= SUBJECT_SIZE - 1) {
            return false;
        }
        topic[length++] = byte;
    }
    topic[length] = '\0';
    return length > 0;
}

bool subject_read(const char *subject, const char *prefix, enum subject_kind *kind, char topic[SUBJECT_SIZE])
{
    const char *rest = behind(subject, prefix);
    for (unsigned i = 0; rest != NULL && i < KINDS; i++) {
        const char *token = behind(rest, kind_words[i]);
        if (token == NULL) {
            continue;
        }
        *kind = (enum subject_kind)i;
        if (strcmp(token, SUBJECT_REFUSED) == 0) {
            topic[0] = '\0';
            return true;
        }
        return read_topic(token, i == SUBJECT_NACK, topic);
    }
    return false;
}
