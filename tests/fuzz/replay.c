/* Runs a fuzz target over the files of a folder, and over each with a byte changed or cut off: what ctest does where
 * there is no libFuzzer. Fails when the folder is missing or empty. */
#include <dirent.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/random.h"
#include "fuzz/fuzz.h"

#define MUTATIONS 2000

/* In room of the exact size, so that AddressSanitizer sees a read past the end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = memory_new(size, 1);
    memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_mutations(const struct buffer *file, struct random *random)
{
    static uint8_t bytes[1 << 20];
    for (int i = 0; i < MUTATIONS && file->length > 0 && file->length <= sizeof(bytes); i++) {
        size_t length = file->length;
        memcpy(bytes, file->data, length);
        for (uint64_t changes = random_below(random, 4); changes > 0; changes--) {
            bytes[random_below(random, length)] = (uint8_t)random_next(random);
        }
        length -= (size_t)(random_below(random, 4) == 0 ? random_below(random, length) : 0);
        run(bytes, length);
    }
}

static void read_file(const char *folder, const char *name, struct buffer *file)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    FUZZ_CHECK(stream != NULL);
    uint8_t piece[4096];
    for (size_t got = fread(piece, 1, sizeof(piece), stream); got > 0; got = fread(piece, 1, sizeof(piece), stream)) {
        buffer_add(file, piece, got);
    }
    (void)fclose(stream);
}

int main(int count, char **arguments)
{
    FUZZ_CHECK(count == 2);
    DIR *folder = opendir(arguments[1]);
    FUZZ_CHECK(folder != NULL);
    struct random random = random_new(1);
    size_t files = 0;
    run((const uint8_t *)"", 0);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct buffer file = buffer_new(1 << 26);
        if (entry->d_name[0] != '.') {
            read_file(arguments[1], entry->d_name, &file);
            run(file.data == NULL ? (const uint8_t *)"" : file.data, file.length);
            run_mutations(&file, &random);
            files++;
        }
        buffer_free(&file);
    }
    (void)closedir(folder);
    (void)printf("%zu files\n", files);
    return files > 0 ? 0 : 1;
}
