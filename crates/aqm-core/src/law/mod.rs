//! Control laws: they decide, and own no packets.
