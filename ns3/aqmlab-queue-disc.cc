#include "aqmlab-queue-disc.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv6-queue-disc-item.h"
#include "ns3/log.h"
#include "ns3/queue.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <unordered_map>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("AqmlabQueueDisc");
NS_OBJECT_ENSURE_REGISTERED(AqmlabQueueDisc);

namespace
{

constexpr uint8_t TCP = 6;
constexpr uint8_t CE = 3;

/// Ends the program with aqmlab's message if a call has failed.
aqmlab_status
Succeed(aqmlab_status status)
{
    NS_ABORT_MSG_IF(status < 0, "AqmlabQueueDisc: " << aqmlab_message());
    return status;
}

uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

/// A hash of an address.
uint32_t
AddressHash(Ipv4Address address)
{
    std::array<uint8_t, 4> bytes;
    address.Serialize(bytes.data());
    return static_cast<uint32_t>(aqmlab_hash(bytes.data(), bytes.size()));
}

uint32_t
AddressHash(Ipv6Address address)
{
    std::array<uint8_t, 16> bytes;
    address.Serialize(bytes.data());
    return static_cast<uint32_t>(aqmlab_hash(bytes.data(), bytes.size()));
}

/// Reads a TCP header; false if there is none.
bool
ReadTcp(Ptr<const Packet> packet, aqmlab_tcp& tcp)
{
    TcpHeader header;
    if (packet->PeekHeader(header) == 0)
    {
        return false;
    }
    tcp.seq = header.GetSequenceNumber().GetValue();
    tcp.ack = header.GetAckNumber().GetValue();
    tcp.payload = static_cast<uint16_t>(packet->GetSize() - header.GetSerializedSize());
    tcp.flags = header.GetFlags();
    tcp.has_sack = header.HasOption(TcpOption::SACK);
    return true;
}

} // namespace

/// The packets that wait, by their cookies: an internal queue of ns-3's, so that its counts and traces are as ever.
class AqmlabQueueDisc::Store : public Queue<QueueDiscItem>
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::AqmlabQueueDisc::Store")
                               .SetParent<Queue<QueueDiscItem>>()
                               .SetGroupName("TrafficControl");
        return id;
    }

    Store()
    {
        // The limit is the discipline's.
        SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, std::numeric_limits<uint32_t>::max()));
    }

    void Keep(uint64_t cookie, Ptr<QueueDiscItem> item)
    {
        Iterator at;
        NS_ABORT_MSG_UNLESS(DoEnqueue(GetContainer().end(), item, at),
                            "AqmlabQueueDisc: the limit is the discipline's: set no other");
        m_places[cookie] = at;
    }

    Ptr<QueueDiscItem> Find(uint64_t cookie) const
    {
        return *m_places.at(cookie);
    }

    Ptr<QueueDiscItem> Take(uint64_t cookie)
    {
        const auto place = m_places.find(cookie);
        Ptr<QueueDiscItem> item = DoDequeue(place->second);
        m_places.erase(place);
        return item;
    }

    // What ns-3 asks of every queue; there is no order here.
    bool Enqueue(Ptr<QueueDiscItem>) override
    {
        NS_ABORT_MSG(BY_COOKIE);
        return false;
    }

    Ptr<QueueDiscItem> Dequeue() override
    {
        NS_ABORT_MSG(BY_COOKIE);
        return nullptr;
    }

    Ptr<QueueDiscItem> Remove() override
    {
        NS_ABORT_MSG(BY_COOKIE);
        return nullptr;
    }

    Ptr<const QueueDiscItem> Peek() const override
    {
        NS_ABORT_MSG(BY_COOKIE);
        return nullptr;
    }

  private:
    static constexpr const char* BY_COOKIE = "AqmlabQueueDisc: packets are taken by their cookies";

    std::unordered_map<uint64_t, ConstIterator> m_places;
};

/// Writes every call and decision in rows of 56 bytes, those of live links (crates/aqm-link/src/log.rs): `replay.py`
/// makes the calls again.
class AqmlabQueueDisc::Log
{
  public:
    explicit Log(const std::string& name)
        : m_name(name)
    {
        NS_ABORT_MSG_UNLESS(Open().insert(name).second,
                            "AqmlabQueueDisc: " << name << " is the log of another disc: give each its own");
        m_file.open(name, std::ios::binary);
        NS_ABORT_MSG_UNLESS(m_file, "AqmlabQueueDisc: " << name << " cannot be written");
    }

    ~Log()
    {
        Open().erase(m_name);
    }

    void Arrived(const aqmlab_packet& packet, uint64_t now)
    {
        Row row = Begin(0, packet.cookie, now);
        Put(row, 8, packet.flow, 8);
        Put(row, 20, packet.length, 4);
        Put(row, 24, packet.source, 4);
        Put(row, 28, packet.destination, 4);
        Put(row, 42, packet.traffic_class, 2);
        Put(row, 46, packet.dscp, 1);
        Put(row, 47, packet.ecn, 1);
        Put(row, 48, packet.protocol, 1);
        if (packet.tcp)
        {
            Put(row, 32, packet.tcp->seq, 4);
            Put(row, 36, packet.tcp->ack, 4);
            Put(row, 40, packet.tcp->payload, 2);
            Put(row, 49, packet.tcp->flags, 1);
            Put(row, 50, packet.tcp->has_sack ? 3 : 1, 1);
        }
        Write(row);
    }

    void Left(uint64_t cookie, uint64_t now)
    {
        Write(Begin(1, cookie, now));
    }

    void NothingLeft(uint64_t now)
    {
        Write(Begin(2, 0, now));
    }

    void Woken(uint64_t now)
    {
        Write(Begin(3, 0, now));
    }

    void Decided(const aqmlab_event& event, uint64_t now)
    {
        Row row = Begin(event.kind == AQMLAB_DROPPED ? 4 : 5, event.cookie, now);
        Put(row, 45, event.reason, 1);
        Write(row);
    }

  private:
    using Row = std::array<uint8_t, 56>;

    static Row Begin(uint8_t kind, uint64_t cookie, uint64_t now)
    {
        Row row{};
        Put(row, 0, now, 8);
        Put(row, 16, cookie, 4);
        Put(row, 44, kind, 1);
        return row;
    }

    /// Little-endian.
    static void Put(Row& row, std::size_t at, uint64_t value, std::size_t bytes)
    {
        for (std::size_t i = 0; i < bytes; ++i)
        {
            row[at + i] = static_cast<uint8_t>(value >> (8 * i));
        }
    }

    /// The names of all logs that are being written.
    static std::set<std::string>& Open()
    {
        static std::set<std::string> names;
        return names;
    }

    void Write(const Row& row)
    {
        m_file.write(reinterpret_cast<const char*>(row.data()), row.size());
    }

    std::string m_name;
    std::ofstream m_file;
};

TypeId
AqmlabQueueDisc::GetTypeId()
{
    static TypeId id =
        TypeId("ns3::AqmlabQueueDisc")
            .SetParent<QueueDisc>()
            .SetGroupName("TrafficControl")
            .AddConstructor<AqmlabQueueDisc>()
            .AddAttribute("Discipline",
                          "The discipline with its parameters, as after aqmlab's --aqm",
                          StringValue("fifo"),
                          MakeStringAccessor(&AqmlabQueueDisc::m_discipline),
                          MakeStringChecker())
            .AddAttribute("Rate",
                          "The link's rate, which disciplines may know; it has to be given",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&AqmlabQueueDisc::m_rate),
                          MakeDataRateChecker())
            .AddAttribute("Overhead",
                          "Bytes that the link adds to every IP packet: 2 for ns-3's point-to-point device",
                          UintegerValue(0),
                          MakeUintegerAccessor(&AqmlabQueueDisc::m_overhead),
                          MakeUintegerChecker<uint32_t>(0, 1000))
            .AddAttribute("Seed",
                          "All random numbers of the discipline follow from it, and not from ns-3's",
                          UintegerValue(1),
                          MakeUintegerAccessor(&AqmlabQueueDisc::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("TcpHeaders",
                          "Whether the discipline sees TCP headers: ACK filters read them",
                          BooleanValue(true),
                          MakeBooleanAccessor(&AqmlabQueueDisc::m_tcpHeaders),
                          MakeBooleanChecker())
            .AddAttribute("Log",
                          "File for every call and decision, which replay.py repeats; none if empty",
                          StringValue(""),
                          MakeStringAccessor(&AqmlabQueueDisc::m_logName),
                          MakeStringChecker());
    return id;
}

AqmlabQueueDisc::AqmlabQueueDisc()
    : QueueDisc(QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE)
{
}

AqmlabQueueDisc::~AqmlabQueueDisc()
{
    aqmlab_free(m_queue);
}

bool
AqmlabQueueDisc::CheckConfig()
{
    NS_ABORT_MSG_IF(GetNInternalQueues() > 0 || GetNQueueDiscClasses() > 0,
                    "AqmlabQueueDisc: queues and classes are the discipline's, as in \"drr child [pie] child [codel]\"");
    NS_ABORT_MSG_IF(m_rate.GetBitRate() == 0, "AqmlabQueueDisc: set Rate to the link's");
    const std::string rate = std::to_string(m_rate.GetBitRate()) + "bit";
    Succeed(aqmlab_new(m_discipline.c_str(), rate.c_str(), m_overhead, m_seed, &m_queue));
    m_store = CreateObject<Store>();
    AddInternalQueue(m_store);
    if (!m_logName.empty())
    {
        m_log = std::make_unique<Log>(m_logName);
    }
    return true;
}

void
AqmlabQueueDisc::InitializeParams()
{
    ScheduleWake();
}

void
AqmlabQueueDisc::DoDispose()
{
    m_wake.Cancel();
    m_store = nullptr;
    m_log.reset();
    QueueDisc::DoDispose();
}

bool
AqmlabQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    CatchUp();
    aqmlab_tcp tcp;
    const aqmlab_packet packet = Seen(item, tcp);
    if (m_log)
    {
        m_log->Arrived(packet, NowNs());
    }
    Succeed(aqmlab_enqueue(m_queue, &packet, NowNs()));
    const bool kept = Tell(item, NowNs());
    if (kept)
    {
        m_store->Keep(packet.cookie, item);
    }
    ++m_arrived;
    ScheduleWake();
    return kept;
}

Ptr<QueueDiscItem>
AqmlabQueueDisc::DoDequeue()
{
    CatchUp();
    aqmlab_departure departure;
    const aqmlab_status status = Succeed(aqmlab_dequeue(m_queue, NowNs(), &departure));
    Tell(nullptr, NowNs());
    ScheduleWake();
    if (m_log)
    {
        status == AQMLAB_OK ? m_log->Left(departure.cookie, NowNs()) : m_log->NothingLeft(NowNs());
    }
    return status == AQMLAB_OK ? m_store->Take(departure.cookie) : nullptr;
}

aqmlab_packet
AqmlabQueueDisc::Seen(Ptr<QueueDiscItem> item, aqmlab_tcp& tcp)
{
    aqmlab_packet packet{};
    packet.cookie = m_arrived;
    packet.length = item->GetSize() + m_overhead;
    const uint32_t flow = item->Hash();
    packet.flow = aqmlab_hash(&flow, sizeof flow);
    uint8_t tos = 0;
    bool isFirst = true;
    if (auto ipv4 = DynamicCast<Ipv4QueueDiscItem>(item))
    {
        const Ipv4Header& header = ipv4->GetHeader();
        tos = header.GetTos();
        packet.protocol = header.GetProtocol();
        // Later fragments have no header of TCP; those of IPv6 have another protocol.
        isFirst = header.GetFragmentOffset() == 0;
        packet.source = AddressHash(header.GetSource());
        packet.destination = AddressHash(header.GetDestination());
    }
    else if (auto ipv6 = DynamicCast<Ipv6QueueDiscItem>(item))
    {
        const Ipv6Header& header = ipv6->GetHeader();
        tos = header.GetTrafficClass();
        packet.protocol = header.GetNextHeader();
        packet.source = AddressHash(header.GetSource());
        packet.destination = AddressHash(header.GetDestination());
    }
    packet.dscp = tos >> 2;
    packet.ecn = tos & CE;
    SocketPriorityTag priority;
    if (GetNPacketFilters() > 0)
    {
        packet.traffic_class = static_cast<uint16_t>(std::max(Classify(item), 0));
    }
    else if (item->GetPacket()->PeekPacketTag(priority))
    {
        packet.traffic_class = priority.GetPriority();
    }
    if (m_tcpHeaders && isFirst && packet.protocol == TCP && ReadTcp(item->GetPacket(), tcp))
    {
        packet.tcp = &tcp;
    }
    return packet;
}

bool
AqmlabQueueDisc::Tell(Ptr<QueueDiscItem> arriving, uint64_t time)
{
    bool kept = true;
    aqmlab_event event;
    while (Succeed(aqmlab_next_event(m_queue, &event)) == AQMLAB_OK)
    {
        if (m_log)
        {
            m_log->Decided(event, time);
        }
        const char* reason = aqmlab_reason(&event);
        const bool arrives = arriving && event.cookie == m_arrived;
        if (event.kind == AQMLAB_MARKED)
        {
            const bool marked = Mark(arrives ? arriving : m_store->Find(event.cookie), reason);
            NS_ABORT_MSG_UNLESS(marked, "AqmlabQueueDisc: a packet was marked that cannot be");
        }
        else if (arrives)
        {
            kept = false;
            DropBeforeEnqueue(arriving, reason);
        }
        else
        {
            DropAfterDequeue(m_store->Take(event.cookie), reason);
        }
    }
    return kept;
}

void
AqmlabQueueDisc::CatchUp()
{
    while (m_due <= NowNs())
    {
        const uint64_t due = m_due;
        Succeed(aqmlab_wake(m_queue, due));
        Tell(nullptr, due);
        if (m_log)
        {
            m_log->Woken(due);
        }
        AskWhen();
    }
}

void
AqmlabQueueDisc::Wake()
{
    m_scheduled = NEVER;
    CatchUp();
    ScheduleWake();
    // A discipline with a rate of its own may have had nothing to send before.
    if (GetSendCallback() && GetNPackets() > 0)
    {
        Run();
    }
}

void
AqmlabQueueDisc::AskWhen()
{
    if (Succeed(aqmlab_next_wakeup(m_queue, &m_due)) == AQMLAB_NONE)
    {
        m_due = NEVER;
    }
}

void
AqmlabQueueDisc::ScheduleWake()
{
    AskWhen();
    if (m_scheduled == m_due)
    {
        return;
    }
    m_wake.Cancel();
    m_scheduled = m_due;
    if (m_due != NEVER)
    {
        m_wake = Simulator::Schedule(NanoSeconds(m_due) - Simulator::Now(), &AqmlabQueueDisc::Wake, this);
    }
}

} // namespace ns3
