/* Scratch folders of tests. What fails here fails the running cmocka test. */
#ifndef TARRY_TESTS_SUPPORT_TEMP_H
#define TARRY_TESTS_SUPPORT_TEMP_H

/* Makes an empty folder under $TMPDIR (else /tmp), its name beginning with `stem`. Free it with temp_remove. */
char *temp_directory(const char *stem);

/* Empties and removes the folder and frees the path. NULL is allowed. */
void temp_remove(char *path);

/* Empties and removes a folder; the path stays the caller's. A missing folder is fine. */
void temp_empty(const char *path);

/* "path/name", owned by the caller: free(). */
char *temp_path(const char *path, const char *name);

#endif
