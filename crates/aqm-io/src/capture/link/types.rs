//! Link types of capture files, as listed at <https://www.tcpdump.org/linktypes.html>.

use super::layer::{Inner, Layer};

/// A link-layer header type that can hold IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkType {
    number: u16,
    layer: Layer,
}

impl LinkType {
    /// BSD loopback: an address family in front.
    pub const LOOPBACK: LinkType = LinkType { number: 0, layer: Layer::Loopback };
    /// Ethernet.
    pub const ETHERNET: LinkType = LinkType { number: 1, layer: Layer::Ethernet };
    /// The IP packet itself.
    pub const RAW_IP: LinkType = LinkType { number: 101, layer: Layer::RawIp };
    /// Linux "cooked" capture.
    pub const LINUX_SLL: LinkType = LinkType { number: 113, layer: Layer::LinuxSll };
    /// Linux "cooked" capture, version 2.
    pub const LINUX_SLL2: LinkType = LinkType { number: 276, layer: Layer::LinuxSll2 };

    /// The type of this number, if it can hold IP.
    pub(super) fn new(number: u16) -> Option<LinkType> {
        let found = WITH_IP.iter().find(|(known, _, _)| *known == number);
        found.map(|(_, _, layer)| LinkType { number, layer: *layer })
    }

    /// The number that stands for it in files.
    pub(in crate::capture) fn number(self) -> u16 {
        self.number
    }

    pub(super) fn layer(self) -> Layer {
        self.layer
    }
}

/// The name of a link type, without `LINKTYPE_`.
pub(in crate::capture) fn name(number: u16) -> Option<&'static str> {
    let with_ip = WITH_IP.iter().map(|(number, name, _)| (*number, *name));
    let mut all = with_ip.chain(OTHERS.iter().copied());
    all.find(|(known, _)| *known == number).map(|(_, name)| name)
}

/// Those in which tcpdump prints IP.
pub(super) const WITH_IP: &[(u16, &str, Layer)] = &[
    (0, "NULL", Layer::Loopback),
    (1, "ETHERNET", Layer::Ethernet),
    (6, "IEEE802_5", Layer::TokenRing),
    (7, "ARCNET_BSD", Layer::Arcnet),
    (8, "SLIP", Layer::Slip),
    (9, "PPP", Layer::PppOrCiscoHdlc),
    (10, "FDDI", Layer::Fddi),
    // Values of DLT_RAW on other systems.
    (12, "RAW", Layer::RawIp),
    (14, "RAW", Layer::RawIp),
    (50, "PPP_HDLC", Layer::PppOrCiscoHdlc),
    (51, "PPP_ETHER", Layer::Pppoe),
    (99, "SYMANTEC_FIREWALL", Layer::Symantec),
    (100, "ATM_RFC1483", Layer::Atm),
    (101, "RAW", Layer::RawIp),
    (104, "C_HDLC", Layer::CiscoHdlc),
    (105, "IEEE802_11", Layer::Ieee80211),
    (106, "ATM_CLIP", Layer::AtmClassicalIp),
    (107, "FRELAY", Layer::FrameRelay),
    (108, "LOOP", Layer::Loopback),
    (109, "ENC", Layer::Enc),
    // LAN emulation: two bytes of the client.
    (110, "LANE8023", Layer::PrefixedEthernet(2)),
    (113, "LINUX_SLL", Layer::LinuxSll),
    (117, "PFLOG", Layer::Pflog),
    (119, "IEEE802_11_PRISM", Layer::Prism),
    (122, "IP_OVER_FC", Layer::IpOverFc),
    (123, "SUNATM", Layer::SunAtm),
    (127, "IEEE802_11_RADIOTAP", Layer::Radiotap),
    (129, "ARCNET_LINUX", Layer::ArcnetLinux),
    (138, "APPLE_IP_OVER_IEEE1394", Layer::Ieee1394),
    (163, "IEEE802_11_AVS", Layer::Avs),
    (166, "PPP_PPPD", Layer::PppOfPppd),
    (167, "JUNIPER_PPPOE", Layer::Juniper(Inner::Ethernet)),
    (178, "JUNIPER_ETHER", Layer::Juniper(Inner::Ethernet)),
    (179, "JUNIPER_PPP", Layer::Juniper(Inner::Ppp)),
    (180, "JUNIPER_FRELAY", Layer::Juniper(Inner::FrameRelay)),
    (181, "JUNIPER_CHDLC", Layer::Juniper(Inner::CiscoHdlc)),
    (182, "MFR", Layer::MultilinkFrameRelay),
    (192, "PPI", Layer::Ppi),
    (204, "PPP_WITH_DIR", Layer::PppWithDirection),
    (205, "C_HDLC_WITH_DIR", Layer::CiscoHdlcWithDirection),
    (206, "FRELAY_WITH_DIR", Layer::FrameRelayWithDirection),
    (219, "MPLS", Layer::Mpls),
    (226, "IPNET", Layer::Ipnet),
    (228, "IPV4", Layer::RawIp),
    (229, "IPV6", Layer::RawIp),
    (239, "NFLOG", Layer::Nflog),
    // Four bytes of the analyzer; in the other form also preamble and start of frame.
    (240, "NETANALYZER", Layer::PrefixedEthernet(4)),
    (241, "NETANALYZER_TRANSPARENT", Layer::PrefixedEthernet(12)),
    (242, "IPOIB", Layer::Infiniband),
    (258, "PKTAP", Layer::Pktap),
    (276, "LINUX_SLL2", Layer::LinuxSll2),
    (281, "DSA_TAG_BRCM", Layer::EthernetWithTag(4)),
    (282, "DSA_TAG_BRCM_PREPEND", Layer::PrefixedEthernet(4)),
    (284, "DSA_TAG_DSA", Layer::EthernetWithTag(4)),
    (285, "DSA_TAG_EDSA", Layer::EthernetWithTag(8)),
];

/// The others, which are refused by name.
const OTHERS: &[(u16, &str)] = &[
    (2, "EXP_ETHERNET"),
    (3, "AX25"),
    (4, "PRONET"),
    (5, "CHAOS"),
    (102, "SLIP_BSDOS"),
    (103, "PPP_BSDOS"),
    (111, "HIPPI"),
    (112, "HDLC"),
    (114, "LTALK"),
    (115, "ECONET"),
    (116, "IPFILTER"),
    (118, "CISCO_IOS"),
    (120, "AIRONET_HEADER"),
    (121, "HHDLC"),
    (124, "RIO"),
    (125, "PCI_EXP"),
    (126, "AURORA"),
    (128, "TZSP"),
    (130, "JUNIPER_MLPPP"),
    (131, "JUNIPER_MLFR"),
    (132, "JUNIPER_ES"),
    (133, "JUNIPER_GGSN"),
    (134, "JUNIPER_MFR"),
    (135, "JUNIPER_ATM2"),
    (136, "JUNIPER_SERVICES"),
    (137, "JUNIPER_ATM1"),
    (139, "MTP2_WITH_PHDR"),
    (140, "MTP2"),
    (141, "MTP3"),
    (142, "SCCP"),
    (143, "DOCSIS"),
    (144, "LINUX_IRDA"),
    (145, "IBM_SP"),
    (146, "IBM_SN"),
    (147, "USER0"),
    (148, "USER1"),
    (149, "USER2"),
    (150, "USER3"),
    (151, "USER4"),
    (152, "USER5"),
    (153, "USER6"),
    (154, "USER7"),
    (155, "USER8"),
    (156, "USER9"),
    (157, "USER10"),
    (158, "USER11"),
    (159, "USER12"),
    (160, "USER13"),
    (161, "USER14"),
    (162, "USER15"),
    (164, "JUNIPER_MONITOR"),
    (165, "BACNET_MS_TP"),
    (168, "JUNIPER_PPPOE_ATM"),
    (169, "GPRS_LLC"),
    (170, "GPF_T"),
    (171, "GPF_F"),
    (174, "JUNIPER_PIC_PEER"),
    (175, "ERF_ETH"),
    (176, "ERF_POS"),
    (177, "LINUX_LAPD"),
    (183, "JUNIPER_VP"),
    (184, "A429"),
    (185, "A653_ICM"),
    (186, "USB_FREEBSD"),
    (187, "BLUETOOTH_HCI_H4"),
    (188, "IEEE802_16_MAC_CPS"),
    (189, "USB_LINUX"),
    (190, "CAN20B"),
    (191, "IEEE802_15_4_LINUX"),
    (193, "IEEE802_16_MAC_CPS_RADIO"),
    (194, "JUNIPER_ISM"),
    (195, "IEEE802_15_4_WITHFCS"),
    (196, "SITA"),
    (197, "ERF"),
    (198, "RAIF1"),
    (199, "IPMB_KONTRON"),
    (200, "JUNIPER_ST"),
    (201, "BLUETOOTH_HCI_H4_WITH_PHDR"),
    (202, "AX25_KISS"),
    (203, "LAPD"),
    (207, "LAPB_WITH_DIR"),
    (209, "I2C_LINUX"),
    (210, "FLEXRAY"),
    (211, "MOST"),
    (212, "LIN"),
    (213, "X2E_SERIAL"),
    (214, "X2E_XORAYA"),
    (215, "IEEE802_15_4_NONASK_PHY"),
    (216, "LINUX_EVDEV"),
    (217, "GSMTAP_UM"),
    (218, "GSMTAP_ABIS"),
    (220, "USB_LINUX_MMAPPED"),
    (221, "DECT"),
    (222, "AOS"),
    (223, "WIHART"),
    (224, "FC_2"),
    (225, "FC_2_WITH_FRAME_DELIMS"),
    (227, "CAN_SOCKETCAN"),
    (230, "IEEE802_15_4_NOFCS"),
    (231, "DBUS"),
    (232, "JUNIPER_VS"),
    (233, "JUNIPER_SRX_E2E"),
    (234, "JUNIPER_FIBRECHANNEL"),
    (235, "DVB_CI"),
    (236, "MUX27010"),
    (237, "STANAG_5066_D_PDU"),
    (238, "JUNIPER_ATM_CEMIC"),
    (243, "MPEG_2_TS"),
    (244, "NG40"),
    (245, "NFC_LLCP"),
    (246, "PFSYNC"),
    (247, "INFINIBAND"),
    (248, "SCTP"),
    (249, "USBPCAP"),
    (250, "RTAC_SERIAL"),
    (251, "BLUETOOTH_LE_LL"),
    (252, "WIRESHARK_UPPER_PDU"),
    (253, "NETLINK"),
    (254, "BLUETOOTH_LINUX_MONITOR"),
    (255, "BLUETOOTH_BREDR_BB"),
    (256, "BLUETOOTH_LE_LL_WITH_PHDR"),
    (257, "PROFIBUS_DL"),
    (259, "EPON"),
    (260, "IPMI_HPM_2"),
    (261, "ZWAVE_R1_R2"),
    (262, "ZWAVE_R3"),
    (263, "WATTSTOPPER_DLM"),
    (264, "ISO_14443"),
    (265, "RDS"),
    (266, "USB_DARWIN"),
    (267, "OPENFLOW"),
    (268, "SDLC"),
    (269, "TI_LLN_SNIFFER"),
    (270, "LORATAP"),
    (271, "VSOCK"),
    (272, "NORDIC_BLE"),
    (273, "DOCSIS31_XRA31"),
    (274, "ETHERNET_MPACKET"),
    (275, "DISPLAYPORT_AUX"),
    (277, "SERCOS_MONITOR"),
    (278, "OPENVIZSLA"),
    (279, "EBHSCR"),
    (280, "VPP_DISPATCH"),
    (283, "IEEE802_15_4_TAP"),
    (286, "ELEE"),
    (287, "Z_WAVE_SERIAL"),
    (288, "USB_2_0"),
    (289, "ATSC_ALP"),
    (290, "ETW"),
    (291, "NETANALYZER_NG"),
    (292, "ZBOSS_NCP"),
    (293, "USB_2_0_LOW_SPEED"),
    (294, "USB_2_0_FULL_SPEED"),
    (295, "USB_2_0_HIGH_SPEED"),
    (296, "AUERSWALD_LOG"),
    (297, "ZWAVE_TAP"),
    (298, "SILABS_DEBUG_CHANNEL"),
    (299, "FIRA_UCI"),
];
