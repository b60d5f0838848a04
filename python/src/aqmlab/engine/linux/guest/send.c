/*
 * The senders. FLOWS has a line for each flow: source port, group, congestion control or "udp", start in ns after T0;
 * for TCP the payload (0: without end), for UDP the length of a packet. DATAGRAMS has the times of all packets of UDP.
 */
#include "commands.h"
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

/* What an event is about, beyond the flows: the tick, the next datagram, or the start of a flow. */
enum { TICK = MOST, DATAGRAM, START };

#define IP_UDP_HEADERS 28

struct flow {
	int port, group, fd;
	char control[16];
	nanos start;
	unsigned long long left;
	uint32_t sent;
	bool is_udp, has_end, is_over;
};

/* A datagram, in the machine's byte order: when after T0, and of which flow. */
struct datagram {
	nanos at;
	uint64_t flow;
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
	while (count < MOST && fscanf(file, "%d %d %15s %llu %llu", &flow->port, &flow->group, flow->control,
				      &start, &flow->left) == 5) {
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

/* Sends what is due, and answers when the next is. */
static bool next_datagram(FILE *list, nanos first, struct datagram *next, int poll)
{
	do {
		struct flow *flow = &flows[next->flow];

		if (flow->fd < 0)
			begin(flow, poll);
		send_datagram(flow);
		if (fread(next, sizeof *next, 1, list) != 1)
			return false;
	} while (first + next->at <= now());
	return true;
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

int send_flows(const char *list, const char *datagrams, nanos first, nanos every, nanos end, const char *out)
{
	FILE *file = create(out), *planned = fopen(datagrams, "r");
	int poll = epoll_create1(0), tick = timer(first + every, every), due = -1;
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = TICK }, events[64];
	struct datagram datagram;
	nanos next = first + every;

	if (!planned)
		die(datagrams);
	read_flows(list, first);
	epoll_ctl(poll, EPOLL_CTL_ADD, tick, &event);
	for (int i = 0; i < count; i++) {
		/* Once: nobody reads them. */
		struct epoll_event start = { .events = EPOLLIN | EPOLLONESHOT, .data.u32 = START + i };

		epoll_ctl(poll, EPOLL_CTL_ADD, timer(flows[i].start, 0), &start);
	}
	if (fread(&datagram, sizeof datagram, 1, planned) == 1) {
		event.data.u32 = DATAGRAM;
		due = timer(first + datagram.at, 0);
		epoll_ctl(poll, EPOLL_CTL_ADD, due, &event);
	}
	fprintf(file, "t_ns,port,cwnd_bytes,srtt_us,retransmissions,ssthresh_bytes,rto_us,state\n");
	while (next <= end) {
		int ready = epoll_wait(poll, events, 64, -1);

		for (int i = 0; i < ready; i++) {
			uint32_t what = events[i].data.u32;
			uint64_t times = 0;

			if (what < MOST) {
				write_all(&flows[what]);
			} else if (what == DATAGRAM) {
				if (read(due, &times, sizeof times) == sizeof times &&
				    next_datagram(planned, first, &datagram, poll))
					set_timer(due, first + datagram.at, 0);
			} else if (what >= START) {
				struct flow *flow = &flows[what - START];

				if (flow->fd < 0)
					begin(flow, poll);
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
