/* Each is a command of the program; see main.c. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "guest.h"

int send_flows(const char *list, const char *datagrams, nanos first, nanos every, nanos end, const char *out);
_Noreturn void receive_flows(nanos first, nanos every, nanos warm, nanos end, const char *out);
int watch(const char *interface, const char *direction, nanos end, const char *out);
int pace(const char *interface, const char *list, nanos first);
int sample(const char *interface, unsigned major, nanos first, nanos end, const char *out, const char *reached);

#endif
