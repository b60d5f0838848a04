/*
 * The senders. FLOWS has a line for each flow: source port, group, congestion control or "udp", start in ns after T0;
 * for TCP the payload (0: without end); for UDP the length of a packet and the time between two.
 */
#include "guest.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK MOST
#define IP_UDP_HEADERS 28

struct flow {
	int port, group, fd, clock;
	char control[16];
	nanos start;
	unsigned long long left, gap;
	uint32_t sent;
	bool is_udp, has_end, is_over;
};

static struct flow flows[MOST];
static int count;

static void read_flows(const char *path, nanos first)
{
	FILE *file = fopen(path, "r");
	struct flow *flow = flows;
	unsigned long long start;

	if (!file)
		die(path);
	while (count < MOST && fscanf(file, "%d %d %15s %llu %llu %llu", &flow->port, &flow->group, flow->control,
				      &start, &flow->left, &flow->gap) == 6) {
		flow->start = first + start;
		flow->fd = -1;
		flow->is_udp = !strcmp(flow->control, "udp");
		flow->has_end = !flow->is_udp && flow->left;
		flow++, count++;
	}
	fclose(file);
}

static void begin(struct flow *flow, int poll)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_port = htons(flow->port) };
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct epoll_event writable = { .events = EPOLLOUT, .data.u32 = flow - flows };
	char address[32];

	flow->fd = socket(AF_INET, (flow->is_udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0);
	if (bind(flow->fd, (void *)&from, sizeof from))
		die("bind");
	if (!flow->is_udp &&
	    setsockopt(flow->fd, IPPROTO_TCP, TCP_CONGESTION, flow->control, strlen(flow->control)))
		die(flow->control);
	/* Each group has an address, for its routes; the receiver that echoes CE marks as DCTCP wants it has a port. */
	snprintf(address, sizeof address, "10.9.2.%d", 10 + flow->group);
	inet_pton(AF_INET, address, &to.sin_addr);
	to.sin_port = htons(FIRST_PORT + 2 * flow->group + !strcmp(flow->control, "dctcp"));
	if (connect(flow->fd, (void *)&to, sizeof to) && errno != EINPROGRESS)
		die("connect");
	if (!flow->is_udp)
		epoll_ctl(poll, EPOLL_CTL_ADD, flow->fd, &writable);
}

static void write_all(struct flow *flow)
{
	static const char data[1 << 16];
	ssize_t taken;

	do {
		size_t most = flow->has_end && flow->left < sizeof data ? flow->left : sizeof data;

		taken = most ? write(flow->fd, data, most) : 0;
		if (flow->has_end && taken > 0)
			flow->left -= taken;
	} while (taken > 0);
	if (flow->has_end && !flow->left && !flow->is_over) {
		flow->is_over = true;
		shutdown(flow->fd, SHUT_WR);
	}
}

static void send_datagram(struct flow *flow)
{
	static char data[1 << 16];

	flow->sent++;
	memcpy(data, &flow->sent, sizeof flow->sent);
	send(flow->fd, data, flow->left - IP_UDP_HEADERS, 0);
}

static void record(FILE *file, const struct flow *flow, nanos when)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof info;

	if (getsockopt(flow->fd, IPPROTO_TCP, TCP_INFO, &info, &length))
		return;
	fprintf(file, "%llu,%d,%u,%u,%u,%llu,%u,%u\n", (unsigned long long)when, flow->port,
		info.tcpi_snd_cwnd * info.tcpi_snd_mss, info.tcpi_rtt, info.tcpi_total_retrans,
		(unsigned long long)info.tcpi_snd_ssthresh * info.tcpi_snd_mss, info.tcpi_rto, info.tcpi_ca_state);
}

int send_flows(const char *list, nanos first, nanos every, nanos end, const char *out)
{
	FILE *file = create(out);
	int poll = epoll_create1(0), tick = timer(first + every, every);
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = TICK }, events[64];
	nanos next = first + every;

	read_flows(list, first);
	epoll_ctl(poll, EPOLL_CTL_ADD, tick, &event);
	for (int i = 0; i < count; i++) {
		struct epoll_event due = { .events = EPOLLIN, .data.u32 = TICK + 1 + i };

		flows[i].clock = timer(flows[i].start, flows[i].is_udp ? flows[i].gap : 0);
		epoll_ctl(poll, EPOLL_CTL_ADD, flows[i].clock, &due);
	}
	fprintf(file, "t_ns,port,cwnd_bytes,srtt_us,retransmissions,ssthresh_bytes,rto_us,state\n");
	while (next <= end) {
		int ready = epoll_wait(poll, events, 64, -1);

		for (int i = 0; i < ready; i++) {
			uint32_t what = events[i].data.u32;
			uint64_t times = 0;

			if (what < MOST) {
				write_all(&flows[what]);
			} else if (what > TICK) {
				struct flow *flow = &flows[what - TICK - 1];

				if (read(flow->clock, &times, sizeof times) != sizeof times)
					continue;
				if (flow->fd < 0)
					begin(flow, poll);
				for (; flow->is_udp && times > 0; times--)
					send_datagram(flow);
			} else if (read(tick, &times, sizeof times) == sizeof times) {
				for (; times > 0; times--, next += every)
					for (int f = 0; f < count; f++)
						if (flows[f].fd >= 0 && !flows[f].is_udp)
							record(file, &flows[f], next);
			}
		}
	}
	return fclose(file);
}
