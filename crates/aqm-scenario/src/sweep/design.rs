//! How points are chosen from what is swept.

use super::{MOST_VALUES, whole};
use aqm_core::input_error::InputError;
use aqm_core::params::did_you_mean;

/// All combinations, or a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// All combinations.
    Grid,
    /// So many points of a sample, which a host draws.
    Sample(Sampler, usize),
}

/// How a sample is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// A Latin hypercube.
    Latin,
    /// The first points of Sobol's sequence.
    Sobol,
}

impl Sampler {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Sampler::Latin => "latin",
            Sampler::Sobol => "sobol",
        }
    }
}

const GRID: &str = "grid";
const SAMPLERS: [Sampler; 2] = [Sampler::Latin, Sampler::Sobol];

impl Design {
    /// Reads a design.
    ///
    /// ```
    /// use aqm_scenario::sweep::{Design, Sampler};
    /// assert_eq!(Design::parse("latin*30"), Ok(Design::Sample(Sampler::Latin, 30)));
    /// let error = Design::parse("sobol").unwrap_err().to_string();
    /// assert_eq!(error, "design: 'sobol': how many points? As sobol*30");
    /// ```
    ///
    /// # Errors
    /// What is allowed.
    pub fn parse(text: &str) -> Result<Design, InputError> {
        Design::read(text).map_err(|error| error.of_option("design"))
    }

    fn read(text: &str) -> Result<Design, InputError> {
        let (name, count) = text.split_once('*').map_or((text, None), |(name, count)| (name, Some(count)));
        let refused = |problem: &str| InputError::new(format!("'{text}': {problem}")).of_value(text);
        let sampler = SAMPLERS.into_iter().find(|one| one.name() == name);
        match (sampler, count) {
            (None, None) if name == GRID => Ok(Design::Grid),
            (None, Some(_)) if name == GRID => Err(refused("grid has the points of its values")),
            (None, _) => {
                let names = std::iter::once(GRID).chain(SAMPLERS.iter().map(|one| one.name()));
                let hint = did_you_mean(name, names.clone());
                let problem = format!("is none of grid, latin*N, sobol*N{hint}");
                Err(InputError::value(text, problem).near(name, names))
            }
            (Some(_), None) => Err(refused(&format!("how many points? As {name}*30"))),
            (Some(sampler), Some(count)) => {
                let count = whole(count, 2, MOST_VALUES).map_err(|error| refused(&error.to_string()))?;
                Ok(Design::Sample(sampler, count))
            }
        }
    }
}
