/* The programs of the guest, as commands of one. */
#include "commands.h"
#include <linux/ethtool.h>
#include <linux/reboot.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <unistd.h>

static const char USAGE[] =
	"guest now                                    the time\n"
	"guest until T                                sleeps until then\n"
	"guest single INTERFACE                       lets each packet travel alone: no TSO, GSO, GRO\n"
	"guest send FLOWS DATAGRAMS T0 EVERY END OUT  the flows that these list, and their states EVERY so often\n"
	"guest receive T0 EVERY WARM END OUT          bytes per flow EVERY so often, at WARM and at END\n"
	"guest watch INTERFACE in|out END OUT         each packet with its time\n"
	"guest sample INTERFACE MAJOR T0 END OUT REACHED   the counters of a qdisc, and how far the run is\n"
	"guest pace INTERFACE LIST T0                 gives HTB the rates of a list, each at its time\n"
	"guest off                                    ends the guest\n";

static int single(const char *interface)
{
	static const uint32_t offloads[] = { ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO };
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	for (unsigned i = 0; i < sizeof offloads / sizeof *offloads; i++) {
		struct ethtool_value off = { .cmd = offloads[i], .data = 0 };
		struct ifreq request = { .ifr_data = (void *)&off };

		strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
		if (ioctl(s, SIOCETHTOOL, &request) < 0)
			die("ethtool");
	}
	return 0;
}

static nanos number(const char *text)
{
	return strtoull(text, NULL, 10);
}

int main(int count, char **args)
{
	const char *command = count > 1 ? args[1] : "";

	if (!strcmp(command, "now") && count == 2)
		return printf("%llu\n", (unsigned long long)now()) < 0;
	if (!strcmp(command, "until") && count == 3)
		return sleep_until(number(args[2])), 0;
	if (!strcmp(command, "single") && count == 3)
		return single(args[2]);
	if (!strcmp(command, "send") && count == 8)
		return send_flows(args[2], args[3], number(args[4]), number(args[5]), number(args[6]), args[7]);
	if (!strcmp(command, "receive") && count == 7)
		receive_flows(number(args[2]), number(args[3]), number(args[4]), number(args[5]), args[6]);
	if (!strcmp(command, "sample") && count == 8)
		return sample(args[2], strtoul(args[3], NULL, 16), number(args[4]), number(args[5]), args[6], args[7]);
	if (!strcmp(command, "watch") && count == 6)
		return watch(args[2], args[3], number(args[4]), args[5]);
	if (!strcmp(command, "pace") && count == 5)
		return pace(args[2], args[3], number(args[4]));
	if (!strcmp(command, "off") && count == 2)
		return reboot(LINUX_REBOOT_CMD_POWER_OFF);
	fputs(USAGE, stderr);
	return 2;
}
