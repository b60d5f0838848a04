//! Every metric, declared once, and the values that are put under the declarations.

#[macro_use]
mod declare;

pub mod registry;
pub mod sampled;
pub mod values;
