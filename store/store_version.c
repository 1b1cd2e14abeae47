#include "store/store_version.h"

#include <lmdb.h>

struct store_version store_version(void)
{
    struct store_version version;
    (void)mdb_version(&version.major, &version.minor, &version.patch);
    return version;
}
