/* A tap: each packet of TCP or UDP that enters the box by an interface, or leaves by it, with the kernel's time stamp. */
#include "guest.h"
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
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
	uint16_t port, id, length;
	uint8_t ecn, unused[5];
};

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
	uint32_t seq;
	uint16_t field;

	if (length < 0)
		return 0;
	memcpy(&field, packet + 12, 2);
	if (field != htons(ETH_P_IP) || (ip[9] != IPPROTO_TCP && ip[9] != IPPROTO_UDP))
		return 1;
	seen.time = stamp(&message);
	seen.ecn = ip[1] & 3;
	memcpy(&field, ip + 2, 2);
	seen.length = ETH_HLEN + ntohs(field);
	memcpy(&field, ip + 4, 2);
	seen.id = ntohs(field);
	memcpy(&field, transport, 2);
	seen.port = ntohs(field);
	memcpy(&seq, transport + (ip[9] == IPPROTO_TCP ? 4 : 8), 4);
	seen.seq = ntohl(seq);
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
