//! What a line's link layer adds to every packet.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A link layer: bytes around each IP packet, and the share of the sync rate that is left for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// How it is called here.
    pub name: Cow<'static, str>,
    /// What it is, for people.
    pub about: Cow<'static, str>,
    /// Bytes around each IP packet.
    pub overhead: u32,
    /// The least that a packet counts, in bytes.
    pub mpu: u32,
    /// Bytes that are left for packets, of so many.
    pub payload: (u64, u64),
    /// The words of tc-cake(8).
    pub cake: Cow<'static, str>,
    /// The word of tc-stab(8); without one there is nothing to say.
    pub stab: Cow<'static, str>,
    /// The word of OpenWrt's SQM.
    pub sqm: Cow<'static, str>,
    /// Where the overhead is from.
    pub source: Cow<'static, str>,
}

/// All of them.
pub static LAYERS: [Layer; 6] = [
    Layer {
        name: Cow::Borrowed("adsl"),
        about: Cow::Borrowed("ADSL with PPPoE: ATM cells of 53 bytes carry 48"),
        overhead: 40,
        mpu: 0,
        payload: (48, 53),
        cake: Cow::Borrowed("pppoe-llcsnap"),
        stab: Cow::Borrowed("atm"),
        sqm: Cow::Borrowed("atm"),
        source: Cow::Borrowed("tc-cake(8): pppoe-llcsnap is overhead 40 atm"),
    },
    Layer {
        name: Cow::Borrowed("vdsl"),
        about: Cow::Borrowed("VDSL2 with PPPoE: PTM sends 65 bytes for 64"),
        overhead: 30,
        mpu: 0,
        payload: (64, 65),
        cake: Cow::Borrowed("pppoe-ptm"),
        stab: Cow::Borrowed("ethernet"),
        sqm: Cow::Borrowed("ethernet"),
        source: Cow::Borrowed(
            "tc-cake(8): pppoe-ptm is overhead 30 ptm; for tc-stab(8) rates are reduced by 64/65 instead",
        ),
    },
    Layer {
        name: Cow::Borrowed("docsis"),
        about: Cow::Borrowed("cable: the modem's shaper counts Ethernet frames without preamble"),
        overhead: 18,
        mpu: 64,
        payload: (1, 1),
        cake: Cow::Borrowed("docsis"),
        stab: Cow::Borrowed("ethernet"),
        sqm: Cow::Borrowed("ethernet"),
        source: Cow::Borrowed("tc-cake(8): docsis is overhead 18 mpu 64 noatm"),
    },
    Layer {
        name: Cow::Borrowed("ethernet"),
        about: Cow::Borrowed("fibre or Ethernet: frames with preamble, check sequence and gap"),
        overhead: 38,
        mpu: 84,
        payload: (1, 1),
        cake: Cow::Borrowed("ethernet"),
        stab: Cow::Borrowed("ethernet"),
        sqm: Cow::Borrowed("ethernet"),
        source: Cow::Borrowed("tc-cake(8): ethernet is overhead 38 mpu 84 noatm"),
    },
    Layer {
        name: Cow::Borrowed("lte"),
        about: Cow::Borrowed("a mobile link: what the modem adds is in its rate"),
        overhead: 0,
        mpu: 0,
        payload: (1, 1),
        cake: Cow::Borrowed("raw"),
        stab: Cow::Borrowed(""),
        sqm: Cow::Borrowed("none"),
        source: Cow::Borrowed("tc-cake(8): raw counts packets as they are"),
    },
    Layer {
        name: Cow::Borrowed("starlink"),
        about: Cow::Borrowed(
            "Starlink: Ethernet to the dish, and a radio link whose framing is not published",
        ),
        overhead: 44,
        mpu: 0,
        payload: (1, 1),
        cake: Cow::Borrowed("overhead 44 noatm"),
        stab: Cow::Borrowed("ethernet"),
        sqm: Cow::Borrowed("ethernet"),
        source: Cow::Borrowed("OpenWrt's guide to SQM: 44 where it is not known"),
    },
];

/// The fewest bytes around IP packets in PPPoE: those of `pppoe-ptm`.
const LEAST_PPPOE: u32 = 30;

/// Other names that are in use, each with that of [`LAYERS`].
pub static ALIASES: [(&str, &str); 8] = [
    ("ptm", "vdsl"),
    ("vdsl2", "vdsl"),
    ("adsl2", "adsl"),
    ("atm", "adsl"),
    ("cable", "docsis"),
    ("fibre", "ethernet"),
    ("fiber", "ethernet"),
    ("mobile", "lte"),
];

impl Layer {
    /// The link layer of a name, or of another that is in use.
    ///
    /// ```
    /// use aqm_advice::Layer;
    /// assert_eq!(Layer::named("cable").unwrap().name, "docsis");
    /// assert_eq!(Layer::named("PTM").unwrap().cake, "pppoe-ptm");
    /// assert!(Layer::named("pigeon").is_none());
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase();
        let plain =
            ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, plain)| plain);
        LAYERS.iter().find(|one| one.name == plain).cloned()
    }

    /// Whether IP packets are in PPPoE's frames (RFC 2516): those of DSL are, unless fewer bytes are around them than PPP over
    /// Ethernet takes (tc-cake(8): pppoe-ptm 30, pppoe-vcmux 32, pppoe-llcsnap 40, and bridged-ptm 22, bridged-vcmux 24).
    ///
    /// ```
    /// let vdsl = aqm_advice::Layer::named("vdsl").unwrap();
    /// assert!(vdsl.is_pppoe() && !vdsl.with_overhead(22).is_pppoe());
    /// ```
    pub fn is_pppoe(&self) -> bool {
        matches!(&*self.name, "adsl" | "vdsl") && self.overhead >= LEAST_PPPOE
    }

    /// What is left of a sync rate without cells or code words.
    pub fn carried(&self, rate_bps: u64) -> u64 {
        let (kept, of) = self.payload;
        rate_bps * kept / of
    }

    /// The same with other bytes around each IP packet than are usual.
    ///
    /// ```
    /// let cable = aqm_advice::Layer::named("docsis").unwrap();
    /// assert_eq!(cable.with_overhead(22).cake, "overhead 22 mpu 64 noatm");
    /// ```
    #[must_use]
    pub fn with_overhead(self, bytes: u32) -> Self {
        if bytes == self.overhead {
            return self;
        }
        let cells = match &*self.name {
            "adsl" => "atm",
            "vdsl" => "ptm",
            _ => "noatm",
        };
        Self {
            overhead: bytes,
            cake: format!("overhead {bytes} mpu {} {cells}", self.mpu).into(),
            stab: if self.stab.is_empty() { "ethernet".into() } else { self.stab },
            sqm: if self.sqm == "none" { "ethernet".into() } else { self.sqm },
            source: "--overhead".into(),
            ..self
        }
    }
}
