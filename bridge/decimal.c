#include "bridge/decimal.h"

#include "base/checked.h"

bool decimal_only_digits(struct span text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
    }
    return text.length > 0;
}

enum decimal_result decimal_parse(struct span text, int64_t *number)
{
    int64_t sum = 0;
    if (!decimal_only_digits(text)) {
        return DECIMAL_NOT_DIGITS;
    }
    for (size_t i = 0; i < text.length; i++) {
        if (!checked_mul_i64(sum, 10, &sum) || !checked_add_i64(sum, text.data[i] - '0', &sum)) {
            return DECIMAL_TOO_LARGE;
        }
    }
    *number = sum;
    return DECIMAL_READ;
}
