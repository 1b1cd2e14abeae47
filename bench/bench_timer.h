/* What tarry's lateness is held against: a bare timer that produces each record at its due instant. */
#ifndef TARRY_BENCH_BENCH_TIMER_H
#define TARRY_BENCH_BENCH_TIMER_H

/* The program itself, in a process of its own: "timer BOOTSTRAP TOPIC PER_S FROM_MS TO_MS". Due times are drawn evenly
 * between the two (wall clock). Ends by itself when all are acknowledged. */
int bench_timer_main(char **arguments);

/* "timer-exact", with one argument more behind TOPIC: what is due leaves in a transaction, with offsets of topic INPUT, and what comes due while it
 * is being committed in the next one. */
int bench_timer_exact_main(char **arguments);

#endif
