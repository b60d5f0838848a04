// A dumbbell of TCP flows in ns-3, bulk or ON/OFF, with aqmlab's parameters and aqmlab's metric names.
//
//     N senders -- access, leaf -- left -- rate, rtt/2 - 2 leaf -- right -- access, leaf -- N receivers
//
// Prints one JSON object: the parameters as they were set, and the metrics measured from --warmup to --duration.
// Where ns-3's defaults differ from aqmlab's, the value is set here; compare.py prints both sides.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t BUFFER = 64 << 20; // no flow is limited by its window

/// ns-3's estimator, which remembers the samples that it is given: the "RTT" trace shows the estimate only. The sender
/// is known by the node whose event it is.
class RecordingRtt : public RttMeanDeviation
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("RecordingRtt").SetParent<RttMeanDeviation>().AddConstructor<RecordingRtt>();
        return id;
    }

    void Measurement(Time sample) override
    {
        RttMeanDeviation::Measurement(sample);
        if (Simulator::Now() >= warmup && Simulator::GetContext() >= firstSender && Simulator::GetContext() < firstSender + senders)
        {
            auto& flow = flows[Simulator::GetContext()];
            flow.samplesMs += sample.GetSeconds() * 1e3;
            flow.smoothedMs += GetEstimate().GetSeconds() * 1e3;
            ++flow.count;
        }
    }

    Ptr<RttEstimator> Copy() const override
    {
        return CopyObject<RecordingRtt>(this);
    }

    struct Sums
    {
        double samplesMs = 0;
        double smoothedMs = 0;
        uint64_t count = 0;
    };

    static inline std::map<uint32_t, Sums> flows;
    static inline Time warmup;
    static inline uint32_t firstSender = 2; // after the two routers
    static inline uint32_t senders = 0;
};

/// What the bottleneck's queue disc did since the warm-up.
struct Bottleneck
{
    Ptr<QueueDisc> disc;
    Time warmup;
    uint64_t arrived = 0;
    uint64_t dropped = 0;
    uint64_t departed = 0;
    double sojournSeconds = 0;
    double packetSeconds = 0;
    Time lastChange;

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

    void Length(uint32_t before, uint32_t)
    {
        packetSeconds += before * (Simulator::Now() - std::max(lastChange, warmup)).GetSeconds() * Counts();
        lastChange = Simulator::Now();
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
        disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Bottleneck::Length, this));
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

/// What differs from ns-3's defaults; the command line may change it again (--ns3::TcpSocket::SegmentSize=1000).
void
ConfigureTcp()
{
    // ns-3's TcpNewReno grows per ACK, whatever that acknowledges; TcpLinuxReno counts segments, as aqmlab's
    // NewReno counts bytes (RFC 3465).
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpL4Protocol::RttEstimatorType", TypeIdValue(RecordingRtt::GetTypeId()));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
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
    else if (name == "red:ns3")
    {
        // ns-3's defaults.
        helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", size, "MinTh", DoubleValue(5), "MaxTh", DoubleValue(15));
    }
    else if (name == "pie:ns3.27")
    {
        helper.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", size, "QueueDelayReference", TimeValue(MilliSeconds(20)),
                                "Tupdate", TimeValue(MilliSeconds(30)), "MaxBurstAllowance", TimeValue(MilliSeconds(100)),
                                "UseDequeueRateEstimator", BooleanValue(true), "DequeueThreshold", UintegerValue(10000),
                                "UseCapDropAdjustment", BooleanValue(true));
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
    double accessMbit = 0;
    double leafMs = 0;
    std::string onOffMbit;
    double warmupS = 10;
    double durationS = 30;
    uint32_t seed = 1;
    CommandLine command(__FILE__);
    command.AddValue("aqm", "fifo, codel, pie, red, fq_codel, red:ns3, pie:ns3.27", aqm);
    command.AddValue("cc", "newreno, cubic", congestionControl);
    command.AddValue("flows", "flows", flows);
    command.AddValue("limit", "packets", limit);
    command.AddValue("rate", "Mbit/s", rateMbit);
    command.AddValue("rtt", "base round trip, ms", rttMs);
    command.AddValue("access", "rate of the access links, Mbit/s (10 x rate)", accessMbit);
    command.AddValue("leaf", "delay of an access link, ms (rtt/8)", leafMs);
    command.AddValue("onoff", "ON/OFF flows, ON and OFF uniform in 0..1 s, at these rates in turn: 1,50 (bulk)", onOffMbit);
    command.AddValue("warmup", "seconds", warmupS);
    command.AddValue("duration", "seconds", durationS);
    command.AddValue("seed", "run number of ns-3's generator", seed);
    ConfigureTcp();
    command.Parse(argc, argv);
    accessMbit = accessMbit > 0 ? accessMbit : 10 * rateMbit;
    leafMs = leafMs > 0 ? leafMs : rttMs / 8;
    if (congestionControl == "cubic")
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    }
    std::vector<std::string> onOffRates;
    for (std::stringstream rates(onOffMbit); rates.good() && !onOffMbit.empty();)
    {
        std::getline(rates, onOffRates.emplace_back(), ',');
    }
    TypeId::AttributeInformation attribute;
    TcpSocket::GetTypeId().LookupAttributeByName("SegmentSize", &attribute);
    const uint32_t segmentSize = DynamicCast<const UintegerValue>(attribute.initialValue)->Get();

    RngSeedManager::SetRun(seed);
    RecordingRtt::warmup = Seconds(warmupS);
    RecordingRtt::senders = flows;

    NodeContainer left(1);
    NodeContainer right(1);
    NodeContainer senders(flows);
    NodeContainer receivers(flows);
    InternetStackHelper internet;
    internet.InstallAll();

    const std::string rate = std::to_string(static_cast<uint64_t>(rateMbit * 1e6)) + "bps";
    const Time leaf = MicroSeconds(static_cast<uint64_t>(leafMs * 1000));
    const Time trunkDelay = MicroSeconds(static_cast<uint64_t>(rttMs * 500)) - 2 * leaf;
    PointToPointHelper bottleneckLink;
    bottleneckLink.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneckLink.SetChannelAttribute("Delay", TimeValue(trunkDelay));
    bottleneckLink.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    PointToPointHelper accessLink;
    accessLink.SetDeviceAttribute("DataRate", StringValue(std::to_string(static_cast<uint64_t>(accessMbit * 1e6)) + "bps"));
    accessLink.SetChannelAttribute("Delay", TimeValue(leaf));

    // Queues that are not under test hold everything.
    TrafficControlHelper roomy;
    roomy.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000000p"));
    TrafficControlHelper tested = Discipline(aqm, limit, rate, trunkDelay);

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
        const Address to = InetSocketAddress(receiver, port);
        ApplicationContainer source;
        if (onOffRates.empty())
        {
            BulkSendHelper bulk("ns3::TcpSocketFactory", to);
            bulk.SetAttribute("SendSize", UintegerValue(segmentSize));
            source = bulk.Install(senders.Get(i));
        }
        else
        {
            const StringValue period("ns3::UniformRandomVariable[Min=0|Max=1]");
            OnOffHelper onOff("ns3::TcpSocketFactory", to);
            onOff.SetAttribute("DataRate", StringValue(onOffRates[i % onOffRates.size()] + "Mbps"));
            onOff.SetAttribute("PacketSize", UintegerValue(segmentSize));
            onOff.SetAttribute("OnTime", period);
            onOff.SetAttribute("OffTime", period);
            source = onOff.Install(senders.Get(i));
        }
        source.Start(Seconds(start->GetValue(0.0, 1.0)));
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
    RecordingRtt::Sums rtt;
    double flowMeans = 0;
    for (const auto& [node, flow] : RecordingRtt::flows)
    {
        rtt.samplesMs += flow.samplesMs;
        rtt.smoothedMs += flow.smoothedMs;
        rtt.count += flow.count;
        flowMeans += flow.samplesMs / static_cast<double>(flow.count);
    }
    const double samples = static_cast<double>(rtt.count);
    std::cout.precision(10);
    std::cout << "{\"parameters\": {\"aqm\": \"" << aqm << "\", \"limit\": \"" << limit << "p\", \"rate_mbit\": " << rateMbit
              << ", \"rtt_ms\": " << rttMs << ", \"access_mbit\": " << accessMbit << ", \"flows\": \"" << flows << " "
              << congestionControl << (onOffRates.empty() ? "" : " onoff " + onOffMbit) << "\", \"mss\": " << segmentSize
              << ", \"warmup_s\": " << warmupS << ", \"duration_s\": " << durationS
              << ", \"seed\": " << seed << "}, \"metrics\": {\"goodput_mbit\": " << total
              << ", \"qdelay_mean_ms\": " << bottleneck.sojournSeconds * 1e3 / static_cast<double>(bottleneck.departed)
              << ", \"queue_mean_packets\": " << bottleneck.packetSeconds / (durationS - warmupS)
              << ", \"loss_ratio\": " << static_cast<double>(bottleneck.dropped) / static_cast<double>(bottleneck.arrived)
              << ", \"jain_index\": " << total * total / (flows * squares)
              << ", \"rtt_mean_ms\": " << rtt.samplesMs / samples
              << ", \"rtt_smoothed_mean_ms\": " << rtt.smoothedMs / samples
              << ", \"rtt_flow_mean_ms\": " << flowMeans / static_cast<double>(RecordingRtt::flows.size())
              << ", \"rtt_samples\": " << samples << "}}\n";
    Simulator::Destroy();
    return 0;
}
