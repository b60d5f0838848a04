//! PMQECN (Liu et al., PeerJ CS 2024) and the programs of its authors (YXY-1998/OUR-ECN).

pub mod sender;
