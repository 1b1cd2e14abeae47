#include "bridge/json_scan.h"

#include "bridge/json_string.h"

static bool fail(struct json_scan *scan, const char *trouble)
{
    scan->trouble = trouble;
    return false;
}

static bool at_end(const struct json_scan *scan)
{
    return scan->at == scan->end;
}

static void skip_blanks(struct json_scan *scan)
{
    while (!at_end(scan) && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t')) {
        scan->at++;
    }
}

/* Takes `byte` if it is next. */
static bool took(struct json_scan *scan, char byte)
{
    if (at_end(scan) || *scan->at != (uint8_t)byte) {
        return false;
    }
    scan->at++;
    return true;
}

/* --- numbers and words --- */

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool skip_digits(struct json_scan *scan)
{
    const uint8_t *from = scan->at;
    while (!at_end(scan) && is_digit(*scan->at)) {
        scan->at++;
    }
    return scan->at > from ? true : fail(scan, "a digit was expected");
}

static bool skip_exponent(struct json_scan *scan)
{
    if (!took(scan, '+')) {
        (void)took(scan, '-');
    }
    return skip_digits(scan);
}

/* A leading zero stands alone: "01" is a 0 with a stray 1 behind it, which the caller then finds. */
static bool skip_number(struct json_scan *scan, enum json_scan_kind *kind)
{
    *kind = JSON_SCAN_INTEGER;
    (void)took(scan, '-');
    if (!took(scan, '0') && !skip_digits(scan)) {
        return false;
    }
    if (took(scan, '.')) {
        *kind = JSON_SCAN_NUMBER;
        if (!skip_digits(scan)) {
            return false;
        }
    }
    if (took(scan, 'e') || took(scan, 'E')) {
        *kind = JSON_SCAN_NUMBER;
        return skip_exponent(scan);
    }
    return true;
}

static bool skip_word(struct json_scan *scan, const char *word, size_t length)
{
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0) {
        return fail(scan, "a value was expected");
    }
    scan->at += length;
    return true;
}

/* Takes a value that holds no others. */
static bool skip_scalar(struct json_scan *scan, enum json_scan_kind *kind, bool *escaped)
{
    switch (*scan->at) {
    case '"':
        *kind = JSON_SCAN_STRING;
        return json_string_skip(scan, escaped);
    case 't':
        *kind = JSON_SCAN_BOOL;
        return skip_word(scan, "true", 4);
    case 'f':
        *kind = JSON_SCAN_BOOL;
        return skip_word(scan, "false", 5);
    case 'n':
        *kind = JSON_SCAN_NULL;
        return skip_word(scan, "null", 4);
    default:
        if (*scan->at == '-' || is_digit(*scan->at)) {
            return skip_number(scan, kind);
        }
        return fail(scan,
                    *scan->at == 0xEF ? "a value was expected (a byte order mark is none)" : "a value was expected");
    }
}

/* --- nesting --- */

static bool push(struct json_scan *scan, bool object)
{
    if (scan->depth == JSON_SCAN_DEPTH_MAX) {
        return fail(scan, "nested too deep");
    }
    uint64_t bit = UINT64_C(1) << (scan->depth % 64);
    uint64_t *word = &scan->objects[scan->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    scan->depth++;
    scan->at++;
    return true;
}

static bool in_object(const struct json_scan *scan)
{
    return (scan->objects[(scan->depth - 1) / 64] >> ((scan->depth - 1) % 64) & 1) != 0;
}

/* Takes `"name" :`, blanks included. */
static bool skip_name(struct json_scan *scan, struct json_scan_value *name)
{
    skip_blanks(scan);
    if (at_end(scan) || *scan->at != '"') {
        return fail(scan, "a member's name was expected");
    }
    const uint8_t *from = scan->at;
    name->kind = JSON_SCAN_STRING;
    name->escaped = false;
    if (!json_string_skip(scan, &name->escaped)) {
        return false;
    }
    name->span = (struct span){from, (size_t)(scan->at - from)};
    skip_blanks(scan);
    return took(scan, ':') ? true : fail(scan, "a colon was expected");
}

/* Enters the object or array at `at`. *closed: it was empty and has been left again. */
static bool open_nest(struct json_scan *scan, bool *closed)
{
    struct json_scan_value name;
    bool object = *scan->at == '{';
    if (!push(scan, object)) {
        return false;
    }
    skip_blanks(scan);
    *closed = took(scan, object ? '}' : ']');
    if (*closed) {
        scan->depth--;
        return true;
    }
    return object ? skip_name(scan, &name) : true;
}

/* After a value, inside something: a comma (*more), or the closing bracket. */
static bool after_value(struct json_scan *scan, bool *more)
{
    struct json_scan_value name;
    bool object = in_object(scan);
    skip_blanks(scan);
    *more = took(scan, ',');
    if (*more) {
        return object ? skip_name(scan, &name) : true;
    }
    if (!took(scan, object ? '}' : ']')) {
        return fail(scan, at_end(scan) ? "the text ends too early" : "a comma or the closing bracket was expected");
    }
    scan->depth--;
    return true;
}

/* Leaves what ends here, down to `floor`. *more: a comma was taken, a value follows. */
static bool leave_nests(struct json_scan *scan, unsigned floor, bool *more)
{
    *more = false;
    while (scan->depth > floor && !*more) {
        if (!after_value(scan, more)) {
            return false;
        }
    }
    return true;
}

/* At the first bracket: takes all up to the one that closes it. */
static bool skip_nest(struct json_scan *scan)
{
    unsigned floor = scan->depth;
    bool more = true;
    while (more) {
        bool closed = true;
        enum json_scan_kind kind;
        bool escaped = false;
        skip_blanks(scan);
        if (at_end(scan)) {
            return fail(scan, "the text ends too early");
        }
        bool nest = *scan->at == '{' || *scan->at == '[';
        if (nest ? !open_nest(scan, &closed) : !skip_scalar(scan, &kind, &escaped)) {
            return false;
        }
        if (closed && !leave_nests(scan, floor, &more)) {
            return false;
        }
    }
    return true;
}

/* --- what others call --- */

void json_scan_begin(struct json_scan *scan, struct span text)
{
    static const uint8_t nothing[1] = {0};
    scan->first = text.data == NULL ? nothing : text.data;
    scan->at = scan->first;
    scan->end = scan->first + text.length;
    scan->trouble = NULL;
    scan->inside = false;
    scan->depth = 0; /* the bits of `objects` are written as levels are entered */
}

bool json_scan_value(struct json_scan *scan, struct json_scan_value *value)
{
    struct json_scan_value taken = {JSON_SCAN_MISSING, false, SPAN_ABSENT};
    skip_blanks(scan);
    if (at_end(scan)) {
        return fail(scan, "the text ends where a value was expected");
    }
    const uint8_t *from = scan->at;
    bool nest = *from == '{' || *from == '[';
    if (nest) {
        taken.kind = *from == '{' ? JSON_SCAN_OBJECT : JSON_SCAN_ARRAY;
    }
    if (nest ? !skip_nest(scan) : !skip_scalar(scan, &taken.kind, &taken.escaped)) {
        return false;
    }
    taken.span = (struct span){from, (size_t)(scan->at - from)};
    *value = taken;
    return true;
}

bool json_scan_enter(struct json_scan *scan)
{
    skip_blanks(scan);
    if (at_end(scan) || *scan->at != '{') {
        return fail(scan, "an object was expected");
    }
    return push(scan, true);
}

enum json_scan_step
json_scan_member(struct json_scan *scan, struct json_scan_value *name, struct json_scan_value *value)
{
    skip_blanks(scan);
    if (took(scan, '}')) {
        scan->depth--;
        return JSON_SCAN_END;
    }
    if (scan->inside && !took(scan, ',')) {
        fail(scan, at_end(scan) ? "the text ends too early" : "a comma or the closing bracket was expected");
        return JSON_SCAN_FAILED;
    }
    scan->inside = true;
    return skip_name(scan, name) && json_scan_value(scan, value) ? JSON_SCAN_MEMBER : JSON_SCAN_FAILED;
}

bool json_scan_finish(struct json_scan *scan)
{
    skip_blanks(scan);
    return at_end(scan) ? true : fail(scan, "bytes after the value");
}

size_t json_scan_position(const struct json_scan *scan)
{
    return (size_t)(scan->at - scan->first);
}
