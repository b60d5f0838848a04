// Plays a trace through one queue disc of ns-3, without a device, and writes every decision.
//
// Standard input is that of aqm-core's example `trace_decisions`, but for its first lines, which name the queue disc
// and its attributes; standard output is the same, so that the two can be compared line by line:
//
//     disc ns3::PieQueueDisc MaxSize=100p UseEcn=true      attributes as ns-3 writes them; Quantum=N for FQ discs
//     default ns3::CoDelQueueDisc::MinBytes 1515           any number of these
//     random 1000 1 2 3                                    time, 64-bit numbers: the disc draws these from here on
//     arrive 1000 0 3 1514 2                               time, packet, flow, bytes, ECN field
//     serve 2000                                           the link asks for a packet
//     probe 3000
//
// The random numbers of a disc are replaced by the trace's: its member `m_uv` is private, but an explicit
// instantiation of a template may name private members, and so may the probes below.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

// Access to private members.

template <typename Tag, typename Tag::Pointer member>
struct Expose
{
    friend typename Tag::Pointer Member(Tag)
    {
        return member;
    }
};

#define EXPOSE(tag, type, disc, member)                                                                                \
    struct tag                                                                                                         \
    {                                                                                                                  \
        using Pointer = type disc::*;                                                                                  \
        friend Pointer Member(tag);                                                                                    \
    };                                                                                                                 \
    template struct Expose<tag, &disc::member>;

EXPOSE(RedDraws, Ptr<UniformRandomVariable>, RedQueueDisc, m_uv)
EXPOSE(RedAverage, double, RedQueueDisc, m_qAvg)
EXPOSE(RedMaxP, double, RedQueueDisc, m_curMaxP)
EXPOSE(PieDraws, Ptr<UniformRandomVariable>, PieQueueDisc, m_uv)
EXPOSE(PieProbability, double, PieQueueDisc, m_dropProb)
EXPOSE(PieDelay, Time, PieQueueDisc, m_qDelay)
EXPOSE(PieBurst, Time, PieQueueDisc, m_burstAllowance)
EXPOSE(CoDelCount, TracedValue<uint32_t>, CoDelQueueDisc, m_count)
EXPOSE(CoDelDropping, TracedValue<bool>, CoDelQueueDisc, m_dropping)
EXPOSE(CobaltDraws, Ptr<UniformRandomVariable>, CobaltQueueDisc, m_uv)
EXPOSE(CobaltCount, TracedValue<uint32_t>, CobaltQueueDisc, m_count)
EXPOSE(CobaltDropping, TracedValue<bool>, CobaltQueueDisc, m_dropping)
EXPOSE(CobaltProbability, double, CobaltQueueDisc, m_pDrop)

/// Random numbers from the trace, uniform in [0, 1) by their upper 53 bits.
class Script : public UniformRandomVariable
{
  public:
    std::vector<uint64_t> numbers{0};
    std::size_t used = 0;

    double GetValue() override
    {
        return static_cast<double>(numbers[used++ % numbers.size()] >> 11) / 9007199254740992.0;
    }
};

/// Classifies by the flow number of the trace, which is the packet's source address.
class FlowFilter : public PacketFilter
{
    bool CheckProtocol(Ptr<QueueDiscItem> item) const override
    {
        return DynamicCast<Ipv4QueueDiscItem>(item) != nullptr;
    }

    int32_t DoClassify(Ptr<QueueDiscItem> item) const override
    {
        return static_cast<int32_t>(DynamicCast<Ipv4QueueDiscItem>(item)->GetHeader().GetSource().Get());
    }
};

/// What aqm-core calls this reason. PIE's "Forced drop" is a full queue, RED's an average beyond the curve.
std::string
Reason(const std::string& disc, const std::string& text)
{
    const bool full = text.find("imit") != std::string::npos || text.find("internal queue") != std::string::npos;
    const bool pieIsFull = disc.find("Pie") != std::string::npos && text.find("Forced drop") != std::string::npos;
    return full || pieIsFull ? "overlimit" : "congestion";
}

/// A queue disc and the decisions that it makes.
class Host
{
  public:
    Ptr<QueueDisc> disc;
    Ptr<Script> script = CreateObject<Script>();

    explicit Host(const std::string& line)
    {
        std::istringstream words(line);
        std::string attribute;
        words >> m_type;
        ObjectFactory factory(m_type);
        uint32_t quantum = 0;
        while (words >> attribute)
        {
            const auto equals = attribute.find('=');
            const std::string name = attribute.substr(0, equals);
            const std::string value = attribute.substr(equals + 1);
            if (name == "Quantum")
            {
                quantum = std::stoul(value);
            }
            else
            {
                factory.Set(name, StringValue(value));
            }
        }
        disc = factory.Create<QueueDisc>();
        const bool flows = SetQuantum<FqCoDelQueueDisc>(quantum) || SetQuantum<FqPieQueueDisc>(quantum) ||
                           SetQuantum<FqCobaltQueueDisc>(quantum);
        if (flows)
        {
            disc->AddPacketFilter(CreateObject<FlowFilter>());
        }
        disc->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&Host::Dropped, this));
        disc->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Host::Dropped, this));
        disc->TraceConnectWithoutContext("Mark", MakeCallback(&Host::Marked, this));
        disc->Initialize();
        FeedAll();
    }

    void Arrive(uint64_t number, uint32_t flow, uint32_t length, uint8_t ecn)
    {
        // The types of service that `trace_decisions` gives to flows: DF, AF11, AF12, AF13.
        static const uint8_t dscp[] = {0, 10, 12, 14};
        Ipv4Header header;
        header.SetSource(Ipv4Address(flow));
        header.SetProtocol(253); // for experiments: RFC 3692
        header.SetTos(static_cast<uint8_t>(dscp[flow % 4] << 2 | ecn));
        Ptr<Packet> packet = Create<Packet>(length - header.GetSerializedSize());
        SocketPriorityTag priority;
        priority.SetPriority(Socket::IpTos2Priority(header.GetTos()));
        packet->AddPacketTag(priority);
        m_packets[packet->GetUid()] = {number, ecn == 3};
        m_arriving = packet->GetUid();
        m_waits = true;
        disc->Enqueue(Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, header));
        if (m_waits)
        {
            std::cout << "enqueued " << number << "\n";
        }
        FeedAll();
    }

    void Serve()
    {
        m_waits = false;
        if (Ptr<QueueDiscItem> item = disc->Dequeue())
        {
            std::cout << "departed " << m_packets[item->GetPacket()->GetUid()].number << "\n";
            m_packets.erase(item->GetPacket()->GetUid());
        }
        else
        {
            std::cout << "empty\n";
        }
    }

    void Draw(const std::vector<uint64_t>& numbers)
    {
        script->numbers = numbers;
        script->used = 0;
    }

    void Probe()
    {
        if (auto red = DynamicCast<RedQueueDisc>(disc))
        {
            Print("average_queue", *red.*Member(RedAverage()));
            Print("max_p", *red.*Member(RedMaxP()));
        }
        else if (auto pie = DynamicCast<PieQueueDisc>(disc))
        {
            Print("drop_probability", *pie.*Member(PieProbability()));
            Print("qdelay", (*pie.*Member(PieDelay())).GetSeconds());
            Print("burst_allowance", (*pie.*Member(PieBurst())).GetSeconds());
        }
        else if (auto codel = DynamicCast<CoDelQueueDisc>(disc))
        {
            Print("count", (*codel.*Member(CoDelCount())).Get());
            Print("dropping", (*codel.*Member(CoDelDropping())).Get());
        }
        else if (auto cobalt = DynamicCast<CobaltQueueDisc>(disc))
        {
            Print("count", (*cobalt.*Member(CobaltCount())).Get());
            Print("dropping", (*cobalt.*Member(CobaltDropping())).Get());
            Print("drop_probability", *cobalt.*Member(CobaltProbability()));
        }
    }

  private:
    struct Known
    {
        uint64_t number;
        bool marked;
    };

    std::string m_type;
    std::map<uint64_t, Known> m_packets;
    uint64_t m_arriving = 0;
    bool m_waits = false;

    template <typename Disc>
    bool SetQuantum(uint32_t quantum)
    {
        Ptr<Disc> fair = DynamicCast<Disc>(disc);
        if (fair)
        {
            fair->SetQuantum(quantum);
        }
        return fair != nullptr;
    }

    static void Print(const char* name, double value)
    {
        std::cout << "probe " << name << " " << value << "\n";
    }

    void Dropped(Ptr<const QueueDiscItem> item, const char* reason)
    {
        const uint64_t uid = item->GetPacket()->GetUid();
        m_waits = m_waits && uid != m_arriving;
        std::cout << "dropped " << m_packets[uid].number << " " << Reason(m_type, reason) << "\n";
        m_packets.erase(uid);
    }

    /// ns-3 also traces a mark on a packet that carried CE before.
    void Marked(Ptr<const QueueDiscItem> item, const char*)
    {
        Known& packet = m_packets[item->GetPacket()->GetUid()];
        if (!packet.marked)
        {
            packet.marked = true;
            std::cout << "marked " << packet.number << "\n";
        }
    }

    void Feed(Ptr<QueueDisc> one)
    {
        if (auto red = DynamicCast<RedQueueDisc>(one))
        {
            *red.*Member(RedDraws()) = script;
        }
        else if (auto pie = DynamicCast<PieQueueDisc>(one))
        {
            *pie.*Member(PieDraws()) = script;
        }
        else if (auto cobalt = DynamicCast<CobaltQueueDisc>(one))
        {
            *cobalt.*Member(CobaltDraws()) = script;
        }
    }

    /// Flow queues come into being with the first packet of their flow, which draws nothing.
    void FeedAll()
    {
        Feed(disc);
        for (std::size_t i = 0; i < disc->GetNQueueDiscClasses(); ++i)
        {
            Feed(disc->GetQueueDiscClass(i)->GetQueueDisc());
        }
    }
};

} // namespace

int
main()
{
    std::ios::sync_with_stdio(false);
    std::cout.precision(17);
    std::string line;
    std::string disc;
    std::getline(std::cin, disc);
    std::vector<std::string> steps;
    while (std::getline(std::cin, line))
    {
        std::istringstream words(line);
        std::string op;
        std::string name;
        std::string value;
        words >> op;
        if (op == "default")
        {
            words >> name >> value;
            Config::SetDefault(name, StringValue(value));
        }
        else
        {
            steps.push_back(line);
        }
    }
    Host host(disc.substr(std::string("disc ").size()));
    for (const std::string& step : steps)
    {
        std::istringstream words(step);
        std::string op;
        int64_t now = 0;
        words >> op >> now;
        const Time delay = NanoSeconds(now);
        if (op == "arrive")
        {
            uint64_t number = 0;
            uint32_t flow = 0;
            uint32_t length = 0;
            uint32_t ecn = 0;
            words >> number >> flow >> length >> ecn;
            Simulator::Schedule(delay, &Host::Arrive, &host, number, flow, length, static_cast<uint8_t>(ecn));
        }
        else if (op == "serve")
        {
            Simulator::Schedule(delay, &Host::Serve, &host);
        }
        else if (op == "random")
        {
            std::vector<uint64_t> numbers;
            for (uint64_t number = 0; words >> number;)
            {
                numbers.push_back(number);
            }
            Simulator::Schedule(delay, &Host::Draw, &host, numbers);
        }
        else if (op == "probe")
        {
            Simulator::Schedule(delay, &Host::Probe, &host);
        }
        else
        {
            std::cerr << "qdiscs: unknown line '" << step << "'\n";
            return 2;
        }
    }
    Simulator::Stop(NanoSeconds(steps.empty() ? 0 : std::stoll(steps.back().substr(steps.back().find(' ')))) +
                    NanoSeconds(1));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
