//! A short list of whole numbers, one per class.

/// Up to 16 whole numbers, stored in place so that values can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    numbers: [u32; 16],
    length: usize,
}

impl Counts {
    /// A list of these numbers; `None` if there are none or too many.
    pub const fn new(numbers: &[u32]) -> Option<Counts> {
        let mut counts = Counts { numbers: [0; 16], length: numbers.len() };
        if numbers.is_empty() || numbers.len() > counts.numbers.len() {
            return None;
        }
        let mut index = 0;
        while index < numbers.len() {
            counts.numbers[index] = numbers[index];
            index += 1;
        }
        Some(counts)
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..self.length]
    }

    /// The number of class `class`: the last if the list is shorter.
    pub fn of_class(&self, class: usize) -> u32 {
        self.numbers[class.min(self.length - 1)]
    }
}
