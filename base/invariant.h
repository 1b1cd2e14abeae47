/* Checks that stay in every build: for the *_validate functions, whose whole purpose is to stop at a broken
 * structure. */
#ifndef TARRY_BASE_INVARIANT_H
#define TARRY_BASE_INVARIANT_H

/* Says what does not hold, and where, on standard error, and aborts. */
_Noreturn void invariant_broken(const char *condition, const char *file, int line);

#define INVARIANT(condition) ((condition) ? (void)0 : invariant_broken(#condition, __FILE__, __LINE__))

#endif
