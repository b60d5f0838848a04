//! TCP's sender played by scripts in the language of [packetdrill](https://github.com/google/packetdrill): segments and
//! system calls in, segments and assertions out, each with its time.
//!
//! # What is read
//! Of the language, what describes a sender:
//!
//! - `--tolerance_usecs`, `--tcp_ts_tick_usecs` and `--strict_segments`, and two options of our own. `--tcp=newreno sack off`
//!   describes the sender in the notation of flows; without it the sender is Linux (`profile=linux`) with the sysctls of the
//!   script. `--complete` makes the script fail if it leaves a segment that no line expects.
//! - Commands between back quotes: `sysctl`, `set_sysctls.py`, `ip route ... initcwnd`, `tc qdisc` with fq or pfifo, and files
//!   of such commands.
//! - System calls of one connection, opened from either side; writes with MSG_MORE and MSG_EOR, TCP_CORK, TCP_NODELAY,
//!   TCP_MAXSEG and TCP_CONGESTION. The socket takes as much as the script says: its memory is not modelled.
//! - Segments with flags, `[ect0]`, `win`, and the options mss, sackOK, wscale, TS, sack and ECN (AccECN's `ceb`).
//! - Assertions on `tcpi_*` of struct tcp_info, and on `aqmlab_cwnd` and `aqmlab_ssthresh` (bytes), `aqmlab_timeouts`,
//!   `aqmlab_recoveries` and `aqmlab_timer_usecs` (when the next timer is due).
//!
//! # Deviations
//! PSH and the receive window of what is sent are not compared, and options only where a line has them: they depend on how
//! Linux stores data. A handshake in no time is no sample of the round-trip time. Without `--strict_segments` a line may
//! expect several segments as one, as in packetdrill. What is not modelled is refused, and named
//! ([`Problem::is_unsupported`]).

mod application;
mod call;
mod code;
mod cursor;
mod host;
mod lexer;
mod packet;
mod parse;
mod player;
mod problem;
mod script;
mod shell;
mod variables;

pub use problem::Problem;

/// Plays the script `text`, whose name in problems is `file`. `include` reads the files of commands that it names, relative
/// to the folder of the script.
///
/// # Errors
/// What is wrong with the script, or where the sender parts from it: one line.
///
/// ```
/// let script = "0 listen(3, 1) = 0\n\
///     0 < S 0:0(0) win 32792 <mss 1000,sackOK>\n\
///     0 > S. 0:0(0) ack 1 <mss 1460,sackOK>\n\
///     0 < . 1:1(0) ack 1 win 32792\n\
///     0 accept(3, ..., ...) = 4\n\
///     0 write(4, ..., 20000) = 20000\n\
///     0 > . 1:10001(10000) ack 1\n\
///     +.1 < . 1:1(0) ack 10001 win 32792\n\
///     +0 %{ assert tcpi_snd_cwnd == 20 }%\n";
/// let include = |path: &str| Err(format!("{path} is not there"));
/// aqm_sim::packetdrill::replay("slow_start.pkt", script, &include).unwrap();
/// let wrong = script.replace("== 20", "== 21");
/// let problem = aqm_sim::packetdrill::replay("slow_start.pkt", &wrong, &include).unwrap_err();
/// assert_eq!(problem.to_string(), "slow_start.pkt:9: not so: tcpi_snd_cwnd == 21; tcpi_snd_cwnd is 20");
/// ```
pub fn replay(
    file: &str,
    text: &str,
    include: &dyn Fn(&str) -> Result<String, String>,
) -> Result<(), Problem> {
    player::play(file, &parse::script(file, text, include)?)
}
