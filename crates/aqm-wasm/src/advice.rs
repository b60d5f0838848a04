//! What a home's line should have: questions to `aqm-advice`, and its answers.

use aqm_advice::choice::{self, Means};
use aqm_advice::figures::{self, FIGURES, Metrics as _};
use aqm_advice::paste::System;
use aqm_advice::{Line, Setup, household, paste, setups};
use aqm_core::input_error::InputError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A question of the host.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Question {
    /// How a line is asked about, and the setups for it.
    Setups { line: Line },
    /// The scenario of a household on a line that is run in a setup; `scenario` is that of another line.
    Scenario { scenario: Value, line: Line, setup: Setup },
    /// What a household notices of a run, and what is shown beside, by the run's metrics and its length.
    Run { metrics: Map<String, Value>, minutes: f64 },
    /// How far each setup is behind, and which is named.
    Choice { means: Vec<Means> },
    /// The lines to paste of a setup, for an interface or that of the line.
    Paste {
        line: Line,
        setup: Setup,
        #[serde(default)]
        interface: String,
    },
}

/// The answer, or what is wrong.
pub(crate) fn answer(question: Question) -> Result<Value, InputError> {
    match question {
        Question::Setups { line } => {
            let plan = household::plan(&line);
            let tried: Vec<_> = setups::setups(&line, plan.only_usual)
                .into_iter()
                .map(|setup| json!({ "shaped": line.shaped(setup.share), "setup": setup }))
                .collect();
            Ok(
                json!({ "plan": plan, "warmup_s": household::WARMUP_S, "buffers": line.buffers(), "setups": tried }),
            )
        }
        Question::Scenario { mut scenario, line, setup } => {
            let has_links = household::put(&mut scenario, &line, &setup);
            has_links
                .then(|| json!({ "scenario": scenario }))
                .ok_or_else(|| InputError::new("is no household's").of_option("scenario"))
        }
        Question::Run { metrics, minutes } => {
            let mut values = Map::new();
            for figure in &FIGURES {
                let value = figure.value(&metrics, minutes).unwrap_or_else(|| figure.unseen(minutes));
                values.insert(figure.name.to_owned(), json!(value));
            }
            values.insert(figures::PING.to_owned(), json!(figures::ping_increase_ms(&metrics)));
            values.insert(figures::RPM.to_owned(), json!(figures::rpm(&metrics)));
            values.insert(figures::TOTAL.to_owned(), json!(metrics.metric(figures::TOTAL)));
            Ok(json!({ "values": values }))
        }
        Question::Choice { means } => {
            let ranked = choice::ranked(&means);
            let named = choice::best(&ranked).map(|one| &one.name);
            Ok(json!({ "named": named, "ranked": ranked }))
        }
        Question::Paste { line, setup, interface } => Ok(json!({
            "interfaces": {
                "linux": paste::interface(&line, System::Linux),
                "openwrt": paste::interface(&line, System::OpenWrt),
            },
            "tc": paste::tc(&setup, &line, &interface),
            "undo": paste::undo(&setup, &line, &interface),
            "sqm": paste::sqm(&setup, &line, &interface),
        })),
    }
}
