// Scenario 1 of the S-PIE paper (Zhu et al. 2023) inside ns-3, with a discipline of aqmlab at the bottleneck: 50 ON/OFF
// senders of 1 Mbit/s and 50 of 50 Mbit/s share 50 Mbit/s and 50 packets of buffer, over 60 ms.
//
//     s-pie --ns3::AqmlabQueueDisc::Discipline="s-pie:consistent limit 50p" --seed=1
//
//     100 senders -- 100 Mbit/s, 5 ms -- left -- 50 Mbit/s, 20 ms -- right -- 100 Mbit/s, 5 ms -- 100 receivers
//
// Prints one JSON object. The same in aqmlab: `aqmlab run experiments/s-pie/scenarios/s1.toml`. With --disc, as
// --disc=ns3::CoDelQueueDisc, a queue disc of ns-3 has the bottleneck instead, with its MaxSize of 50p.

#include "aqmlab-queue-disc.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

namespace
{

constexpr uint32_t FLOWS = 100;
constexpr uint16_t PORT = 5001;

/// The time-weighted mean of packets that wait.
struct MeanQueue
{
    double packetSeconds = 0;
    Time since;

    void Changed(uint32_t before, uint32_t)
    {
        packetSeconds += before * (Simulator::Now() - since).GetSeconds();
        since = Simulator::Now();
    }
};

} // namespace

int
main(int argc, char* argv[])
{
    const std::string ours = "ns3::AqmlabQueueDisc";
    std::string disc = ours;
    uint32_t seed = 1;
    double seconds = 20;
    // The paper's segments, and ns-3.27's defaults.
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault(ours + "::Discipline", StringValue("s-pie:consistent limit 50p"));
    Config::SetDefault(ours + "::Rate", StringValue("50Mbps"));
    Config::SetDefault(ours + "::Overhead", UintegerValue(2));
    CommandLine command(__FILE__);
    command.AddValue("disc", "the type of the queue disc at the bottleneck", disc);
    command.AddValue("seed", "run of ns-3's random numbers, and seed of the discipline", seed);
    command.AddValue("duration", "seconds", seconds);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    Config::SetDefault(ours + "::Seed", UintegerValue(seed));

    NodeContainer left(1);
    NodeContainer right(1);
    NodeContainer senders(FLOWS);
    NodeContainer receivers(FLOWS);
    InternetStackHelper internet;
    internet.InstallAll();

    PointToPointHelper trunkLink;
    trunkLink.SetDeviceAttribute("DataRate", StringValue("50Mbps"));
    trunkLink.SetChannelAttribute("Delay", StringValue("20ms"));
    // The queue that is under test is the disc, not the device's.
    trunkLink.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    PointToPointHelper accessLink;
    accessLink.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    accessLink.SetChannelAttribute("Delay", StringValue("5ms"));

    TrafficControlHelper tested;
    tested.SetRootQueueDisc(disc);
    if (disc != ours)
    {
        Config::SetDefault(disc + "::MaxSize", StringValue("50p"));
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    NetDeviceContainer trunk = trunkLink.Install(left.Get(0), right.Get(0));
    Ptr<QueueDisc> bottleneck = tested.Install(trunk.Get(0)).Get(0);
    MeanQueue queue;
    bottleneck->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&MeanQueue::Changed, &queue));
    addresses.Assign(trunk);

    std::vector<Ptr<PacketSink>> sinks;
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < FLOWS; ++i)
    {
        addresses.NewNetwork();
        addresses.Assign(accessLink.Install(senders.Get(i), left.Get(0)));
        addresses.NewNetwork();
        const Ipv4Address to = addresses.Assign(accessLink.Install(right.Get(0), receivers.Get(i))).GetAddress(1);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(receivers.Get(i)).Get(0)));
        const StringValue period("ns3::UniformRandomVariable[Min=0|Max=1]");
        OnOffHelper source("ns3::TcpSocketFactory", InetSocketAddress(to, PORT));
        source.SetAttribute("DataRate", StringValue(i % 2 == 0 ? "1Mbps" : "50Mbps"));
        source.SetAttribute("PacketSize", UintegerValue(1000));
        source.SetAttribute("OnTime", period);
        source.SetAttribute("OffTime", period);
        source.Install(senders.Get(i)).Start(Seconds(start->GetValue(0.0, 1.0)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    queue.Changed(bottleneck->GetNPackets(), 0);
    double bytes = 0;
    for (const auto& sink : sinks)
    {
        bytes += static_cast<double>(sink->GetTotalRx());
    }
    const QueueDisc::Stats& stats = bottleneck->GetStats();
    std::cout << "{\"queue_mean_packets\": " << queue.packetSeconds / seconds
              << ", \"goodput_mbit\": " << bytes * 8e-6 / seconds << ", \"arrived\": " << stats.nTotalReceivedPackets
              << ", \"dropped\": " << stats.nTotalDroppedPackets
              << ", \"dropped_full\": " << stats.GetNDroppedPackets("overlimit") << "}\n";
    Simulator::Destroy();
    return 0;
}
