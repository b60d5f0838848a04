/* The qdisc's own counters, every ten milliseconds, and for who waits outside: how far the run is. */
#include "commands.h"
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PERIOD (SECOND / 100)
/* How often the outside is told: each time is a call into the machine outside. */
#define TOLD 10

static struct gnet_stats_queue counters(struct nlmsghdr *message)
{
	struct gnet_stats_queue found = { 0 };
	struct tcmsg *qdisc = NLMSG_DATA(message);
	int left = message->nlmsg_len - NLMSG_LENGTH(sizeof *qdisc);

	for (struct rtattr *a = TCA_RTA(qdisc); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		int inside = RTA_PAYLOAD(a);

		if (a->rta_type != TCA_STATS2)
			continue;
		for (struct rtattr *s = RTA_DATA(a); RTA_OK(s, inside); s = RTA_NEXT(s, inside))
			if (s->rta_type == TCA_STATS_QUEUE)
				memcpy(&found, RTA_DATA(s), sizeof found);
	}
	return found;
}

static struct gnet_stats_queue ask(int link, int index, unsigned major)
{
	static char answer[1 << 16];
	struct {
		struct nlmsghdr head;
		struct tcmsg body;
	} request = {
		{ sizeof request, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, 1, 0 },
		{ .tcm_family = AF_UNSPEC, .tcm_ifindex = index },
	};
	struct gnet_stats_queue found = { 0 };

	if (send(link, &request, sizeof request, 0) < 0)
		die("netlink");
	for (;;) {
		int left = recv(link, answer, sizeof answer, 0);

		if (left < 0)
			die("netlink");
		for (struct nlmsghdr *m = (void *)answer; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
			struct tcmsg *qdisc = NLMSG_DATA(m);

			if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR)
				return found;
			if (qdisc->tcm_ifindex == index && qdisc->tcm_handle >> 16 == major)
				found = counters(m);
		}
	}
}

int sample(const char *interface, unsigned major, nanos first, nanos end, const char *out, const char *reached)
{
	FILE *file = create(out), *outside = create(reached);
	int link = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), index = if_nametoindex(interface), count = 0;

	if (link < 0 || !index)
		die(interface);
	fprintf(file, "t_ns,packets,bytes,drops\n");
	for (nanos next = first; next <= end; next += PERIOD) {
		sleep_until(next);

		struct gnet_stats_queue now = ask(link, index, major);

		fprintf(file, "%llu,%u,%u,%u\n", (unsigned long long)next, now.qlen, now.backlog, now.drops);
		if (count++ % TOLD == 0) {
			rewind(outside);
			fprintf(outside, "%020llu\n", (unsigned long long)(next - first));
			fflush(outside);
		}
	}
	return fclose(file) | fclose(outside);
}
