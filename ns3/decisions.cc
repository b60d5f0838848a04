// Gives packets to a queue disc that has no device, which logs its decisions: `replay.py` repeats them.
//
//     decisions --ns3::AqmlabQueueDisc::Discipline="codel ecn" --ns3::AqmlabQueueDisc::Log=decisions.log
//
// The link has 1 Mbit/s unless the attribute `Rate` says otherwise, so that laws which take their time act too.
// The packets are IPv4 and IPv6, UDP and TCP (data and pure ACKs), of six flows, several sizes, priorities, code points and
// ECN fields; twice as many bytes arrive as the link carries, in bursts.

#include "aqmlab-queue-disc.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <iostream>

using namespace ns3;

namespace
{

struct Fates
{
    uint32_t arrived = 0;
    uint32_t left = 0;
    uint32_t dropped = 0;
    uint32_t marked = 0;
};

/// A packet of one of six flows: odd ones are TCP, the last two IPv6.
Ptr<QueueDiscItem>
MakeItem(Ptr<UniformRandomVariable> chance, uint32_t number)
{
    static const uint32_t sizes[] = {1, 200, 548, 1348, 1448};
    const uint32_t flow = chance->GetInteger(0, 5);
    const uint32_t payload = sizes[chance->GetInteger(0, 4)];
    const uint8_t tos = static_cast<uint8_t>(chance->GetInteger(0, 3) * 10 << 2 | chance->GetInteger(0, 3));
    const bool isTcp = flow % 2 == 1;
    Ptr<Packet> packet = Create<Packet>(isTcp && payload == 1 ? 0 : payload);
    if (isTcp)
    {
        TcpHeader header;
        header.SetSourcePort(static_cast<uint16_t>(1000 + flow));
        header.SetDestinationPort(80);
        header.SetSequenceNumber(SequenceNumber32(number * 1448));
        header.SetAckNumber(SequenceNumber32(number * 2896));
        header.SetFlags(TcpHeader::ACK);
        packet->AddHeader(header);
    }
    else
    {
        UdpHeader header;
        header.SetSourcePort(static_cast<uint16_t>(1000 + flow));
        header.SetDestinationPort(5004);
        packet->AddHeader(header);
    }
    SocketPriorityTag priority;
    priority.SetPriority(static_cast<uint8_t>(chance->GetInteger(0, 7)));
    packet->AddPacketTag(priority);
    const uint8_t protocol = isTcp ? 6 : 17;
    if (flow < 4)
    {
        Ipv4Header header;
        header.SetSource(Ipv4Address(0x0a000001 + flow));
        header.SetDestination(Ipv4Address(0x0a000101));
        header.SetProtocol(protocol);
        header.SetTos(tos);
        header.SetPayloadSize(static_cast<uint16_t>(packet->GetSize()));
        return Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, header);
    }
    Ipv6Header header;
    header.SetSource(flow == 4 ? Ipv6Address("2001:db8::1") : Ipv6Address("2001:db8::2"));
    header.SetDestination(Ipv6Address("2001:db8::ff"));
    header.SetNextHeader(protocol);
    header.SetTrafficClass(tos);
    header.SetPayloadLength(static_cast<uint16_t>(packet->GetSize()));
    return Create<Ipv6QueueDiscItem>(packet, Address(), 0x86dd, header);
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t packets = 1000;
    Config::SetDefault("ns3::AqmlabQueueDisc::Rate", StringValue("1Mbps"));
    Config::SetDefault("ns3::AqmlabQueueDisc::Overhead", UintegerValue(2));
    CommandLine command(__FILE__);
    command.AddValue("packets", "that arrive", packets);
    command.Parse(argc, argv);

    Ptr<QueueDisc> disc = CreateObject<AqmlabQueueDisc>();
    disc->Initialize();

    Fates fates;
    DataRateValue rate;
    disc->GetAttribute("Rate", rate);
    // The time in which the link sends 1000 bytes.
    const double slot = 1000 * 8 / static_cast<double>(rate.Get().GetBitRate());
    Ptr<UniformRandomVariable> chance = CreateObject<UniformRandomVariable>();
    double at = 0;
    for (uint32_t number = 0; number < packets; ++number)
    {
        // Trains of packets at five times the rate, with pauses between them.
        at += number % 50 == 0 ? chance->GetValue(0, 18 * slot) : chance->GetValue(0, 0.4 * slot);
        Simulator::Schedule(Seconds(at), [=, &fates] {
            ++fates.arrived;
            disc->Enqueue(MakeItem(chance, number));
        });
    }
    const double end = at + 100 * slot;
    for (at = slot; at < end; at += chance->GetValue(0.8 * slot, 1.2 * slot))
    {
        Simulator::Schedule(Seconds(at), [=, &fates] { fates.left += disc->Dequeue() ? 1 : 0; });
    }
    Simulator::Stop(Seconds(end));
    Simulator::Run();
    const QueueDisc::Stats& stats = disc->GetStats();
    fates.dropped = stats.nTotalDroppedPackets;
    fates.marked = stats.nTotalMarkedPackets;
    const uint32_t waiting = disc->GetNPackets();
    NS_ABORT_MSG_UNLESS(fates.arrived == fates.left + fates.dropped + waiting, "packets were lost");
    std::cout << "{\"arrived\": " << fates.arrived << ", \"left\": " << fates.left << ", \"dropped\": " << fates.dropped
              << ", \"marked\": " << fates.marked << ", \"waiting\": " << waiting << "}\n";
    disc->Dispose();
    Simulator::Destroy();
    return 0;
}
