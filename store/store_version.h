/* Which LMDB this process runs with. */
#ifndef TARRY_STORE_STORE_VERSION_H
#define TARRY_STORE_STORE_VERSION_H

struct store_version {
    int major;
    int minor;
    int patch;
};

/* Of the library loaded, not of the headers compiled with. Any thread. */
struct store_version store_version(void);

#endif
