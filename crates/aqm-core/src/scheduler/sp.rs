//! Strict priority: class 0 before class 1 before class 2.

use super::{Heads, Scheduler};

/// Serves the lowest class that has a packet.
#[derive(Clone, Debug)]
pub struct Sp {
    classes: usize,
}

impl Sp {
    /// Strict priority among `classes` classes.
    pub const fn new(classes: usize) -> Sp {
        Sp { classes }
    }
}

impl Scheduler for Sp {
    fn activate(&mut self, _class: usize) {}

    #[inline]
    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize> {
        (0..self.classes).find(|class| heads(*class).is_some())
    }

    fn sent(&mut self, _class: usize, _length: u32, _emptied: bool) {}

    fn clear(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::super::testing::Queues;
    use super::*;

    #[test]
    fn a_lower_class_always_goes_first() {
        let mut queues = Queues::new(Sp::new(3));
        queues.put(2, &[100, 100]);
        queues.put(1, &[100]);
        assert_eq!(queues.serve(), Some(1));
        queues.put(0, &[1500, 1500]);
        assert_eq!(queues.order(9), [0, 0, 2, 2]);
    }
}
