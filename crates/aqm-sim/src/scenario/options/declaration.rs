//! The declaration of an option.

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text that has a meaning only beside other options, as the name of a port.
    Text,
    /// A file, or something that is given in place of one.
    File,
    /// Flow specs, or a file of them.
    Flows,
    /// One of these words, or a quantity with a unit that has a meaning only beside other options.
    Quantity(&'static [&'static str]),
    /// A length of time.
    Span,
    /// A bit rate.
    Rate,
    /// A number of bytes.
    Bytes,
    /// A number of packets; the unit may be left out.
    Packets,
    /// A probability; the upper end of its range does not belong to it.
    Share,
    /// A model of loss: a probability, or netem's chains.
    Loss,
    /// Which packets overtake, as netem has it.
    Reorder,
    /// When packets leave a wire, as netem's slots.
    Slots,
    /// A kind of link with its parameters.
    Link,
    /// A whole number.
    Count,
    /// Names with commas between them, or `none`.
    Names,
    /// One of two words: for false in the scenario, and for true.
    Switch([&'static str; 2]),
    /// One of these words, or the default.
    Choice(&'static [&'static str]),
}

/// What stands for a list of no names.
pub(super) const NONE: &str = "none";

/// Under which heading help lists an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// What the path is made of.
    Link,
    /// What is sent over it.
    Traffic,
    /// What decides at its queues.
    Disciplines,
    /// How long and how often it runs, and what is measured.
    Statistics,
}

impl Section {
    /// Its heading.
    pub const fn title(self) -> &'static str {
        match self {
            Section::Link => "Link",
            Section::Traffic => "Traffic",
            Section::Disciplines => "Disciplines",
            Section::Statistics => "Statistics",
        }
    }
}

/// The declaration of an option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name, in files and in Python; the flag has hyphens for underscores.
    pub name: &'static str,
    /// What it takes.
    pub form: Form,
    /// The field of a scenario that has its value; empty where the value decides more than one, or none.
    pub field: &'static str,
    /// Default in tc's notation; empty for none.
    pub default: &'static str,
    /// Whether the default is no value of the field, which is then null.
    pub is_null_by_default: bool,
    /// Whether a scenario that is written leaves its field out where that has the default.
    pub is_left_out: bool,
    /// Smallest and largest value, in base units.
    pub range: (f64, f64),
    /// Whether it may be given several times.
    pub is_many: bool,
    /// A value, for help and messages: the default where there is one.
    pub example: &'static str,
    /// Under which heading help lists it; of a link, unless declared otherwise.
    pub section: Section,
    /// Whether a live link has it too. Others are refused there unless they have their default.
    pub is_live: bool,
    /// Whether it is what a wire does to packets beside its delay: links of a topology and live links have it, too.
    pub is_wire: bool,
    /// What stands for its value in help.
    pub metavar: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// Source of its meaning or of its default; empty if it is our own.
    pub reference: &'static str,
}

impl OptionSpec {
    /// Declares an option; its value is above zero where it is a quantity.
    pub(super) const fn new(
        name: &'static str,
        form: Form,
        default: &'static str,
        metavar: &'static str,
        help: &'static str,
    ) -> OptionSpec {
        OptionSpec {
            name,
            form,
            field: "",
            default,
            is_null_by_default: false,
            is_left_out: false,
            range: (1.0, f64::INFINITY),
            is_many: false,
            example: default,
            section: Section::Link,
            is_live: false,
            is_wire: false,
            metavar,
            help,
            reference: "",
        }
    }

    /// With a field of a scenario.
    pub(super) const fn to(mut self, field: &'static str) -> OptionSpec {
        self.field = field;
        self
    }

    /// With a smallest and a largest value.
    pub(super) const fn within(mut self, low: f64, high: f64) -> OptionSpec {
        self.range = (low, high);
        self
    }

    /// With a default that is no value: its field is null.
    pub(super) const fn or_null(mut self) -> OptionSpec {
        self.is_null_by_default = true;
        self
    }

    /// With a field that is written only where it differs from the default.
    pub(super) const fn left_out(mut self) -> OptionSpec {
        self.is_left_out = true;
        self
    }

    /// Which may be given several times.
    pub(super) const fn many(mut self) -> OptionSpec {
        self.is_many = true;
        self
    }

    /// With an example.
    pub(super) const fn as_in(mut self, example: &'static str) -> OptionSpec {
        self.example = example;
        self
    }

    /// Under another heading of help.
    pub(super) const fn of(mut self, section: Section) -> OptionSpec {
        self.section = section;
        self
    }

    /// Which a live link has too.
    pub(super) const fn live(mut self) -> OptionSpec {
        self.is_live = true;
        self
    }

    /// Which a wire does to packets.
    pub(super) const fn of_wire(mut self) -> OptionSpec {
        (self.is_wire, self.is_live) = (true, true);
        self
    }

    /// With a source.
    pub(super) const fn from(mut self, reference: &'static str) -> OptionSpec {
        self.reference = reference;
        self
    }

    /// Whether its value is a field of a scenario.
    pub const fn has_field(&self) -> bool {
        !self.field.is_empty()
    }
}
