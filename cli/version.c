#include <stdio.h>

#include "bridge/kafka_version.h"
#include "bridge/row.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "scheduler/metadata.h"
#include "store/store.h"
#include "store/store_version.h"

int version_run(int argc, char **argv)
{
    if (argc > 1) {
        return options_usage("version", argv[1]);
    }
    printf("tarry %s\n", TARRY_VERSION);
    struct store_version lmdb = store_version();
    printf("librdkafka %s\n", kafka_version());
    printf("LMDB %d.%d.%d\n", lmdb.major, lmdb.minor, lmdb.patch);
    printf("formats: metadata %d, row %d, store %d\n", METADATA_VERSION, ROW_VERSION, STORE_FORMAT);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "tarry version: the output could not be written whole\n");
        return VERBS_EXIT_FAILED;
    }
    return VERBS_EXIT_DONE;
}
