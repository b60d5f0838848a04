/* Bulk TCP flows. FLOWS has a line for each: source port, congestion control, start in ns after T0. */
#include "guest.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 1000
#define PERIOD (SECOND / 10)

struct flow {
	int port;
	char control[16];
	nanos start;
	int fd;
};

static struct flow flows[MOST];
static int count;

static void read_flows(const char *path, nanos first)
{
	FILE *file = fopen(path, "r");
	unsigned long long start;

	if (!file)
		die(path);
	while (count < MOST && fscanf(file, "%d %15s %llu", &flows[count].port, flows[count].control, &start) == 3) {
		flows[count].start = first + start;
		flows[count++].fd = -1;
	}
	fclose(file);
}

static void begin(struct flow *flow, struct sockaddr_in *to, int port, int poll)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_port = htons(flow->port) };
	struct epoll_event writable = { .events = EPOLLOUT, .data.u32 = flow - flows };

	flow->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(flow->fd, (void *)&from, sizeof from))
		die("bind");
	if (setsockopt(flow->fd, IPPROTO_TCP, TCP_CONGESTION, flow->control, strlen(flow->control)))
		die(flow->control);
	/* The receiver that echoes CE marks as DCTCP wants it listens beside the other; see receive.c. */
	to->sin_port = htons(port + !strcmp(flow->control, "dctcp"));
	if (connect(flow->fd, (void *)to, sizeof *to) && errno != EINPROGRESS)
		die("connect");
	epoll_ctl(poll, EPOLL_CTL_ADD, flow->fd, &writable);
}

static void record(FILE *file, const struct flow *flow, nanos when)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof info;

	getsockopt(flow->fd, IPPROTO_TCP, TCP_INFO, &info, &length);
	fprintf(file, "%llu,%d,%u,%u,%u,%u\n", (unsigned long long)when, flow->port, info.tcpi_snd_cwnd,
		info.tcpi_snd_ssthresh, info.tcpi_rtt, info.tcpi_total_retrans);
}

int send_flows(const char *host, int port, const char *list, nanos first, nanos end, const char *out)
{
	static const char data[1 << 16];
	struct sockaddr_in to = { .sin_family = AF_INET };
	FILE *file = create(out);
	int poll = epoll_create1(0), tick = timer(first + PERIOD, PERIOD);
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = MOST }, events[64];
	nanos next = first + PERIOD;

	inet_pton(AF_INET, host, &to.sin_addr);
	read_flows(list, first);
	epoll_ctl(poll, EPOLL_CTL_ADD, tick, &event);
	for (int i = 0; i < count; i++) {
		struct epoll_event due = { .events = EPOLLIN | EPOLLONESHOT, .data.u32 = MOST + 1 + i };

		epoll_ctl(poll, EPOLL_CTL_ADD, timer(flows[i].start, 0), &due);
	}
	fprintf(file, "t_ns,port,cwnd,ssthresh,srtt_us,retransmissions\n");
	while (next <= end) {
		int ready = epoll_wait(poll, events, 64, -1);

		for (int i = 0; i < ready; i++) {
			uint32_t what = events[i].data.u32;
			uint64_t times;

			if (what < MOST) {
				while (write(flows[what].fd, data, sizeof data) > 0)
					;
			} else if (what > MOST) {
				struct flow *flow = &flows[what - MOST - 1];

				if (flow->fd < 0)
					begin(flow, &to, port, poll);
			} else if (read(tick, &times, sizeof times) == sizeof times) {
				for (; times > 0; times--, next += PERIOD)
					for (int f = 0; f < count; f++)
						if (flows[f].fd >= 0)
							record(file, &flows[f], next);
			}
		}
	}
	return fclose(file);
}
