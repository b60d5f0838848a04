/* The far end of all flows: reads and counts, until the guest ends. A flow that has ended is told once more. */
#include "commands.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* What an event is about, beyond the flows: a timer, a datagram's arrival, or one of the listeners. */
enum { TICK = MOST, WINDOW, DATAGRAMS };

static struct {
	int fd, port;
	uint64_t bytes;
} flows[MOST];
static int count;
static int listeners[2 * GROUPS];
static int datagrams[GROUPS];
static FILE *file;

/* The priority of a group's sockets chooses its delay on the way back (see init.sh); no socket inherits it. */
static void prioritise(int fd, int group)
{
	int priority = 0x300000 + group + 1;

	if (setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority))
		die("priority");
}

/* DCTCP's echo of CE marks is the receiver's part, so its flows have a port of their own. */
static int endpoint(int type, int group, const char *control)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);

	at.sin_port = htons(FIRST_PORT + 2 * group + !!control);
	prioritise(fd, group);
	if (control && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, strlen(control)))
		die(control);
	if (bind(fd, (void *)&at, sizeof at) || (type == SOCK_STREAM && listen(fd, MOST)))
		die("listen");
	return fd;
}

static void add(int poll, int fd, uint32_t what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = what };

	epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

static void accept_all(int listening, int group, int poll)
{
	struct sockaddr_in peer;
	socklen_t length = sizeof peer;
	int fd;

	while (count < MOST && (fd = accept4(listening, (void *)&peer, &length, SOCK_NONBLOCK)) >= 0) {
		prioritise(fd, group);
		flows[count].fd = fd;
		flows[count].port = ntohs(peer.sin_port);
		add(poll, fd, count++);
		length = sizeof peer;
	}
}

static void tell(nanos when, int flow)
{
	fprintf(file, "%llu,%d,%llu\n", (unsigned long long)when, flows[flow].port,
		(unsigned long long)flows[flow].bytes);
}

static void tell_all(nanos when)
{
	for (int f = 0; f < count; f++)
		tell(when, f);
	fflush(file);
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
	if (got == 0) {
		tell(now(), flow);
		close(flows[flow].fd);
	}
}

static void take_datagrams(int fd)
{
	static char buffer[1 << 16];
	struct sockaddr_in peer;
	socklen_t length = sizeof peer;
	ssize_t got;

	while ((got = recvfrom(fd, buffer, sizeof buffer, 0, (void *)&peer, &length)) >= 0) {
		int flow = 0, port = ntohs(peer.sin_port);

		while (flow < count && flows[flow].port != port)
			flow++;
		if (flow == count && count < MOST)
			flows[count++].port = port;
		if (flow < count)
			flows[flow].bytes += got;
		length = sizeof peer;
	}
}

_Noreturn void receive_flows(nanos first, nanos every, nanos warm, nanos end, const char *out)
{
	int poll = epoll_create1(0), tick = timer(first + every, every), window = timer(warm, end - warm);
	struct epoll_event events[64];
	nanos next = first + every, edge = warm;

	file = create(out);
	add(poll, tick, TICK);
	add(poll, window, WINDOW);
	for (int g = 0; g < GROUPS; g++) {
		datagrams[g] = endpoint(SOCK_DGRAM, g, NULL);
		add(poll, datagrams[g], DATAGRAMS + g);
		listeners[2 * g] = endpoint(SOCK_STREAM, g, NULL);
		listeners[2 * g + 1] = endpoint(SOCK_STREAM, g, "dctcp");
	}
	for (int l = 0; l < 2 * GROUPS; l++)
		add(poll, listeners[l], DATAGRAMS + GROUPS + l);
	fprintf(file, "t_ns,port,bytes\n");
	for (;;) {
		int ready = epoll_wait(poll, events, 64, -1);

		for (int i = 0; i < ready; i++) {
			uint32_t what = events[i].data.u32;
			uint64_t times = 0;

			if (what < MOST)
				take(what);
			else if (what >= DATAGRAMS + GROUPS)
				accept_all(listeners[what - DATAGRAMS - GROUPS], (what - DATAGRAMS - GROUPS) / 2, poll);
			else if (what >= DATAGRAMS)
				take_datagrams(datagrams[what - DATAGRAMS]);
			else if (read(what == TICK ? tick : window, &times, sizeof times) == sizeof times)
				for (; times > 0; times--) {
					nanos *when = what == TICK ? &next : &edge;

					if (*when <= end)
						tell_all(*when);
					*when += what == TICK ? every : end - warm;
				}
		}
	}
}
