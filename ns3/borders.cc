// What a queue disc of aqmlab answers where no decision is asked for. Ends with a message if an answer is wrong.

#include "aqmlab-queue-disc.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <iostream>
#include <limits>

using namespace ns3;

namespace
{

/// A TCP segment over IPv4, or a later fragment that looks like one.
Ptr<QueueDiscItem>
MakeItem(uint16_t offset)
{
    Ptr<Packet> packet = Create<Packet>(100);
    packet->AddHeader(TcpHeader());
    Ipv4Header header;
    header.SetProtocol(6);
    header.SetFragmentOffset(offset);
    header.SetPayloadSize(static_cast<uint16_t>(packet->GetSize()));
    return Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, header);
}

QueueSize
Packets(uint32_t count)
{
    return QueueSize(QueueSizeUnit::PACKETS, count);
}

} // namespace

int
main(int argc, char* argv[])
{
    Config::SetDefault("ns3::AqmlabQueueDisc::Rate", StringValue("1Mbps"));
    bool together = false;
    CommandLine command(__FILE__);
    command.AddValue("together", "let an earlier disc with the same attributes stay", together);
    command.Parse(argc, argv);

    Ptr<QueueDisc> earlier = CreateObject<AqmlabQueueDisc>();
    earlier->Initialize();
    if (!together)
    {
        earlier->Dispose();
    }
    Ptr<QueueDisc> disc = CreateObject<AqmlabQueueDisc>();
    disc->Initialize();
    disc->Enqueue(MakeItem(0));
    disc->Enqueue(MakeItem(1480));
    NS_ABORT_MSG_UNLESS(disc->GetCurrentSize() == Packets(2), "size is " << disc->GetCurrentSize());
    NS_ABORT_MSG_UNLESS(disc->GetMaxSize() == Packets(std::numeric_limits<uint32_t>::max()),
                        "largest size is " << disc->GetMaxSize());
    disc->Dispose();
    Simulator::Destroy();
    std::cout << "{}\n";
    return 0;
}
