//! The options of a scenario, each declared once: the command line, files and Python, defaults, bounds, messages, help,
//! documentation and schemas follow.

mod declaration;
mod notation;
mod registry;

pub use declaration::{Form, OptionSpec, Section};
pub use registry::{Capacity, OPTIONS, Scenario, Tap};

/// The option of this name.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|option| option.name == name)
}
