//! How long a transmission occupies the air.

use aqm_core::units::Span;

/// Microseconds of a legacy OFDM preamble with its SIGNAL field (IEEE 802.11-2020, 17.3.3: 16 + 4).
pub const LEGACY_PREAMBLE: Span = Span::from_micros(20);
