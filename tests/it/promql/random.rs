//! Random expressions of the subset, over the names that the world has.

use chaos_gameday::metrics::promql;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub const NAMES: &[&str] = &[
    "requests_total",
    "errors_total",
    "queue_length",
    "limit",
    "up",
    "odd",
    "latency_seconds_bucket",
    "twice_total",
];
const LABELS: &[&str] = &["code", "pod", "job", "zone", "le", "kind", "__name__"];
const MATCHERS: &[&str] = &[
    "",
    "",
    "",
    "{pod=\"a\"}",
    "{pod!=\"a\"}",
    "{code=~\"5..\"}",
    "{code!~\"5..\",job=\"shop\"}",
    "{zone=\"\"}",
    "{kind=~\"good|falling\"}",
];
const NUMBERS: &[&str] = &["0", "1", "2.5", "-3", "1e3", "NaN", "Inf", "-Inf", "0.9"];
const RANGES: &[&str] = &["[10s]", "[37s]", "[1m]", "[5m]", "[11m]"];

/// The expression of a seed.
pub fn expression(seed: u64) -> String {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    draw.vector(3)
}

struct Draw(ChaCha8Rng);

impl Draw {
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.choose(&mut self.0).expect("something to choose from")
    }

    fn vector(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.selector();
        }
        match self.0.random_range(0..8) {
            0 => self.selector(),
            1 => {
                let (left, right) = (self.vector(depth - 1), self.vector(depth - 1));
                format!("({left} {} {right})", self.between_vectors())
            }
            2 => {
                let (left, right) = (self.vector(depth - 1), self.scalar(depth - 1));
                format!("({left} {} {right})", self.sign_with_bool())
            }
            3 => {
                let (left, right) = (self.scalar(depth - 1), self.vector(depth - 1));
                format!("({left} {} {right})", self.sign_with_bool())
            }
            4 | 5 => {
                let inner = self.vector(depth - 1);
                let names: Vec<_> = promql::AGGREGATIONS.iter().map(|one| one.name).collect();
                format!("{}{} ({inner})", self.one(&names), self.grouping())
            }
            6 => format!("-{}", self.vector(depth - 1)),
            _ => self.call(depth),
        }
    }

    fn selector(&mut self) -> String {
        format!("{}{}", self.one(NAMES), self.one(MATCHERS))
    }

    fn scalar(&mut self, depth: u32) -> String {
        match self.0.random_range(0..6) {
            0 if depth > 0 => format!("scalar({})", self.vector(depth - 1)),
            1 if depth > 0 => {
                let (left, right) = (self.scalar(depth - 1), self.scalar(depth - 1));
                format!(
                    "({left} {} {right})",
                    self.one(&["+", "-", "*", "/", "%", "^", "> bool"])
                )
            }
            2 => "time()".to_owned(),
            _ => self.one(NUMBERS).to_owned(),
        }
    }

    fn call(&mut self, depth: u32) -> String {
        let names: Vec<_> = promql::FUNCTIONS.iter().map(|one| one.name).collect();
        let name = self.one(&names);
        let arguments = match name {
            "time" => return self.selector(),
            "vector" => self.scalar(depth - 1),
            "scalar" => return format!("vector(scalar({}))", self.vector(depth - 1)),
            "histogram_quantile" => format!("{}, {}", self.scalar(0), self.vector(depth - 1)),
            "round" | "clamp_min" | "clamp_max" => {
                format!("{}, {}", self.vector(depth - 1), self.scalar(depth - 1))
            }
            "clamp" => {
                let vector = self.vector(depth - 1);
                format!("{vector}, {}, {}", self.scalar(0), self.scalar(0))
            }
            "abs" | "sgn" | "ceil" | "floor" | "sqrt" | "exp" | "ln" | "log2" | "log10" => {
                self.vector(depth - 1)
            }
            _ => format!("{}{}", self.selector(), self.one(RANGES)),
        };
        format!("{name}({arguments})")
    }

    fn sign_with_bool(&mut self) -> String {
        let signs = [
            "+", "-", "*", "/", "%", "^", "==", "!=", ">", "<", ">=", "<=", "> bool", "+", "*",
        ];
        self.one(&signs).to_owned()
    }

    fn between_vectors(&mut self) -> String {
        let signs = ["+", "-", "/", "==", ">", "< bool", "and", "or", "unless"];
        let sign = self.one(&signs);
        match self.0.random_range(0..6) {
            0 => sign.to_owned(),
            1 => format!("{sign} on ()"),
            2 | 3 => format!("{sign} on ({})", self.labels()),
            _ => format!("{sign} ignoring ({})", self.labels()),
        }
    }

    fn grouping(&mut self) -> String {
        match self.0.random_range(0..3) {
            0 => String::new(),
            1 => format!(" by ({})", self.labels()),
            _ => format!(" without ({})", self.labels()),
        }
    }

    fn labels(&mut self) -> String {
        let count = self.0.random_range(0..4);
        let labels: Vec<_> = (0..count).map(|_| self.one(LABELS)).collect();
        labels.join(", ")
    }
}
