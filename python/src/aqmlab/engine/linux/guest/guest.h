/* What the measuring programs share. Times are CLOCK_REALTIME in nanoseconds, which in the guest is virtual. */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>
#include <stdio.h>

typedef uint64_t nanos;

#define SECOND 1000000000ull
/* Flows at most, and the ports where their data go: each group has a pair, the second for DCTCP. */
#define MOST 1000
#define FIRST_PORT 5001
#define GROUPS 15

nanos now(void);
void sleep_until(nanos when);
/* A descriptor that becomes readable at each of these instants. */
int timer(nanos first, nanos every);
void set_timer(int fd, nanos first, nanos every);
FILE *create(const char *path);
_Noreturn void die(const char *what);

#endif
