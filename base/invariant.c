/* See invariant.h. */
#include "base/invariant.h"

#include <stdio.h>
#include <stdlib.h>

void invariant_broken(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "tarry: broken invariant at %s:%d: %s; please report it as a bug\n", file, line, condition);
    abort();
}
