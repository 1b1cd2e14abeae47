/* The end of a program's log, shown when a test fails. */
#ifndef TARRY_TESTS_SUPPORT_LOG_TAIL_H
#define TARRY_TESTS_SUPPORT_LOG_TAIL_H

/* Prints the last kilobytes of this file on stderr, under "end of WHOSE log". Nothing when there is no such file. */
void log_tail_show(const char *path, const char *whose);

#endif
