//! What the paper leaves open or says twice, as choices.

use crate::choices;

choices! {
    /// Which flows are dropped.
    pub(in crate::discipline) enum Rule {
        /// Those above the mean share.
        Text = "text",
        /// Those below it, as printed.
        Algorithm2 = "algorithm2",
    }
}

choices! {
    /// What happens to a flow with exactly the mean share.
    pub(in crate::discipline) enum EqualShare {
        Pass = "pass",
        Drop = "drop",
    }
}

choices! {
    /// The delay that stands for congestion.
    pub(in crate::discipline) enum GateDelay {
        Departure = "departure",
        Tick = "tick",
    }
}

choices! {
    /// What becomes of the departure rate in a quiet period.
    pub(in crate::discipline) enum QuietRate {
        Forget = "forget",
        Keep = "keep",
    }
}

choices! {
    /// Which delay alpha holds against the target.
    pub(in crate::discipline) enum AlphaDelay {
        Current = "current",
        Old = "old",
    }
}

choices! {
    /// When a period moves the probability.
    pub(in crate::discipline) enum Updates {
        Always = "always",
        AboveThreshold = "above_dq_threshold",
    }
}

choices! {
    /// When packets are counted.
    pub(in crate::discipline) enum CountAt {
        Enqueue = "enqueue",
        Dequeue = "dequeue",
    }
}

choices! {
    /// What a flow's share is a share of.
    pub(in crate::discipline) enum CountUnit {
        Packets = "packets",
        Bytes = "bytes",
    }
}
