//! Tables of a report as Python takes them: names, kinds of numbers, all numbers of all columns in one piece, texts.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

/// Names, kinds, 64-bit words of the columns of numbers, one column after the other, little-endian, and columns of texts.
pub(crate) type Parts<'py> =
    (Bound<'py, PyTuple>, Bound<'py, PyTuple>, Bound<'py, PyBytes>, Bound<'py, PyDict>);

/// A table that is put together, a column at a time.
pub(crate) struct Table<'py> {
    names: Vec<Bound<'py, PyString>>,
    kinds: Vec<Bound<'py, PyString>>,
    words: Words,
    texts: Bound<'py, PyDict>,
}

impl<'py> Table<'py> {
    pub(crate) fn new(py: Python<'py>) -> Table<'py> {
        Table { names: Vec::new(), kinds: Vec::new(), words: Words::default(), texts: PyDict::new(py) }
    }

    /// A column of whole numbers, none of which needs the highest bit.
    pub(crate) fn counts(&mut self, name: &str, values: impl IntoIterator<Item = u64>) {
        self.named(name, "<i8");
        self.words.wholes(values);
    }

    /// A column of reals.
    pub(crate) fn reals(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        self.named(name, "<f8");
        self.words.wholes(values.into_iter().map(f64::to_bits));
    }

    /// A column of texts.
    pub(crate) fn texts<'a>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> PyResult<()> {
        self.named(name, "");
        self.texts.set_item(name, values.into_iter().collect::<Vec<_>>())
    }

    pub(crate) fn parts(self) -> PyResult<Parts<'py>> {
        let py = self.texts.py();
        Ok((PyTuple::new(py, self.names)?, PyTuple::new(py, self.kinds)?, self.words.bytes(py), self.texts))
    }

    /// Runs have the same names: each is one object.
    fn named(&mut self, name: &str, kind: &str) {
        self.names.push(PyString::intern(self.texts.py(), name));
        self.kinds.push(PyString::intern(self.texts.py(), kind));
    }
}

/// Words of 64 bits, little-endian.
#[derive(Default)]
pub(crate) struct Words(Vec<u8>);

impl Words {
    pub(crate) fn wholes(&mut self, values: impl IntoIterator<Item = u64>) {
        let values = values.into_iter();
        self.0.reserve(8 * values.size_hint().0);
        for value in values {
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    pub(crate) fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0)
    }
}
