//! What of a shaper or netem is the link's here, as options of a comparison.

use super::listing::{Class, Qdisc};
use super::units;
use aqm_core::input_error::InputError;
use aqm_core::units::Rate;

/// What the options of the link are for a shaper's or netem's words.
pub(super) fn options(qdisc: &Qdisc, class: Option<&Class>) -> Result<String, InputError> {
    let after = |words: &[String], name: &str| {
        let place = words.iter().position(|word| word == name)?;
        words.get(place + 1).cloned()
    };
    let problem = |error: InputError| error.within(qdisc.kind.as_str()).within("tc");
    if qdisc.kind == "netem" {
        let mut options = Vec::new();
        if let Some(delay) = after(&qdisc.words, "delay") {
            // netem's times may have nanoseconds in JSON; what it delays one way is a part of the round trip.
            let delay = units::time(&delay, 1).map_err(problem)?;
            options.push(format!("its delay of {delay} one way is a part of --rtt"));
        }
        if let Some(loss) = after(&qdisc.words, "loss") {
            let loss =
                if loss == "random" { after(&qdisc.words, "random").unwrap_or_default() } else { loss };
            options.push(format!("--loss {loss}"));
        }
        if let Some(rate) = after(&qdisc.words, "rate") {
            options.push(format!("--rate {}", units::rate(&rate).map_err(problem)?));
        }
        if let Some(limit) = after(&qdisc.words, "limit") {
            options.push(format!("fifo limit {}", units::packets(&limit).map_err(problem)?));
        }
        let known =
            if options.is_empty() { "--rtt, --loss and --rate".to_owned() } else { options.join(", ") };
        return Ok(format!("the link has delay, loss and rate here: {known}"));
    }
    let rate = after(&qdisc.words, "rate").or_else(|| {
        let words = &class?.words;
        after(words, "rate").or_else(|| after(words, "m2"))
    });
    let Some(rate) = rate else {
        return Ok("the rate is the link's here: --rate, or cake bandwidth".to_owned());
    };
    let rate = units::bits_per_second(&rate).map_err(problem)?;
    let shaped = Rate::from_bits_per_sec(rate);
    let mut message = format!("the rate is the link's here: --rate {shaped}, or cake bandwidth {shaped}");
    if qdisc.kind == "tbf" {
        let burst = ["burst", "buffer", "maxburst"].iter().find_map(|name| after(&qdisc.words, name));
        let burst = burst.map(|burst| units::bytes(burst.split('/').next().unwrap_or_default()));
        let burst = burst.transpose().map_err(problem)?.unwrap_or(0);
        // tc-tbf(8): latency is the longest time in the queue, so that limit is rate x latency + burst.
        let waiting = match (
            after(&qdisc.words, "limit"),
            after(&qdisc.words, "latency").or_else(|| after(&qdisc.words, "lat")),
        ) {
            (Some(limit), _) => Some(units::bytes(&limit).map_err(problem)?),
            (None, Some(latency)) => {
                let nanos = units::nanoseconds(&latency).map_err(problem)?;
                let bytes = u128::from(rate) * u128::from(nanos) / 8_000_000_000 + u128::from(burst);
                Some(bytes as u64)
            }
            (None, None) => None,
        };
        if let Some(bytes) = waiting {
            message += &format!(", with fifo limit {bytes}b");
        }
    }
    Ok(message)
}
