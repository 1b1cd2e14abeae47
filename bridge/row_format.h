/* Room-internal: the bytes of a row, as row.c writes and row_decode.c reads them. */
#ifndef TARRY_BRIDGE_ROW_FORMAT_H
#define TARRY_BRIDGE_ROW_FORMAT_H

/*
 * version(1) flags(1) offset timestamp [root root_timestamp] [key] [value]
 *   accepted: output(1) due partition+1 target [key] [value] [id] [extras]
 *   refused:  reason text
 * header_count, then for each header: name, value
 * extras (version 3): has(1) [expires] [every] [cron] [zone] [until] [count runs, if it comes again]
 *
 * Numbers and bytes as in base/packed.h; a header's value may be absent. Key and value are written once: what goes out is mostly they,
 * or a part of the value.
 */
enum {
    FLAG_REFUSED = 1,
    FLAG_KEY = 2,
    FLAG_VALUE = 4,
    FLAG_TIMESTAMP_SHIFT = 3, /* two bits: enum record_timestamp */
    FLAG_ROOT = 32,   /* version 2 */
    FLAG_EXTRAS = 64, /* version 3 */
    FLAGS_OF_1 = 0x1F,
    FLAGS_OF_2 = 0x3F,
    FLAGS_OF_3 = 0x7F,
};

/* What extras have. */
enum {
    HAS_EXPIRY = 1,
    HAS_EVERY = 2,
    HAS_CRON = 4,
    HAS_ZONE = 8,
    HAS_UNTIL = 16,
    IS_CONDITIONAL = 32,
    IS_UNDECIDED = 64,
    IS_PAUSED = 128,
};

enum { OUTPUT_SAME, OUTPUT_NULL, OUTPUT_PART, OUTPUT_OWN };
enum {
    OUTPUT_KEY_MASK = 3,
    OUTPUT_VALUE_SHIFT = 2,
    OUTPUT_ID = 16,
    OUTPUT_ALL = 0x1F,
};

#endif
