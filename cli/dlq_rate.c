#include "cli/dlq_rate.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/config_value.h"

#define FOOT_PER_MS 0.001 /* of a ramp: one a second */
#define BURST_MS 100.0
#define NEARLY 1e-6 /* sums of fractions fall a little short of the whole number that they stand for */

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

void dlq_rate_start(struct dlq_rate *rate, double per_s, int64_t ramp_ms, int64_t now_ms)
{
    *rate = (struct dlq_rate){.per_ms = per_s / 1000, .ramp_ms = ramp_ms};
    dlq_rate_restart(rate, now_ms);
}

void dlq_rate_restart(struct dlq_rate *rate, int64_t now_ms)
{
    rate->began_ms = now_ms;
    rate->last_ms = now_ms;
    rate->ready = 1;
}

/* What may go in the first elapsed_ms after the beginning. */
static double total(const struct dlq_rate *rate, double elapsed_ms)
{
    double foot = lesser(FOOT_PER_MS, rate->per_ms);
    double ramp = (double)rate->ramp_ms;
    double climbing = lesser(elapsed_ms, ramp);
    double climbed = ramp > 0 ? foot * climbing + (rate->per_ms - foot) * climbing * climbing / (2 * ramp) : 0;
    return climbed + rate->per_ms * (elapsed_ms - climbing);
}

static double speed(const struct dlq_rate *rate, int64_t now_ms)
{
    double foot = lesser(FOOT_PER_MS, rate->per_ms);
    double elapsed = (double)(now_ms - rate->began_ms);
    double ramp = (double)rate->ramp_ms;
    return elapsed >= ramp ? rate->per_ms : foot + (rate->per_ms - foot) * elapsed / ramp;
}

static double ready_at(const struct dlq_rate *rate, int64_t now_ms)
{
    double more = total(rate, (double)(now_ms - rate->began_ms)) - total(rate, (double)(rate->last_ms - rate->began_ms));
    double most = speed(rate, now_ms) * BURST_MS;
    return lesser(rate->ready + more, most > 1 ? most : 1);
}

bool dlq_rate_take(struct dlq_rate *rate, int64_t now_ms)
{
    if (rate->per_ms <= 0) {
        return true;
    }
    rate->ready = ready_at(rate, now_ms);
    rate->last_ms = now_ms;
    if (rate->ready < 1 - NEARLY) {
        return false;
    }
    rate->ready -= 1;
    return true;
}

int64_t dlq_rate_wait_ms(const struct dlq_rate *rate, int64_t now_ms, int64_t most_ms)
{
    double lacking = rate->per_ms <= 0 ? 0 : 1 - ready_at(rate, now_ms);
    if (lacking <= NEARLY) {
        return 0;
    }
    double wait = lacking / speed(rate, now_ms) + 1 - NEARLY;
    return wait < (double)most_ms ? (int64_t)wait : most_ms;
}

bool dlq_rate_parse(const char *text, double *per_s, struct error *error)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"/s", 1}, {"/m", 60}, {"/h", 3600}};
    int64_t count = 0;
    size_t digits = strspn(text, "0123456789");
    char *number = memory_text(text, digits);
    bool read = config_value_count(number, &count, NULL) && count > 0 && count <= DLQ_RATE_MOST;
    free(number);
    for (size_t i = 0; read && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + digits, units[i].unit) == 0) {
            *per_s = (double)count / units[i].seconds;
            return true;
        }
    }
    return error_set(error, ERROR_INVALID, "'%s' is not a rate: a whole number from 1 to %d, with /s, /m or /h, for example 50/s", text, DLQ_RATE_MOST);
}
