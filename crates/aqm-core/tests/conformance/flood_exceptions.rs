//! Where a flood finds less than every law promises, each with its reason.

use crate::flood::{Exception, Promise, exception};

const CODEL: &str =
    "a drop per interval / sqrt(count) rises with time alone (RFC 8289 section 5.3), too slowly for a flood";
const DAQM: &str = "drops a fixed share of the arrivals for a fixed time after a threshold was passed, however empty the queue is";
const BLUE: &str = "BLUE's steps per packet lower the probability of a lone flow only where its bins are empty, so the link idles";
const COBALT_NS3: &str = "BLUE rises with every packet older than BlueThreshold and falls at an empty queue alone; the last packet is dropped too";
const SWINGS: &str = "its steps are made for flows that slow down: from a probability below 0.9 the queue fills within a few periods";

/// The list.
pub(crate) const EXCEPTIONS: &[Exception] = &[
    exception("daqm:daqm2", Promise::FullLink, 1.2, DAQM),
    exception("daqm:daqm3", Promise::FullLink, 1.2, DAQM),
    exception("daqm:only_s1", Promise::FullLink, 1.2, DAQM),
    exception("daqm:only_b", Promise::FullLink, 1.2, DAQM),
    exception("daqm:only_b1", Promise::FullLink, 1.2, DAQM),
    exception("daqm:only_b2", Promise::FullLink, 1.2, DAQM),
    exception("daqm:only_b3", Promise::FullLink, 1.2, DAQM),
    exception("sfb", Promise::FullLink, 1.2, BLUE),
    exception("cobalt:ns3", Promise::FullLink, 1.2, COBALT_NS3),
    exception("fq_cobalt:ns3", Promise::FullLink, 1.2, COBALT_NS3),
    exception("codel", Promise::Target, 1.2, CODEL),
    exception("fq_codel", Promise::Target, 1.2, CODEL),
    exception("cobalt", Promise::Target, 1.2, "as CoDel, until the queue overflows and BLUE takes over"),
    exception("fq_cobalt", Promise::Target, 1.2, "as CoDel, until the queue overflows and BLUE takes over"),
    exception(
        "ared",
        Promise::Target,
        1.2,
        "target is what min is derived from, and min is at least five packets",
    ),
    exception(
        "s-pie",
        Promise::Target,
        1.2,
        "only flows above the mean share are dropped, and here all are alike",
    ),
    exception("pie:rfc8033", Promise::Target, 10.0, SWINGS),
    exception("fq_pie:rfc8033", Promise::Target, 10.0, SWINGS),
    exception("fq_pie:ns3", Promise::Target, 10.0, SWINGS),
    exception("pi2", Promise::Target, 10.0, SWINGS),
    exception(
        "docsis_pie",
        Promise::Target,
        10.0,
        "the probability ends at 0.85 (PROB_LOW in RFC 8034 appendix A)",
    ),
];
