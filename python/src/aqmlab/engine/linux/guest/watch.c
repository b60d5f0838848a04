/* A tap: each packet of TCP or UDP that enters the box by an interface, or leaves by it, with the kernel's time stamp. */
#include "commands.h"
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADERS 128
#define PERIOD (SECOND / 100)

/* A line of the file, in the machine's byte order; taps.py reads it. */
struct seen {
	nanos time;
	/* TCP's sequence number, or the first word of a datagram: its number. */
	uint32_t seq;
	/* What TCP acknowledges, and where the highest block ends that it reports (SACK); 0 without. */
	uint32_t ack, edge;
	/* The port of the flow's sender; the frame's length, and that of its payload. */
	uint16_t port, id, length, payload;
	uint8_t ecn, flags, unused[2];
};

static uint16_t field16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static uint32_t field32(const uint8_t *at)
{
	return (uint32_t)field16(at) << 16 | field16(at + 2);
}

/* Where the highest block ends among TCP's options from here to there. */
static uint32_t highest_edge(const uint8_t *option, const uint8_t *end)
{
	uint32_t highest = 0;

	while (option < end && *option != TCPOPT_EOL) {
		if (*option == TCPOPT_NOP) {
			option++;
			continue;
		}
		if (option + 2 > end || option[1] < 2)
			break;
		for (int at = 2; *option == TCPOPT_SACK && at + 8 <= option[1] && option + at + 8 <= end; at += 8)
			if (!highest || (int32_t)(field32(option + at + 4) - highest) > 0)
				highest = field32(option + at + 4);
		option += option[1];
	}
	return highest;
}

static int tap(const char *interface, int packet_type)
{
	/* Only this direction: a tap sees both. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, packet_type, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, HEADERS),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = { sizeof code / sizeof *code, code };
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int s = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL));
	int bytes = 32 << 20, on = 1;

	at.sll_ifindex = if_nametoindex(interface);
	if (s < 0 || !at.sll_ifindex || bind(s, (void *)&at, sizeof at))
		die(interface);
	if (setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) ||
	    setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) ||
	    setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on))
		die("tap");
	return s;
}

static nanos stamp(struct msghdr *message)
{
	struct timespec t = { 0 };

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS)
			memcpy(&t, CMSG_DATA(c), sizeof t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* Takes what waits at the tap; answers 0 when nothing does. */
static int take(int s, FILE *file)
{
	uint8_t packet[HEADERS];
	char control[128];
	struct iovec into = { packet, sizeof packet };
	struct msghdr message = {
		.msg_iov = &into, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control,
	};
	ssize_t length = recvmsg(s, &message, 0);
	const uint8_t *ip = packet + ETH_HLEN, *transport = ip + 4 * (ip[0] & 15);
	struct seen seen = { 0 };
	uint16_t from, to;

	if (length < 0)
		return 0;
	if (field16(packet + 12) != ETH_P_IP || (ip[9] != IPPROTO_TCP && ip[9] != IPPROTO_UDP))
		return 1;
	seen.time = stamp(&message);
	seen.ecn = ip[1] & 3;
	seen.length = ETH_HLEN + field16(ip + 2);
	seen.id = field16(ip + 4);
	from = field16(transport);
	to = field16(transport + 2);
	/* Those of receivers are lower. */
	seen.port = from > to ? from : to;
	if (ip[9] == IPPROTO_TCP) {
		const uint8_t *options = transport + sizeof(struct tcphdr), *data = transport + 4 * (transport[12] >> 4);

		seen.seq = field32(transport + 4);
		seen.ack = field32(transport + 8);
		seen.flags = transport[13];
		seen.edge = highest_edge(options, data < packet + length ? data : packet + length);
		seen.payload = seen.length - (data - packet);
	} else {
		seen.seq = field32(transport + 8);
		seen.payload = seen.length - (transport + 8 - packet);
	}
	fwrite(&seen, sizeof seen, 1, file);
	return 1;
}

int watch(const char *interface, const char *direction, nanos end, const char *out)
{
	FILE *file = create(out);
	int s = tap(interface, strcmp(direction, "in") ? PACKET_OUTGOING : PACKET_HOST);
	struct tpacket_stats statistics;
	socklen_t length = sizeof statistics;

	/* The kernel has stamped each packet: taking it late costs nothing. */
	for (nanos next = now(); next < end; next += PERIOD) {
		sleep_until(next);
		while (take(s, file))
			;
	}
	getsockopt(s, SOL_PACKET, PACKET_STATISTICS, &statistics, &length);
	if (statistics.tp_drops) {
		fprintf(stderr, "guest: the tap at %s lost %u packets\n", interface, statistics.tp_drops);
		return 1;
	}
	return fclose(file);
}
