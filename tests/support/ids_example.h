/*
 * Examples of what becomes of records with ids: a small log, given to the real core at least once by the clock of a day, and what it tells.
 *
 *   dedupe: 1h              the source's key; without it no such rule
 *   down until: 12:00:00    nobody reads before
 *   acknowledged after: 5s  the target takes so long; without it no time at all
 *   fails after: 5s         ... and takes nothing
 *   killed: 12:00:01 to 12:00:20  between, the process is dead, and its disk is lost
 *   until: 13:00:00         what comes later is not told; without it the day's end
 *   0 09:00:00 order-123 due 10:00:00
 *   1 09:30:00 order-123 cancel
 *   2 09:30:00 order-123 reject due 10:00:00
 *   3 09:40:00 report every 10m count 2 [due 10:00:00]
 *   -> 0 is cancelled by 1
 *
 * Number, time and id of a record, and what it asks for. Numbers count from 0. What follows stands in the order in which it becomes known.
 */
#ifndef TARRY_TESTS_IDS_EXAMPLE_H
#define TARRY_TESTS_IDS_EXAMPLE_H

#include "tests/support/page_block.h"

page_block_check ids_example_check;

#endif
