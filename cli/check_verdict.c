#include "cli/check_verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TEXT_MAX ((size_t)4096)

struct check_verdict check_verdict_new(void)
{
    return (struct check_verdict){.bad = buffer_new(TEXT_MAX), .measures = buffer_new(TEXT_MAX)};
}

void check_verdict_free(struct check_verdict *verdict)
{
    buffer_free(&verdict->bad);
    buffer_free(&verdict->measures);
}

/* Worse is greater. */
static int weight(enum check_verdict_level level)
{
    static const int weights[] = {[CHECK_VERDICT_OK] = 0, [CHECK_VERDICT_WARNING] = 1, [CHECK_VERDICT_UNKNOWN] = 2, [CHECK_VERDICT_CRITICAL] = 3};
    return weights[level];
}

void check_verdict_bad(struct check_verdict *verdict, enum check_verdict_level level, const char *format, ...)
{
    char words[512];
    char shown[1024];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(words, sizeof words, format, list);
    va_end(list);
    (void)text_printable(span_of_text(words), shown, sizeof shown);
    for (char *bar = strchr(shown, '|'); bar != NULL; bar = strchr(bar, '|')) {
        *bar = '/'; /* behind a | come measures */
    }
    buffer_add_format(&verdict->bad, "%s%s", verdict->bad.length == 0 ? "" : ", ", shown);
    verdict->level = weight(level) > weight(verdict->level) ? level : verdict->level;
}

static void add_limit(struct buffer *measures, double limit)
{
    buffer_add_text(measures, ";");
    if (limit >= 0) {
        buffer_add_format(measures, "%.15g", limit);
    }
}

void check_verdict_measure(struct check_verdict *verdict, const struct check_verdict_threshold *threshold, double value, const char *words)
{
    buffer_add_format(&verdict->measures, " %s=%.15g%s", threshold->name, value, threshold->unit);
    add_limit(&verdict->measures, threshold->warn);
    add_limit(&verdict->measures, threshold->crit);
    buffer_add_text(&verdict->measures, ";0");
    if (threshold->crit >= 0 && value >= threshold->crit) {
        check_verdict_bad(verdict, CHECK_VERDICT_CRITICAL, "%.15g%s %s", value, threshold->unit, words);
    } else if (threshold->warn >= 0 && value >= threshold->warn) {
        check_verdict_bad(verdict, CHECK_VERDICT_WARNING, "%.15g%s %s", value, threshold->unit, words);
    }
}

int check_verdict_print(const struct check_verdict *verdict, const char *well)
{
    static const char *const names[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
    struct span bad = buffer_span(&verdict->bad);
    struct span measures = buffer_span(&verdict->measures);
    printf("TARRY %s: ", names[verdict->level]);
    if (verdict->level == CHECK_VERDICT_OK) {
        fputs(well, stdout);
    } else {
        (void)fwrite(bad.data, 1, bad.length, stdout);
    }
    if (measures.length > 0) {
        fputs(" |", stdout);
        (void)fwrite(measures.data, 1, measures.length, stdout);
    }
    putchar('\n');
    return fflush(stdout) == 0 ? (int)verdict->level : (int)CHECK_VERDICT_UNKNOWN;
}
