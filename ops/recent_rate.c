/* See recent_rate.h. */
#include "ops/recent_rate.h"

#define PLACES (RECENT_RATE_S + 1)
#define SECOND_MS 1000

void recent_rate_add(struct recent_rate *rate, int64_t mono_ms, uint64_t count)
{
    int64_t second = mono_ms / SECOND_MS;
    int64_t place = second % PLACES;
    if (rate->seconds[place] != second) {
        rate->seconds[place] = second;
        rate->counts[place] = 0;
    }
    rate->counts[place] += count;
    rate->first_s = rate->first_s == 0 ? second : rate->first_s;
}

double recent_rate_per_s(const struct recent_rate *rate, int64_t mono_ms)
{
    int64_t now_s = mono_ms / SECOND_MS;
    int64_t known_s = rate->first_s == 0 ? 0 : now_s - rate->first_s;
    int64_t over_s = known_s < RECENT_RATE_S ? known_s : RECENT_RATE_S;
    uint64_t sum = 0;
    for (int place = 0; place < PLACES; place++) {
        sum += rate->seconds[place] < now_s && rate->seconds[place] >= now_s - over_s ? rate->counts[place] : 0;
    }
    return over_s <= 0 ? 0 : (double)sum / (double)over_s;
}
