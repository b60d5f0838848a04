#include "guest.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

nanos now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static struct timespec span(nanos t)
{
	return (struct timespec){ .tv_sec = t / SECOND, .tv_nsec = t % SECOND };
}

void sleep_until(nanos when)
{
	struct timespec t = span(when);

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

void set_timer(int fd, nanos first, nanos every)
{
	struct itimerspec when = { .it_value = span(first), .it_interval = span(every) };

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL))
		die("timer");
}

int timer(nanos first, nanos every)
{
	int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);

	if (fd < 0)
		die("timer");
	set_timer(fd, first, every);
	return fd;
}

FILE *create(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		die(path);
	return file;
}

void die(const char *what)
{
	fprintf(stderr, "guest: %s: %s\n", what, strerror(errno));
	exit(1);
}
