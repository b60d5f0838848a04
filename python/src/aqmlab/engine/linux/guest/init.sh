#!/usr/bin/busybox sh
# First process of the guest: builds the dumbbell that job.env describes, lets the flows run, switches off.
#
#   snd --s0 s1-- rtr --b0 b1-- rcv        b0: HTB at the bottleneck's rate, and below it the qdisc under test
#                                          b1: netem, the whole base round-trip time, so only ACKs meet it
#   With random loss there is another box between rtr and rcv.
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/run/busybox
# Busybox would take its own.
ip() {
	/usr/sbin/ip "$@"
}
tc() {
	/usr/sbin/tc "$@"
}
alias mount="/usr/bin/busybox mount" mkdir="/usr/bin/busybox mkdir"
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mkdir /run/job /run/busybox /run/netns
/usr/bin/busybox --install -s /run/busybox
mount -t hostfs none /run/job -o /proc/self/cwd/job
cd /run/job
exec >log 2>&1
. ./job.env
trap '/guest off' EXIT

in_box() {
	box=$1
	shift
	ip netns exec "$box" "$@"
}
# kernel.sysctl=value ... in the given box; commas stand for blanks
settings() {
	for setting in $2; do
		in_box "$1" sh -c 'echo "$2" >"/proc/sys/$(echo "$1" | tr . /)"' - "${setting%%=*}" \
			"$(echo "${setting#*=}" | tr , ' ')"
	done
}

for box in snd rtr rcv; do
	ip netns add $box
	ip -n $box link set lo up
	[ ! -d /proc/sys/net/ipv6 ] || settings $box net.ipv6.conf.all.disable_ipv6=1
done
# Addresses are given, and neighbours known: nothing but the flows travels.
ip link add s0 address 02:00:00:00:00:01 netns snd type veth peer name s1 address 02:00:00:00:00:02 netns rtr
if [ "$LOSS" = 0 ]; then
	ip link add b0 address 02:00:00:00:00:03 netns rtr type veth peer name b1 address 02:00:00:00:00:04 netns rcv
else
	# A box behind the bottleneck that loses packets, and is nothing else to both its neighbours.
	ip netns add far
	ip link add b0 address 02:00:00:00:00:03 netns rtr type veth peer name f0 address 02:00:00:00:00:04 netns far
	ip link add f1 address 02:00:00:00:00:03 netns far type veth peer name b1 address 02:00:00:00:00:04 netns rcv
fi
ip -n snd addr add 10.9.1.1/24 dev s0
ip -n rtr addr add 10.9.1.2/24 dev s1
ip -n rtr addr add 10.9.2.1/24 dev b0
ip -n rcv addr add 10.9.2.2/24 dev b1
for end in snd/s0 rtr/s1 rtr/b0 rcv/b1; do
	ip -n ${end%/*} link set ${end#*/} up gso_max_segs 1
	in_box ${end%/*} /guest single ${end#*/}
done
ip -n snd neigh add 10.9.1.2 lladdr 02:00:00:00:00:02 dev s0
ip -n rtr neigh add 10.9.1.1 lladdr 02:00:00:00:00:01 dev s1
ip -n rcv neigh add 10.9.2.1 lladdr 02:00:00:00:00:03 dev b1
ip -n rcv route add default via 10.9.2.1
settings rtr net.ipv4.ip_forward=1
if [ "$LOSS" != 0 ]; then
	settings far net.ipv4.ip_forward=1
	for end in f0 f1; do
		ip -n far link set $end up gso_max_segs 1
		in_box far /guest single $end
	done
	ip -n far route add 10.9.1.0/24 dev f0
	ip -n far route add 10.9.2.0/24 dev f1
	ip -n far neigh add 10.9.1.1 lladdr 02:00:00:00:00:03 dev f0
	tc -n far qdisc add dev f1 root netem loss "$LOSS" limit 200000
fi
# Without room for the windows, TCP's memory and not the queue would limit the flows; and each flow starts afresh.
echo 400000 500000 600000 >/proc/sys/net/ipv4/tcp_mem
for box in snd rcv; do
	settings $box "net.ipv4.tcp_no_metrics_save=1 $SYSCTLS"
done

# A group of flows has an address, to which its route carries TCP's settings, and a delay on the way back, which the
# priority of the receiver's sockets chooses: no packet needs to be classified.
tc -n rcv qdisc add dev b1 root handle 30: prio bands 15 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
group=0
while read -r delay route; do
	ip -n rcv addr add 10.9.2.$((10 + group))/24 dev b1
	ip -n rtr neigh add 10.9.2.$((10 + group)) lladdr 02:00:00:00:00:04 dev b0
	[ "$LOSS" = 0 ] || ip -n far neigh add 10.9.2.$((10 + group)) lladdr 02:00:00:00:00:04 dev f1
	# shellcheck disable=SC2086 # several words
	ip -n snd route add 10.9.2.$((10 + group)) via 10.9.1.2 $route
	tc -n rcv qdisc add dev b1 parent 30:$(printf %x $((group + 1))) netem delay "$delay" limit 200000
	group=$((group + 1))
done <groups
if [ "$SHAPER" = htb ]; then
	# A bucket of one byte: HTB lets the next packet go when the last one's time is over, as a serial line does.
	tc -n rtr qdisc add dev b0 root handle 1: htb default 1
	tc -n rtr class add dev b0 parent 1: classid 1:1 htb rate "${RATE_BPS}bit" ceil "${RATE_BPS}bit" \
		burst 1b cburst 1b quantum 1514
	# shellcheck disable=SC2086 # several words
	tc -n rtr qdisc add dev b0 parent 1:1 handle 10: $QDISC
else
	# shellcheck disable=SC2086 # several words
	tc -n rtr qdisc add dev b0 root handle 10: $QDISC
fi
uname -r >kernel

# Every run begins at the same instant, however long the set-up took.
start=$START_NS
end=$((start + END_NS))
warm=$((start + WARM_NS))
# Packets that wait at the end are no losses: the taps, and the flows that keep the queue moving, go on for a second.
later=$((end + 1000000000))
in_box rtr /guest watch s1 in $later /run/in &
arrivals=$!
in_box rtr /guest watch b0 out $later /run/out &
departures=$!
# Without a trace it ends at once: as many processes draw as many random numbers.
in_box rtr /guest watch s1 out $((TRACE ? later : start)) /run/back &
answers=$!
in_box rtr /guest sample b0 10 $start $later /run/sampled reached &
sampler=$!
in_box rcv /guest receive $start "$SAMPLE_NS" $warm $end /run/received &
/guest until $((start - 500000000))
in_box snd /guest send flows datagrams $start "$STATES_NS" $later /run/sent &
sender=$!
wait $arrivals
wait $departures
wait $sampler
wait $sender
wait $answers
tc -n rtr -s -d qdisc show dev b0 >qdisc
# What the kernel counts since each box was made: nothing but the flows has travelled.
for box in snd rcv; do
	in_box $box cat /proc/net/snmp /proc/net/netstat >counted.$box
done
cp /run/in /run/out /run/sampled /run/received /run/sent .
[ "$TRACE" = 0 ] || cp /run/back .
: >done
