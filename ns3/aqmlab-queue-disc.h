/// Every discipline of aqmlab as a queue disc of ns-3.

#ifndef AQMLAB_QUEUE_DISC_H
#define AQMLAB_QUEUE_DISC_H

#include "aqmlab.h"

#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/queue-disc.h"

#include <limits>
#include <memory>
#include <string>

namespace ns3
{

/// A queue disc whose decisions are those of the discipline that its attribute `Discipline` names, in the words of
/// aqmlab's command line ("pie target 15ms limit 100p ecn"):
///
///     TrafficControlHelper helper;
///     helper.SetRootQueueDisc("ns3::AqmlabQueueDisc", "Discipline", StringValue("cake"), "Rate", StringValue("50Mbps"));
///
/// A text that aqmlab does not know ends the program when the simulation begins, with aqmlab's message. The flow of a
/// packet is its 5-tuple, its class what the packet filters say or, without any, its socket's priority. The limit is the
/// discipline's: ns-3's `GetMaxSize` is the largest number of packets that ns-3 has.
class AqmlabQueueDisc : public QueueDisc
{
  public:
    static TypeId GetTypeId();

    AqmlabQueueDisc();
    ~AqmlabQueueDisc() override;

  private:
    class Store;
    class Log;

    bool DoEnqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;
    void DoDispose() override;

    /// What the discipline sees of a packet.
    aqmlab_packet Seen(Ptr<QueueDiscItem> item, aqmlab_tcp& tcp);
    /// Tells ns-3 what the last call, made for `time`, did to packets; false if it dropped `arriving`, the packet that was
    /// passed to it.
    bool Tell(Ptr<QueueDiscItem> arriving, uint64_t time);
    /// Lets the discipline do what is due by now.
    void CatchUp();
    /// The same, when nobody else calls.
    void Wake();
    void ScheduleWake();
    /// Asks the discipline when it has to be woken.
    void AskWhen();

    std::string m_discipline;
    DataRate m_rate;
    uint32_t m_overhead;
    uint64_t m_seed;
    bool m_tcpHeaders;
    std::string m_logName;

    aqmlab_queue* m_queue = nullptr;
    Ptr<Store> m_store;
    std::unique_ptr<Log> m_log;
    /// How many packets have arrived: the cookie of the next.
    uint64_t m_arrived = 0;
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();
    /// When the discipline is to be woken, and the event that does it, if there is one.
    uint64_t m_due = NEVER;
    uint64_t m_scheduled = NEVER;
    EventId m_wake;
};

} // namespace ns3

#endif
