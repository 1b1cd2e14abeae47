#include "ops/config_near.h"

#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t config_near_distance(const char *a, const char *b)
{
    size_t a_length = strnlen(a, CONFIG_NEAR_LENGTH_MAX + 1);
    size_t b_length = strnlen(b, CONFIG_NEAR_LENGTH_MAX + 1);
    if (a_length > CONFIG_NEAR_LENGTH_MAX || b_length > CONFIG_NEAR_LENGTH_MAX) {
        return SIZE_MAX;
    }
    /* rows[i % 3] is the row of a's first i characters: two rows back are needed for swaps. */
    size_t rows[3][CONFIG_NEAR_LENGTH_MAX + 1];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *before = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = least(replaced, least(before[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

bool config_near_is(const char *name, const char *candidate, size_t *distance)
{
    *distance = config_near_distance(name, candidate);
    size_t allowed = strlen(candidate) / 3;
    return *distance <= (allowed == 0 ? 1 : allowed);
}
