/* The far end of all flows: reads and counts, until the guest ends. */
#include "guest.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 1000
/* What an event is about, beyond the flows. */
enum { TIMER = MOST, PLAIN, DCTCP };

static struct {
	int fd, port;
	uint64_t bytes;
} flows[MOST];
static int count;

/* DCTCP's echo of CE marks is the receiver's part, so its flows have a port of their own. */
static int listener(int port, const char *control)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (control && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, strlen(control)))
		die(control);
	if (bind(fd, (void *)&at, sizeof at) || listen(fd, MOST))
		die("listen");
	return fd;
}

static void add(int poll, int fd, uint32_t what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = what };

	epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

static void accept_all(int listening, int poll)
{
	struct sockaddr_in peer;
	socklen_t length = sizeof peer;
	int fd;

	while (count < MOST && (fd = accept4(listening, (void *)&peer, &length, SOCK_NONBLOCK)) >= 0) {
		flows[count].fd = fd;
		flows[count].port = ntohs(peer.sin_port);
		add(poll, fd, count++);
		length = sizeof peer;
	}
}

static void take(int flow)
{
	static char buffer[1 << 16];
	ssize_t got;

	do {
		got = read(flows[flow].fd, buffer, sizeof buffer);
		if (got > 0)
			flows[flow].bytes += got;
	} while (got == sizeof buffer);
}

_Noreturn void receive_flows(int port, nanos warm, nanos end, const char *out)
{
	FILE *file = create(out);
	int poll = epoll_create1(0), plain = listener(port, NULL), dctcp = listener(port + 1, "dctcp");
	int tick = timer(warm, end - warm);
	struct epoll_event events[64];
	nanos next = warm;

	add(poll, tick, TIMER);
	add(poll, plain, PLAIN);
	add(poll, dctcp, DCTCP);
	fprintf(file, "t_ns,port,bytes\n");
	for (;;) {
		int ready = epoll_wait(poll, events, 64, -1);
		uint64_t times = 0;

		for (int i = 0; i < ready; i++) {
			uint32_t what = events[i].data.u32;

			if (what == TIMER)
				times = read(tick, &times, sizeof times) == sizeof times ? times : 0;
			else if (what == PLAIN || what == DCTCP)
				accept_all(what == PLAIN ? plain : dctcp, poll);
			else
				take(what);
		}
		for (; times > 0 && next <= end; times--, next += end - warm) {
			for (int f = 0; f < count; f++)
				fprintf(file, "%llu,%d,%llu\n", (unsigned long long)next, flows[f].port,
					(unsigned long long)flows[f].bytes);
			fflush(file);
		}
	}
}
