//! Parameters of a discipline as the words of a qdisc give them.

/// The parameter under which the words of CAKE's link layer are gathered, which its own rules resolve.
pub(super) const LAYER: &str = "link layer";

/// Parameters in the laboratory's notation, in the order of the text; of one that is given twice the last value.
#[derive(Debug, Default)]
pub(super) struct Given {
    params: Vec<(&'static str, String)>,
    /// The words of CAKE's link layer and their values, whose order matters.
    pub(super) layer: Vec<(&'static str, String)>,
    /// Words without effect here, and why.
    pub(super) idle: Vec<(String, &'static str)>,
}

impl Given {
    /// Gives a parameter its value.
    pub(super) fn set(&mut self, param: &'static str, value: String) {
        self.unset(param);
        self.params.push((param, value));
    }

    /// Takes a parameter away.
    pub(super) fn unset(&mut self, param: &str) -> Option<String> {
        let place = self.params.iter().position(|(name, _)| *name == param)?;
        Some(self.params.remove(place).1)
    }

    /// The value of a parameter.
    pub(super) fn get(&self, param: &str) -> Option<&str> {
        self.params.iter().find(|(name, _)| *name == param).map(|(_, value)| &**value)
    }

    /// The parameters and their values.
    pub(super) fn params(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.params.iter().map(|(name, value)| (*name, &**value))
    }

    /// Words without effect, grouped by the reason.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut reasons: Vec<&str> = Vec::new();
        for (_, why) in &self.idle {
            if !reasons.contains(why) {
                reasons.push(why);
            }
        }
        let words = |why: &str| {
            let words: Vec<&str> =
                self.idle.iter().filter(|(_, other)| *other == why).map(|(word, _)| &**word).collect();
            words.join(", ")
        };
        reasons.into_iter().map(|why| format!("{} has no effect: {why}", words(why))).collect()
    }
}
