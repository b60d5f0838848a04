// A dumbbell of bulk TCP flows in ns-3, with aqmlab's parameters and aqmlab's metric names.
//
//     N senders -- 10 x rate, rtt/8 -- left -- rate, rtt/4 -- right -- 10 x rate, rtt/8 -- N receivers
//
// Prints one JSON object: the parameters as they were set, and the metrics measured from --warmup to --duration.
// Where ns-3's defaults differ from aqmlab's, the value is set here; compare.py prints both sides.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1448;
constexpr uint32_t BUFFER = 64 << 20; // no flow is limited by its window

/// What the bottleneck's queue disc did since the warm-up.
struct Bottleneck
{
    Ptr<QueueDisc> disc;
    Time warmup;
    uint64_t arrived = 0;
    uint64_t dropped = 0;
    uint64_t departed = 0;
    double sojournSeconds = 0;

    /// Packets before the warm-up's end are not counted.
    bool Counts() const
    {
        return Simulator::Now() >= warmup;
    }

    void Enqueue(Ptr<const QueueDiscItem>)
    {
        arrived += Counts();
    }

    /// Refused at the door: no Enqueue was traced.
    void DropBeforeEnqueue(Ptr<const QueueDiscItem>, const char*)
    {
        arrived += Counts();
        dropped += Counts();
    }

    void Sojourn(Time sojourn)
    {
        if (Counts())
        {
            ++departed;
            sojournSeconds += sojourn.GetSeconds();
        }
    }

    /// CoDel's drops were traced as departures first: take them back.
    void DropAfterDequeue(Ptr<const QueueDiscItem> item, const char*)
    {
        if (Counts())
        {
            ++dropped;
            --departed;
            sojournSeconds -= (Simulator::Now() - item->GetTimeStamp()).GetSeconds();
        }
    }

    void Watch()
    {
        disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&Bottleneck::Enqueue, this));
        disc->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&Bottleneck::DropBeforeEnqueue, this));
        disc->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Bottleneck::DropAfterDequeue, this));
        disc->TraceConnectWithoutContext("SojournTime", MakeCallback(&Bottleneck::Sojourn, this));
    }
};

/// Payload that each receiver had at one instant.
struct Deliveries
{
    std::vector<Ptr<PacketSink>> sinks;
    std::vector<uint64_t> atWarmup;

    void Remember()
    {
        for (const auto& sink : sinks)
        {
            atWarmup.push_back(sink->GetTotalRx());
        }
    }
};

void
ConfigureTcp(const std::string& congestionControl)
{
    // ns-3's TcpNewReno grows per ACK, whatever that acknowledges; TcpLinuxReno counts segments, as aqmlab's
    // NewReno counts bytes (RFC 3465).
    const std::string type = congestionControl == "cubic" ? "ns3::TcpCubic" : "ns3::TcpLinuxReno";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(type));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("Off"));
}

TrafficControlHelper
Discipline(const std::string& name, uint32_t limit, const std::string& rate, Time delay)
{
    const StringValue size(std::to_string(limit) + "p");
    // ns-3 lets CoDel drop unless fewer than MinBytes are left, RFC 8289 unless at most one full packet is.
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(1501));
    TrafficControlHelper helper;
    if (name == "fifo")
    {
        helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", size);
    }
    else if (name == "codel")
    {
        helper.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", size);
    }
    else if (name == "pie")
    {
        helper.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", size, "MeanPktSize", UintegerValue(1500),
                                "QueueDelayReference", TimeValue(MilliSeconds(15)), "Tupdate",
                                TimeValue(MilliSeconds(15)), "MaxBurstAllowance", TimeValue(MilliSeconds(150)),
                                "A", DoubleValue(0.125), "B", DoubleValue(1.25), "UseDequeueRateEstimator",
                                BooleanValue(false), "UseDerandomization", BooleanValue(true),
                                "UseCapDropAdjustment", BooleanValue(true), "UseEcn", BooleanValue(false));
    }
    else if (name == "red")
    {
        // Wait spaces drops by 1 to 2 times 1/p; the paper, and aqmlab, by 0 to 1 times.
        helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", size, "Wait", BooleanValue(false), "MinTh", DoubleValue(limit * 0.2), "MaxTh",
                                DoubleValue(limit * 0.6), "QW", DoubleValue(0.002), "LInterm", DoubleValue(10),
                                "Gentle", BooleanValue(true), "MeanPktSize", UintegerValue(1500),
                                "LinkBandwidth", StringValue(rate), "LinkDelay", TimeValue(delay), "UseEcn",
                                BooleanValue(false));
    }
    else if (name == "fq_codel")
    {
        helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", size, "UseEcn", BooleanValue(false));
    }
    else
    {
        std::cerr << "dumbbell: unknown --aqm " << name << ": fifo, codel, pie, red or fq_codel\n";
        std::exit(2);
    }
    return helper;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string aqm = "fifo";
    std::string congestionControl = "newreno";
    uint32_t flows = 2;
    uint32_t limit = 500;
    double rateMbit = 20;
    double rttMs = 40;
    double warmupS = 10;
    double durationS = 30;
    uint32_t seed = 1;
    CommandLine command(__FILE__);
    command.AddValue("aqm", "fifo, codel, pie, red, fq_codel", aqm);
    command.AddValue("cc", "newreno, cubic", congestionControl);
    command.AddValue("flows", "bulk flows", flows);
    command.AddValue("limit", "packets", limit);
    command.AddValue("rate", "Mbit/s", rateMbit);
    command.AddValue("rtt", "base round trip, ms", rttMs);
    command.AddValue("warmup", "seconds", warmupS);
    command.AddValue("duration", "seconds", durationS);
    command.AddValue("seed", "run number of ns-3's generator", seed);
    command.Parse(argc, argv);

    RngSeedManager::SetRun(seed);
    ConfigureTcp(congestionControl);

    NodeContainer left(1);
    NodeContainer right(1);
    NodeContainer senders(flows);
    NodeContainer receivers(flows);
    InternetStackHelper internet;
    internet.InstallAll();

    const std::string rate = std::to_string(static_cast<uint64_t>(rateMbit * 1e6)) + "bps";
    const Time rtt = MicroSeconds(static_cast<uint64_t>(rttMs * 1000));
    PointToPointHelper bottleneckLink;
    bottleneckLink.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneckLink.SetChannelAttribute("Delay", TimeValue(rtt / 4));
    bottleneckLink.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    PointToPointHelper accessLink;
    accessLink.SetDeviceAttribute("DataRate", StringValue(std::to_string(static_cast<uint64_t>(rateMbit * 1e7)) + "bps"));
    accessLink.SetChannelAttribute("Delay", TimeValue(rtt / 8));

    // Queues that are not under test hold everything.
    TrafficControlHelper roomy;
    roomy.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000000p"));
    TrafficControlHelper tested = Discipline(aqm, limit, rate, rtt / 4);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    NetDeviceContainer trunk = bottleneckLink.Install(left.Get(0), right.Get(0));
    Bottleneck bottleneck;
    bottleneck.warmup = Seconds(warmupS);
    bottleneck.disc = tested.Install(trunk.Get(0)).Get(0);
    bottleneck.Watch();
    roomy.Install(trunk.Get(1));
    addresses.Assign(trunk);

    Deliveries deliveries;
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < flows; ++i)
    {
        addresses.NewNetwork();
        NetDeviceContainer up = accessLink.Install(senders.Get(i), left.Get(0));
        roomy.Install(up);
        addresses.Assign(up);
        addresses.NewNetwork();
        NetDeviceContainer down = accessLink.Install(right.Get(0), receivers.Get(i));
        roomy.Install(down);
        const Ipv4Address receiver = addresses.Assign(down).GetAddress(1);

        const uint16_t port = 5001;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        deliveries.sinks.push_back(DynamicCast<PacketSink>(sink.Install(receivers.Get(i)).Get(0)));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(receiver, port));
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        source.Install(senders.Get(i)).Start(Seconds(start->GetValue(0.0, 1.0)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Schedule(bottleneck.warmup, &Deliveries::Remember, &deliveries);
    Simulator::Stop(Seconds(durationS));
    Simulator::Run();

    double total = 0;
    double squares = 0;
    for (uint32_t i = 0; i < flows; ++i)
    {
        const double mbit = static_cast<double>(deliveries.sinks[i]->GetTotalRx() - deliveries.atWarmup[i]) * 8e-6 /
                            (durationS - warmupS);
        total += mbit;
        squares += mbit * mbit;
    }
    std::cout.precision(10);
    std::cout << "{\"parameters\": {\"aqm\": \"" << aqm << "\", \"limit\": \"" << limit << "p\", \"rate_mbit\": " << rateMbit
              << ", \"rtt_ms\": " << rttMs << ", \"flows\": \"" << flows << " " << congestionControl
              << "\", \"mss\": " << SEGMENT << ", \"warmup_s\": " << warmupS << ", \"duration_s\": " << durationS
              << ", \"seed\": " << seed << "}, \"metrics\": {\"goodput_mbit\": " << total
              << ", \"qdelay_mean_ms\": " << bottleneck.sojournSeconds * 1e3 / static_cast<double>(bottleneck.departed)
              << ", \"loss_ratio\": " << static_cast<double>(bottleneck.dropped) / static_cast<double>(bottleneck.arrived)
              << ", \"jain_index\": " << total * total / (flows * squares) << "}}\n";
    Simulator::Destroy();
    return 0;
}
