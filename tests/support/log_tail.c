#include "tests/support/log_tail.h"

#include <stdio.h>

#define SHOWN 6000

void log_tail_show(const char *path, const char *whose)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return;
    }
    char text[SHOWN + 1];
    if (fseek(file, -SHOWN, SEEK_END) != 0) {
        rewind(file);
    }
    size_t length = fread(text, 1, SHOWN, file);
    text[length] = '\0';
    fclose(file);
    fprintf(stderr, "---- end of %s log (%s)\n%s\n----\n", whose, path, text);
}
