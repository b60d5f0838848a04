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

/* Each is a command of the program; see main.c. */
int send_flows(const char *list, const char *datagrams, nanos first, nanos every, nanos end, const char *out);
_Noreturn void receive_flows(nanos first, nanos every, nanos warm, nanos end, const char *out);
int watch(const char *interface, const char *direction, nanos end, const char *out);
int pace(const char *interface, const char *list, nanos first);
int sample(const char *interface, unsigned major, nanos first, nanos end, const char *out, const char *reached);

#endif
