//! Sums, means and the larger of two, to the letter of Prometheus's arithmetic: what NaN and the
//! infinities do, and how little is lost over many samples.

/// A sum that carries along what rounding took away (Neumaier).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(super) fn with(self, value: f64) -> Self {
        let sum = self.sum + value;
        let lost = if self.sum.abs() >= value.abs() {
            (self.sum - sum) + value
        } else {
            (value - sum) + self.sum
        };
        Self {
            sum,
            lost: self.lost + lost,
        }
    }

    /// An infinite sum has lost nothing that could be told.
    pub(super) fn value(self) -> f64 {
        if self.sum.is_infinite() {
            self.sum
        } else {
            self.sum + self.lost
        }
    }
}

/// A mean that does not overflow where the sum would.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    mean: Sum,
    count: f64,
}

impl Mean {
    pub(super) fn with(self, value: f64) -> Self {
        let count = self.count + 1.0;
        let mean = self.mean.sum;
        // Once infinite, only NaN or the other infinity can change it; both are left to the sum.
        let stays = mean.is_infinite()
            && !value.is_nan()
            && (value.is_finite() || (value > 0.0) == (mean > 0.0));
        let mean = if stays {
            self.mean
        } else {
            self.mean.with(value / count - mean / count)
        };
        Self { mean, count }
    }

    pub(super) fn value(self) -> f64 {
        self.mean.value()
    }
}

/// The larger of two; NaN if one is, unless the other is +Inf, above which nothing is.
pub(super) fn larger(one: f64, other: f64) -> f64 {
    if one == f64::INFINITY || other == f64::INFINITY {
        f64::INFINITY
    } else if one.is_nan() || other.is_nan() {
        f64::NAN
    } else {
        one.max(other)
    }
}

/// The smaller of two; NaN if one is, unless the other is -Inf, below which nothing is.
pub(super) fn smaller(one: f64, other: f64) -> f64 {
    -larger(-one, -other)
}

/// To the nearest multiple, halves upwards.
pub(super) fn rounded(value: f64, multiple: f64) -> f64 {
    let inverse = 1.0 / multiple;
    (value * inverse + 0.5).floor() / inverse
}

/// -1, 0 or 1; NaN stays NaN, and zero keeps its sign.
pub(super) fn sign(value: f64) -> f64 {
    match value {
        value if value > 0.0 => 1.0,
        value if value < 0.0 => -1.0,
        value => value,
    }
}
