//! How lists of declarations are written: what is declared is in the list.

/// A static of each line, and the list of all in this order.
macro_rules! declare {
    ($(#[$about:meta])* $list:ident: $kind:ty; $($id:ident = $value:expr;)*) => {
        $(pub(crate) static $id: $kind = $value;)*
        $(#[$about])*
        pub static $list: &[&$kind] = &[$(&$id),*];
    };
}
