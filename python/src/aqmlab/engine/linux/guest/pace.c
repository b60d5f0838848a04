/* The rate of a recorded link: HTB's class 1:1 gets another at each of the times in a list. */
#include "commands.h"
#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A line of the list, in the machine's byte order: when after T0; from then on a packet takes the time of so many bytes
   more than it has. */
struct change {
	nanos at;
	uint32_t bytes_per_second, more;
};

static void change_rate(int link, int index, const struct change *to)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg body;
		struct rtattr kind;
		char name[4];
		struct rtattr options, parameters;
		struct tc_htb_opt class;
	} request = {
		{ sizeof request, RTM_NEWTCLASS, NLM_F_REQUEST | NLM_F_ACK, 1, 0 },
		{ .tcm_family = AF_UNSPEC, .tcm_ifindex = index, .tcm_handle = TC_H_MAKE(1 << 16, 1),
		  .tcm_parent = TC_H_MAKE(1 << 16, 0) },
		{ RTA_LENGTH(4), TCA_KIND },
		"htb",
		{ RTA_LENGTH(sizeof(struct rtattr) + sizeof(struct tc_htb_opt)), TCA_OPTIONS },
		{ RTA_LENGTH(sizeof(struct tc_htb_opt)), TCA_HTB_PARMS },
		{ .rate = { .linklayer = TC_LINKLAYER_ETHERNET, .overhead = to->more, .rate = to->bytes_per_second },
		  .buffer = 1, .cbuffer = 1, .quantum = 1514 },
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[sizeof request];
	} answer;

	request.class.ceil = request.class.rate;
	if (send(link, &request, sizeof request, 0) < 0 || recv(link, &answer, sizeof answer, 0) < 0)
		die("netlink");
	if (answer.head.nlmsg_type == NLMSG_ERROR && answer.error.error) {
		errno = -answer.error.error;
		die("rate");
	}
}

int pace(const char *interface, const char *list, nanos first)
{
	FILE *file = fopen(list, "r");
	int link = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), index = if_nametoindex(interface);
	struct change next;

	if (!file || link < 0 || !index)
		die(list);
	/* It would wake some 50 microseconds late, to save power. */
	prctl(PR_SET_TIMERSLACK, 1);
	while (fread(&next, sizeof next, 1, file) == 1) {
		sleep_until(first + next.at);
		change_rate(link, index, &next);
	}
	return fclose(file);
}
