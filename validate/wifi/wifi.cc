// An access point with its stations in ns-3.44: the points of points.toml, and their metrics as one JSON object.
//
//     server -- line, rtt/2 -- access point ~~~ stations, all one metre apart on one channel
//
// Each station has one mode for both directions. What differs from ns-3's defaults is set here and listed in README.md.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/// A UDP packet of 1500 bytes less its headers.
constexpr uint32_t UDP_PAYLOAD = 1500 - 28;
constexpr uint32_t PING_PAYLOAD = 84 - 28;
constexpr uint32_t TCP_PAYLOAD = 1448;
/// Socket buffers: more than both queues hold. ns-3 walks through all that waits in them, so larger ones cost minutes.
constexpr uint32_t BUFFER = 4 << 20;

std::vector<std::string>
Split(const std::string& text, char by)
{
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, by);)
    {
        parts.push_back(part);
    }
    return parts;
}

/// A mode as aqmlab writes it: ofdm-54, ht-mcs15-400ns, vht-mcs8-80mhz.
struct Rate
{
    WifiMode mode;
    WifiStandard standard = WIFI_STANDARD_80211a;
    MHz_u width = 20;
    Time guard = NanoSeconds(800);
    uint8_t streams = 1;

    static Rate Read(const std::string& text)
    {
        Rate rate;
        std::string name;
        for (const auto& part : Split(text, '-'))
        {
            if (part == "ofdm")
            {
                name = "OfdmRate";
            }
            else if (part == "ht" || part == "vht")
            {
                name = part == "ht" ? "HtMcs" : "VhtMcs";
                rate.standard = part == "ht" ? WIFI_STANDARD_80211n : WIFI_STANDARD_80211ac;
            }
            else if (part.rfind("mcs", 0) == 0)
            {
                name += part.substr(3);
                if (rate.standard == WIFI_STANDARD_80211n)
                {
                    rate.streams = static_cast<uint8_t>(std::stoi(part.substr(3)) / 8 + 1);
                }
            }
            else if (part.size() > 3 && part.substr(part.size() - 3) == "mhz")
            {
                rate.width = std::stoi(part);
            }
            else if (part.size() > 2 && part.substr(part.size() - 2) == "ns")
            {
                rate.guard = NanoSeconds(std::stoi(part));
            }
            else
            {
                name += part + "Mbps";
            }
        }
        rate.mode = WifiMode(name);
        return rate;
    }
};

/// Sends to each receiver at that receiver's rate, in both directions.
class FixedRates : public WifiRemoteStationManager
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("FixedRates").SetParent<WifiRemoteStationManager>().AddConstructor<FixedRates>();
        return id;
    }

    /// Of whom a rate is known: the stations for the access point; the rest send at their own.
    static inline std::map<Mac48Address, Rate> byAddress;
    Rate own;

  private:
    WifiRemoteStation* DoCreateStation() const override
    {
        return new WifiRemoteStation();
    }

    void DoReportRxOk(WifiRemoteStation*, double, WifiMode) override
    {
    }

    void DoReportRtsFailed(WifiRemoteStation*) override
    {
    }

    void DoReportDataFailed(WifiRemoteStation*) override
    {
    }

    void DoReportRtsOk(WifiRemoteStation*, double, WifiMode, double) override
    {
    }

    void DoReportDataOk(WifiRemoteStation*, double, WifiMode, double, MHz_u, uint8_t) override
    {
    }

    void DoReportFinalRtsFailed(WifiRemoteStation*) override
    {
    }

    void DoReportFinalDataFailed(WifiRemoteStation*) override
    {
    }

    WifiTxVector DoGetDataTxVector(WifiRemoteStation* station, MHz_u) override
    {
        const auto known = byAddress.find(station->m_state->m_address);
        const Rate& rate = known == byAddress.end() ? own : known->second;
        const auto preamble = GetPreambleForTransmission(rate.mode.GetModulationClass(), false);
        const uint8_t antennas = std::max<uint8_t>(rate.streams, 1);
        return WifiTxVector(rate.mode, GetDefaultTxPowerLevel(), preamble, rate.guard, antennas, rate.streams, 0, rate.width, GetAggregation(station));
    }

    WifiTxVector DoGetRtsTxVector(WifiRemoteStation*) override
    {
        const WifiMode mode("OfdmRate24Mbps");
        return WifiTxVector(mode, GetDefaultTxPowerLevel(), WIFI_PREAMBLE_LONG, NanoSeconds(800), 1, 1, 0, 20, false);
    }
};

NS_OBJECT_ENSURE_REGISTERED(FixedRates);

/// Packets of 1500 bytes at exponential intervals.
class Poisson : public Application
{
  public:
    Address to;
    double packetsPerSecond = 0;
    uint8_t tos = 0;

  private:
    void StartApplication() override
    {
        m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
        m_socket->Bind();
        m_socket->SetIpTos(tos);
        m_socket->Connect(to);
        m_interval->SetAttribute("Mean", DoubleValue(1 / packetsPerSecond));
        Send();
    }

    void Send()
    {
        m_socket->Send(Create<Packet>(UDP_PAYLOAD));
        Simulator::Schedule(Seconds(m_interval->GetValue()), &Poisson::Send, this);
    }

    Ptr<Socket> m_socket;
    Ptr<ExponentialRandomVariable> m_interval = CreateObject<ExponentialRandomVariable>();
};

/// What was sent on the air after the warm-up: PPDUs that contended (data and block ACK requests), and which overlapped.
struct Air
{
    struct Sent
    {
        /// To whom or from whom, if it is a station's.
        std::optional<uint32_t> station;
        Time end;
        bool collided;
        bool counts;
    };

    struct Sums
    {
        double ppdus = 0;
        double mpdus = 0;
        double seconds = 0;
    };

    struct Collisions
    {
        double contended = 0;
        double collided = 0;
    };

    Time warmup;
    /// MAC addresses of stations, by number.
    std::map<Mac48Address, uint32_t> stations;
    std::vector<Sent> now;
    /// PPDUs to a station and from it.
    std::map<uint32_t, Collisions> collisions;
    /// Data, by station.
    std::map<uint32_t, Sums> down;
    std::map<uint32_t, Sums> up;

    void Begin(WifiPhyBand band, WifiConstPsduMap psdus, WifiTxVector vector, double)
    {
        const auto psdu = psdus.begin()->second;
        const auto& header = psdu->GetHeader(0);
        if (!header.IsData() && !header.IsBlockAckReq())
        {
            return;
        }
        const Time length = WifiPhy::CalculateTxDuration(psdus, vector, band);
        std::erase_if(now, [this](const Sent& sent) {
            if (sent.end > Simulator::Now())
            {
                return false;
            }
            if (sent.counts && sent.station)
            {
                collisions[*sent.station].contended += 1;
                collisions[*sent.station].collided += sent.collided;
            }
            return true;
        });
        const auto to = stations.find(psdu->GetAddr1());
        const auto from = stations.find(psdu->GetAddr2());
        const auto station = to != stations.end() ? to : from;
        const bool counts = Simulator::Now() >= warmup;
        const auto number = station == stations.end() ? std::nullopt : std::optional(station->second);
        now.push_back({number, Simulator::Now() + length, !now.empty(), counts});
        if (now.size() > 1)
        {
            for (auto& sent : now)
            {
                sent.collided = true;
            }
        }
        if (counts && header.IsData() && number)
        {
            Sums& sums = to != stations.end() ? down[*number] : up[*number];
            sums.ppdus += 1;
            sums.mpdus += static_cast<double>(psdu->GetNMpdus());
            sums.seconds += length.GetSeconds();
        }
    }
};

/// Sends a packet of 84 bytes ten times a second to an echo server, and times the answers. (ns-3's own Ping does not run
/// with the wheel: it throws length_error.)
class Pinger : public Application
{
  public:
    Address to;
    Time warmup;
    /// Answers to later ones may come after the end.
    Time until;
    uint8_t tos = 0;
    std::vector<double> ms;
    double sent = 0;

  private:
    void StartApplication() override
    {
        m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
        m_socket->Bind();
        m_socket->SetIpTos(tos);
        m_socket->Connect(to);
        m_socket->SetRecvCallback(MakeCallback(&Pinger::Answered, this));
        Send();
    }

    bool Counts(Time time) const
    {
        return time >= warmup && time < until;
    }

    void Send()
    {
        sent += Counts(Simulator::Now());
        auto packet = Create<Packet>(PING_PAYLOAD);
        m_sent[packet->GetUid()] = Simulator::Now();
        m_socket->Send(packet);
        Simulator::Schedule(MilliSeconds(100), &Pinger::Send, this);
    }

    void Answered(Ptr<Socket> socket)
    {
        while (const auto packet = socket->Recv())
        {
            // UdpEchoServer sends the same packet back.
            const auto sent = m_sent.find(packet->GetUid());
            if (sent != m_sent.end() && Counts(sent->second))
            {
                ms.push_back((Simulator::Now() - sent->second).GetSeconds() * 1e3);
            }
        }
    }

    Ptr<Socket> m_socket;
    std::map<uint64_t, Time> m_sent;
};

/// TCP as validate/ns3/dumbbell.cc sets it.
void
ConfigureTcp(const std::string& congestionControl, bool sack)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(congestionControl == "cubic" ? "ns3::TcpCubic" : "ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(TCP_PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("Off"));
}

/// The type of service of a demand's flows.
uint8_t
TosOf(const std::string& demand)
{
    return static_cast<uint8_t>(std::stoul(Split(Split(demand, ':')[0], '/')[1]));
}

/// ns-3's access category of a type of service, by the upper three bits (WifiNetDevice): its name in the results.
std::string
CategoryOf(uint8_t tos)
{
    const std::vector<std::string> names{"be", "bk", "bk", "be", "vi", "vi", "vo", "vo"};
    return names[tos >> 5];
}

double
Median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const size_t n = values.size();
    return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double
Mean(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
    {
        sum += value;
    }
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string modes = "ofdm-54";
    std::string flows = "udp:down:60:0";
    std::string queue = "fifo";
    double lineMbit = 1000;
    double rttMs = 10;
    uint32_t fifoPackets = 1000;
    uint32_t macPackets = 500;
    double warmupS = 3;
    double durationS = 13;
    bool ping = false;
    uint32_t pingTos = 0;
    bool sack = true;
    bool agreed = false;
    uint32_t seed = 1;
    CommandLine command(__FILE__);
    command.AddValue("modes", "of each station: ofdm-54,ht-mcs15-400ns", modes);
    command.AddValue("flows", "separated by commas: udp/TOS:down:MBIT:STATION..., newreno/TOS:up:STATION...", flows);
    command.AddValue("queue", "above the access point's MAC queue: fifo or fq_codel", queue);
    command.AddValue("line", "between server and access point, Mbit/s", lineMbit);
    command.AddValue("rtt", "of the line, ms", rttMs);
    command.AddValue("fifo", "packets of a FIFO above a MAC queue", fifoPackets);
    command.AddValue("mac", "packets of a MAC queue", macPackets);
    command.AddValue("warmup", "seconds", warmupS);
    command.AddValue("duration", "seconds", durationS);
    command.AddValue("ping", "ping each station", ping);
    command.AddValue("pingtos", "type of service of pings and answers", pingTos);
    command.AddValue("sack", "TCP has SACK", sack);
    command.AddValue("agreed", "block ACKs are agreed on before the flows begin", agreed);
    command.AddValue("seed", "run number of ns-3's generator", seed);
    command.Parse(argc, argv);
    const auto demands = Split(flows, ',');
    const bool hasCategories = std::any_of(demands.begin(), demands.end(), [](const std::string& demand) { return TosOf(demand) != 0; });
    ConfigureTcp(flows.find("cubic") == std::string::npos ? "newreno" : "cubic", sack);
    RngSeedManager::SetRun(seed);

    std::vector<Rate> rates;
    for (const auto& mode : Split(modes, ','))
    {
        rates.push_back(Rate::Read(mode));
    }
    const auto stationCount = static_cast<uint32_t>(rates.size());
    const MHz_u width = rates[0].width;
    const auto streams = std::max_element(rates.begin(), rates.end(), [](const Rate& a, const Rate& b) { return a.streams < b.streams; })->streams;

    NodeContainer server(1);
    NodeContainer accessPoint(1);
    NodeContainer stations(stationCount);
    NodeContainer wireless(accessPoint, stations);
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    // A circle around the access point.
    auto positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < stationCount; ++i)
    {
        positions->Add(Vector(std::cos(i), std::sin(i), 0));
    }
    mobility.SetPositionAllocator(positions);
    mobility.Install(wireless);

    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(lineMbit * 1e6))));
    wire.SetChannelAttribute("Delay", TimeValue(Seconds(rttMs / 2e3)));
    NetDeviceContainer wired = wire.Install(server.Get(0), accessPoint.Get(0));

    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue(width == 80 ? "{42, 80, BAND_5GHZ, 0}" : "{36, 20, BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(streams));
    const std::string packets = std::to_string(macPackets) + "p";
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(packets)));
    WifiHelper wifi;
    wifi.SetStandard(rates[0].standard);
    wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(true));
    wifi.SetRemoteStationManager("FixedRates");
    WifiMacHelper mac;
    const Ssid ssid("points");
    const auto octets = rates[0].standard == WIFI_STANDARD_80211ac ? 1048575U : 65535U;
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(octets), "BK_MaxAmpduSize", UintegerValue(octets), "VI_MaxAmpduSize", UintegerValue(octets));
    NetDeviceContainer accessPointDevice = wifi.Install(phy, mac, accessPoint);
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(octets), "BK_MaxAmpduSize", UintegerValue(octets), "VI_MaxAmpduSize", UintegerValue(octets));
    NetDeviceContainer stationDevices = wifi.Install(phy, mac, stations);

    Air air;
    air.warmup = Seconds(warmupS);
    for (uint32_t i = 0; i <= stationCount; ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(i == 0 ? accessPointDevice.Get(0) : stationDevices.Get(i - 1));
        auto manager = DynamicCast<FixedRates>(device->GetRemoteStationManager());
        manager->own = rates[i == 0 ? 0 : i - 1];
        if (i > 0)
        {
            FixedRates::byAddress[device->GetMac()->GetAddress()] = rates[i - 1];
            air.stations[device->GetMac()->GetAddress()] = i - 1;
        }
        const auto band = device->GetPhy()->GetPhyBand();
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Air::Begin, &air).Bind(band));
    }

    InternetStackHelper internet;
    internet.Install(server);
    internet.Install(wireless);
    const StringValue fifo(std::to_string(fifoPackets) + "p");
    TrafficControlHelper plain;
    if (hasCategories)
    {
        // One for each access category, as a device with QoS has four queues.
        const auto root = plain.SetRootQueueDisc("ns3::MqQueueDisc");
        const auto classes = plain.AddQueueDiscClasses(root, 4, "ns3::QueueDiscClass");
        plain.AddChildQueueDiscs(root, classes, "ns3::FifoQueueDisc", "MaxSize", fifo);
    }
    else
    {
        plain.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", fifo);
    }
    TrafficControlHelper fair;
    fair.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "UseEcn", BooleanValue(false));
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(1501));
    TrafficControlHelper roomy;
    roomy.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000000p"));
    auto installed = (queue == "fq_codel" ? fair : plain).Install(accessPointDevice);
    if (auto disc = DynamicCast<FqCoDelQueueDisc>(installed.Get(0)))
    {
        disc->SetQuantum(1500);
    }
    plain.Install(stationDevices);
    roomy.Install(wired);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4Address serverAddress = addresses.Assign(wired).GetAddress(0);
    addresses.NewNetwork();
    addresses.Assign(accessPointDevice);
    Ipv4InterfaceContainer stationAddresses = addresses.Assign(stationDevices);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    NeighborCacheHelper neighbors;
    neighbors.PopulateNeighborCache();

    // By station, what it received or, of flows up, what the server received from it.
    std::vector<std::vector<Ptr<PacketSink>>> sinks(stationCount);
    std::map<std::string, std::vector<Ptr<PacketSink>>> byCategory;
    auto start = CreateObject<UniformRandomVariable>();
    uint16_t port = 5000;
    for (const auto& demand : demands)
    {
        const auto words = Split(demand, ':');
        const bool udp = words[0].rfind("udp", 0) == 0;
        const uint8_t tos = TosOf(demand);
        const bool down = words[1] == "down";
        for (size_t i = udp ? 3 : 2; i < words.size(); ++i)
        {
            const auto station = static_cast<uint32_t>(std::stoul(words[i]));
            const auto from = down ? server.Get(0) : stations.Get(station);
            const auto to = down ? stations.Get(station) : server.Get(0);
            const InetSocketAddress address(down ? stationAddresses.GetAddress(station) : serverAddress, ++port);
            const std::string factory = udp ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
            PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
            sinks[station].push_back(DynamicCast<PacketSink>(sink.Install(to).Get(0)));
            byCategory[CategoryOf(tos)].push_back(sinks[station].back());
            ApplicationContainer source;
            if (udp)
            {
                auto poisson = CreateObject<Poisson>();
                poisson->to = address;
                poisson->tos = tos;
                poisson->packetsPerSecond = std::stod(words[2]) * 1e6 / 12000;
                from->AddApplication(poisson);
                source.Add(poisson);
            }
            else
            {
                BulkSendHelper bulk(factory, address);
                bulk.SetAttribute("SendSize", UintegerValue(TCP_PAYLOAD));
                bulk.SetAttribute("Tos", UintegerValue(tos));
                source = bulk.Install(from);
            }
            source.Start(Seconds(start->GetValue(0.5, 1.5)));
        }
    }
    std::vector<Ptr<Pinger>> pings;
    for (uint32_t i = 0; ping && i < stationCount; ++i)
    {
        UdpEchoServerHelper echo(7);
        echo.SetAttribute("Tos", UintegerValue(pingTos));
        echo.Install(stations.Get(i));
        auto pinger = CreateObject<Pinger>();
        pinger->to = InetSocketAddress(stationAddresses.GetAddress(i), 7);
        pinger->tos = static_cast<uint8_t>(pingTos);
        pinger->warmup = Seconds(warmupS);
        pinger->until = Seconds(durationS - 2);
        server.Get(0)->AddApplication(pinger);
        pinger->SetStartTime(Seconds(start->GetValue(0.5, 0.6)));
        pings.push_back(pinger);
    }

    // ns-3 drops the packet that makes it ask for block ACKs: with a SYN a flow begins three seconds later.
    for (uint32_t i = 0; agreed && i < stationCount; ++i)
    {
        const std::pair<Ptr<Node>, Ipv4Address> ways[] = {{accessPoint.Get(0), stationAddresses.GetAddress(i)}, {stations.Get(i), serverAddress}};
        for (const auto& [from, to] : ways)
        {
            auto socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
            socket->Connect(InetSocketAddress(to, 9));
            // With one alone in the queue it does not ask.
            for (int packet = 0; packet < 4; ++packet)
            {
                Simulator::Schedule(MilliSeconds(300 + 10 * i), [socket] { socket->Send(Create<Packet>(100)); });
            }
        }
    }

    std::vector<double> before(stationCount);
    std::map<std::string, double> categoryBefore;
    const auto received = [](const std::vector<Ptr<PacketSink>>& own) {
        double bytes = 0;
        for (const auto& sink : own)
        {
            bytes += static_cast<double>(sink->GetTotalRx());
        }
        return bytes;
    };
    Simulator::Schedule(Seconds(warmupS), [&] {
        for (uint32_t i = 0; i < stationCount; ++i)
        {
            before[i] = received(sinks[i]);
        }
        for (const auto& [name, own] : byCategory)
        {
            categoryBefore[name] = received(own);
        }
    });
    Simulator::Stop(Seconds(durationS));
    Simulator::Run();

    double total = 0;
    double airtime = 0;
    for (const auto* direction : {&air.down, &air.up})
    {
        for (const auto& [station, sums] : *direction)
        {
            airtime += sums.seconds;
        }
    }
    std::cout.precision(8);
    std::cout << "{";
    for (uint32_t i = 0; i < stationCount; ++i)
    {
        const double mbit = (received(sinks[i]) - before[i]) * 8e-6 / (durationS - warmupS);
        total += mbit;
        std::cout << "\"mbit.sta" << i << "\": " << mbit << ", ";
        for (auto* direction : {&air.down, &air.up})
        {
            const Air::Sums& sums = (*direction)[i];
            if (sums.ppdus > 0)
            {
                std::cout << "\"aggregate_" << (direction == &air.down ? "down" : "up") << ".sta" << i
                          << "\": " << sums.mpdus / sums.ppdus << ", ";
            }
        }
        std::cout << "\"ppdu_share.sta" << i << "\": " << (air.down[i].seconds + air.up[i].seconds) / airtime
                  << ", \"collision.sta" << i << "\": " << air.collisions[i].collided / air.collisions[i].contended << ", ";
        if (ping)
        {
            std::cout << "\"ping_ms.sta" << i << "\": " << Median(pings[i]->ms) << ", \"ping_mean_ms.sta" << i << "\": " << Mean(pings[i]->ms) << ", \"answered.sta" << i
                      << "\": " << static_cast<double>(pings[i]->ms.size()) / pings[i]->sent << ", ";
        }
    }
    for (const auto& [name, own] : byCategory)
    {
        std::cout << "\"category_mbit." << name << "\": " << (received(own) - categoryBefore[name]) * 8e-6 / (durationS - warmupS) << ", ";
    }
    std::cout << "\"total_mbit\": " << total << "}\n";
    Simulator::Destroy();
    return 0;
}
