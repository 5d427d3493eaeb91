//! What is killed, and when: each phase and each signal in turn, so that all are hit, and the rest by
//! dice.

use std::time::Duration;

use chaos_gameday::model::phase::Phase;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rustix::process::Signal;

/// Who is hit, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blow {
    /// kill -9 of the run.
    Run,
    /// kill -9 of its guardian alone.
    Guardian,
    /// kill -9 of both, and `chaos recover` after that.
    Both,
    /// One of the signals that a run takes for a wish to end.
    Signal(i32),
    /// SIGSTOP of the run, for good.
    Stop,
}

impl Blow {
    pub fn words(self) -> &'static str {
        match self {
            Self::Signal(of) if of == Signal::INT.as_raw() => "SIGINT",
            Self::Signal(of) if of == Signal::TERM.as_raw() => "SIGTERM",
            Self::Signal(of) if of == Signal::HUP.as_raw() => "SIGHUP",
            Self::Signal(of) if of == Signal::QUIT.as_raw() => "SIGQUIT",
            Self::Run => "kill run",
            Self::Guardian => "kill guardian",
            Self::Both => "kill both",
            Self::Signal(_) => "signal run",
            Self::Stop => "stop run",
        }
    }
}

/// The moment.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// So long after its start.
    After(Duration),
    /// So long after the journal says that this phase of this step began.
    In(Phase, usize, Duration),
}

/// One drill.
#[derive(Debug, Clone)]
pub struct Aim {
    pub blow: Blow,
    pub moment: Moment,
    pub fault: Fault,
    /// How long each message between the run and the platform is on its way.
    pub on_the_way: Duration,
}

/// What is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Rules,
    RulesAndLatency,
}

const SIGNALS: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// Those in which something is, or may be, in place come more often.
const PHASES: [Phase; 9] = [
    Phase::Injecting,
    Phase::Undoing,
    Phase::Confirming,
    Phase::Observing,
    Phase::Verifying,
    Phase::Injecting,
    Phase::Preparing,
    Phase::Undoing,
    Phase::Baseline,
];

/// What is done by turns; of twenty, twelve are what the laws speak of first.
const BLOWS: [Blow; 20] = {
    let run = Blow::Run;
    let sent = Blow::Signal;
    [
        run,
        run,
        run,
        Blow::Guardian,
        run,
        sent(0),
        Blow::Both,
        run,
        run,
        sent(1),
        run,
        run,
        Blow::Both,
        run,
        sent(2),
        run,
        Blow::Guardian,
        Blow::Stop,
        sent(3),
        run,
    ]
};

/// The blows that are tried in every phase, and after each of which the run must leave nothing.
pub const EVERY_BLOW: [Blow; 5] = [
    Blow::Run,
    Blow::Signal(Signal::INT.as_raw()),
    Blow::Signal(Signal::TERM.as_raw()),
    Blow::Signal(Signal::HUP.as_raw()),
    Blow::Signal(Signal::QUIT.as_raw()),
];

/// Every phase that takes a time, in the order of a run.
pub const EVERY_PHASE: [Phase; 8] = [
    Phase::Baseline,
    Phase::Preparing,
    Phase::Injecting,
    Phase::Confirming,
    Phase::Observing,
    Phase::Undoing,
    Phase::Verifying,
    Phase::Recovering,
];

impl Aim {
    /// In this very phase, with messages that are slow enough to find it under way.
    pub fn at(blow: Blow, phase: Phase, dice: &mut ChaCha8Rng) -> Self {
        let first_or_second = usize::from(dice.random_range(0..2_u8));
        // A run recovers once, after its last step.
        let step = if phase == Phase::Recovering {
            1
        } else {
            first_or_second
        };
        let delay = Duration::from_micros(dice.random_range(0..20_000));
        Self {
            blow,
            moment: Moment::In(phase, step, delay),
            fault: Fault::RulesAndLatency,
            on_the_way: Duration::from_millis(dice.random_range(15..40)),
        }
    }

    pub fn of(number: u64, dice: &mut ChaCha8Rng) -> Self {
        let turn = usize::try_from(number).unwrap_or(0);
        let blow = match BLOWS[turn % BLOWS.len()] {
            // Each signal in each phase, as the turns go on.
            Blow::Signal(of) => {
                let of = usize::try_from(of).unwrap_or(0) + turn / BLOWS.len();
                Blow::Signal(SIGNALS[of % SIGNALS.len()].as_raw())
            }
            other @ (Blow::Run | Blow::Guardian | Blow::Both | Blow::Stop) => other,
        };
        let delay = Duration::from_micros(dice.random_range(0..60_000));
        let at_random = dice.random_range(0..4) == 0;
        let phase = PHASES[turn % PHASES.len()];
        let step = usize::from(dice.random_range(0..2_u8));
        let moment = if blow == Blow::Stop {
            Moment::In(Phase::Observing, 0, delay)
        } else if at_random {
            Moment::After(Duration::from_millis(dice.random_range(300..5_000)))
        } else {
            Moment::In(phase, step, delay)
        };
        let fault = match dice.random_range(0..2) {
            0 => Fault::Rules,
            _ => Fault::RulesAndLatency,
        };
        Self {
            blow,
            moment,
            fault,
            on_the_way: Duration::from_millis(dice.random_range(1..25)),
        }
    }
}
