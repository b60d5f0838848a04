#!/usr/bin/busybox sh
# First process of the guest: builds the network that job.py describes, lets the flows run, switches off. The dumbbell:
#
#   snd --e0 e1-- left --e2 e3-- right     e2: HTB at the bottleneck's rate, and below it the qdisc under test
#                                          e3: netem, the whole base round-trip time, so only ACKs meet it
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

# Without room for the windows, TCP's memory and not the queue would limit the flows.
echo 400000 500000 600000 >/proc/sys/net/ipv4/tcp_mem
# Both ends of a wire have the same address, and ask for none: nothing but the flows travels.
mac=02:00:00:00:00:01
while read -r what box rest; do
	# shellcheck disable=SC2086 # several words
	set -- $rest
	case $what in
	box)
		ip netns add "$box"
		ip -n "$box" link set lo up
		settings "$box" net.ipv4.ip_forward=1
		[ ! -d /proc/sys/net/ipv6 ] || settings "$box" net.ipv6.conf.all.disable_ipv6=1
		;;
	wire)
		ip link add "$1" address $mac netns "$box" type veth peer name "$3" address $mac netns "$2"
		for end in "$box/$1" "$2/$3"; do
			ip -n "${end%/*}" link set "${end#*/}" up arp off gso_max_segs 1
			in_box "${end%/*}" /guest single "${end#*/}"
		done
		;;
	host) settings "$box" "net.ipv4.tcp_no_metrics_save=1 $SYSCTLS" ;;
	address) ip -n "$box" addr add "$1/32" dev lo ;;
	# With the settings of TCP for a group of flows.
	route) ip -n "$box" route add "$@" ;;
	# The priority of a receiver's sockets chooses the delay on the way back: no packet needs to be classified. All
	# others go by the last band.
	delays)
		tc -n "$box" qdisc add dev "$1" root handle 30: prio bands 16 \
			priomap 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15
		;;
	delay) tc -n "$box" qdisc add dev "$1" parent "30:$2" netem delay "$3" limit 200000 ;;
	netem)
		interface=$1
		shift
		tc -n "$box" qdisc add dev "$interface" root netem limit 200000 "$@"
		;;
	port)
		interface=$1 shaper=$2 rate=${3}bit
		shift 3
		if [ "$shaper" = htb ]; then
			# A bucket of one byte: HTB lets the next packet go when the last one's time is over, as a serial line does.
			tc -n "$box" qdisc add dev "$interface" root handle 1: htb default 1
			tc -n "$box" class add dev "$interface" parent 1: classid 1:1 htb rate "$rate" ceil "$rate" \
				burst 1b cburst 1b quantum 1514
			tc -n "$box" qdisc add dev "$interface" parent 1:1 handle 10: "$@"
		else
			tc -n "$box" qdisc add dev "$interface" root handle 10: "$@"
		fi
		;;
	esac
done <network
uname -r >kernel

# Every run begins at the same instant, however long the set-up took.
start=$START_NS
end=$((start + END_NS))
warm=$((start + WARM_NS))
# Packets that wait at the end are no losses: the taps, and the flows that keep the queue moving, go on for a second.
later=$((end + 1000000000))
reached=reached
programs=
while read -r program box interface direction; do
	case $program in
	watch) in_box "$box" /guest watch "$interface" "$direction" $later "/run/$direction.$interface" & ;;
	# Without a trace it ends at once: as many processes draw as many random numbers.
	answers) in_box "$box" /guest watch "$interface" out $((TRACE ? later : start)) "/run/back.$interface" & ;;
	sample)
		in_box "$box" /guest sample "$interface" 10 $start $later "/run/sampled.$interface" $reached &
		reached=/dev/null
		;;
	receive)
		in_box "$box" /guest receive $start "$SAMPLE_NS" $warm $end "/run/received.$box" &
		continue
		;;
	pace)
		in_box "$box" /guest pace "$interface" "rates.$interface" $start &
		continue
		;;
	send) continue ;;
	esac
	programs="$programs $!"
done <programs
/guest until $((start - 500000000))
while read -r program box; do
	[ "$program" = send ] || continue
	in_box "$box" /guest send "flows.$box" "datagrams.$box" $start "$STATES_NS" $later "/run/sent.$box" &
	programs="$programs $!"
done <programs
for program in $programs; do
	wait "$program"
done
# What the kernel counts since each box was made: nothing but the flows has travelled.
while read -r what box rest; do
	case $what in
	host) in_box "$box" cat /proc/net/snmp /proc/net/netstat >"counted.$box" ;;
	port) tc -n "$box" -s -d qdisc show dev "${rest%% *}" >>qdisc ;;
	esac
done <network
cp /run/in.* /run/out.* /run/sampled.* /run/received.* /run/sent.* .
[ "$TRACE" = 0 ] || cp /run/back.* .
: >done
