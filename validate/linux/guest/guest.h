/* What the measuring programs share. Times are CLOCK_REALTIME in nanoseconds, which in the guest is virtual. */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>
#include <stdio.h>

typedef uint64_t nanos;

#define SECOND 1000000000ull

nanos now(void);
void sleep_until(nanos when);
/* A descriptor that becomes readable at each of these instants. */
int timer(nanos first, nanos every);
FILE *create(const char *path);
_Noreturn void die(const char *what);

/* Each is a command of the program; see main.c. */
int send_flows(const char *host, int port, const char *flows, nanos first, nanos end, const char *out);
_Noreturn void receive_flows(int port, nanos warm, nanos end, const char *out);
int watch(const char *interface, const char *direction, nanos end, const char *out);

#endif
