#!/bin/sh
# First process of the guest: builds the dumbbell that $JOB/job.env describes, lets the flows run, switches off.
#
#   snd --s0 s1-- rtr --b0 b1-- rcv        b0: HTB at the bottleneck's rate, and below it the qdisc under test
#                                          b1: netem, the whole base round-trip time, so only ACKs meet it
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mkdir /run/job
mount -t hostfs none /run/job -o "$JOB"
cd /run/job
exec >log 2>&1
. ./job.env
trap '"$GUEST" off' EXIT

in_box() {
	box=$1
	shift
	ip netns exec "$box" "$@"
}
# kernel.sysctl=value ... in the given box
settings() {
	for setting in $2; do
		in_box "$1" sh -c 'echo "$2" >"/proc/sys/$(echo "$1" | tr . /)"' - "${setting%%=*}" \
			"$(echo "${setting#*=}" | tr , ' ')"
	done
}

for box in snd rtr rcv; do
	ip netns add $box
	ip -n $box link set lo up
done
ip link add s0 netns snd type veth peer name s1 netns rtr
ip link add b0 netns rtr type veth peer name b1 netns rcv
ip -n snd addr add 10.9.1.1/24 dev s0
ip -n rtr addr add 10.9.1.2/24 dev s1
ip -n rtr addr add 10.9.2.1/24 dev b0
ip -n rcv addr add 10.9.2.2/24 dev b1
for end in snd/s0 rtr/s1 rtr/b0 rcv/b1; do
	ip -n ${end%/*} link set ${end#*/} up gso_max_segs 1
	in_box ${end%/*} "$GUEST" single ${end#*/}
done
ip -n snd route add default via 10.9.1.2 initcwnd "$INITIAL_WINDOW"
ip -n rcv route add default via 10.9.2.1
settings rtr net.ipv4.ip_forward=1
# Without room for the windows, TCP's memory and not the queue would limit the flows; and each flow starts afresh.
echo 400000 500000 600000 >/proc/sys/net/ipv4/tcp_mem
for box in snd rcv; do
	settings $box "net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_rmem=4096,16777216,134217728"
	settings $box "net.ipv4.tcp_wmem=4096,262144,134217728 $SYSCTLS"
done
echo "$HYSTART" >/sys/module/tcp_cubic/parameters/hystart

tc -n rcv qdisc add dev b1 root handle 30: netem delay "${DELAY_US}us" limit 200000
if [ "$SHAPER" = htb ]; then
	# A bucket of one byte: HTB lets the next packet go when the last one's time is over, as a serial line does.
	tc -n rtr qdisc add dev b0 root handle 1: htb default 1
	tc -n rtr class add dev b0 parent 1: classid 1:1 htb rate "${RATE_BPS}bit" ceil "${RATE_BPS}bit" \
		burst 1b cburst 1b quantum 1514
	tc -n rtr qdisc add dev b0 parent 1:1 handle 10: $QDISC
else
	tc -n rtr qdisc add dev b0 root handle 10: $QDISC
fi
tc -n rtr -d qdisc show dev b0
uname -r >kernel

start=$(($("$GUEST" now) / 1000000000 + 2))000000000
end=$((start + END_NS))
# Packets that wait at the end are no losses: the taps, and the flows that keep the queue moving, go on for a second.
later=$((end + 1000000000))
echo "$start" >start
in_box rtr "$GUEST" watch s1 in $later /run/in &
arrivals=$!
in_box rtr "$GUEST" watch b0 out $later /run/out &
departures=$!
in_box rcv "$GUEST" receive 5001 $((start + WARM_NS)) $end /run/received &
"$GUEST" until $((start - 500000000))
in_box snd "$GUEST" send 10.9.2.2 5001 flows $start $later /run/sent &
sender=$!
"$GUEST" until $((start + WARM_NS))
in_box snd cat /proc/net/netstat >netstat.warm
"$GUEST" until $end
in_box snd cat /proc/net/netstat >netstat.end
tc -n rtr -s -d qdisc show dev b0 >qdisc
wait $arrivals
wait $departures
wait $sender
cp /run/in /run/out /run/received /run/sent .
: >done
