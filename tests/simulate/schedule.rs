//! What a seed stands for: who does what when, and what goes wrong.

use std::time::Duration;

use chaos_gameday::faults::simulated::{Behaviour, Operation, Pace};
use chaos_gameday::model::problem::{Problem, ProblemKind};

use crate::dice::Dice;

/// Where in its course a process can be struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before an event is written.
    Event,
    /// After one that is no reading was written.
    Milestone,
    /// Before bytes are appended.
    Append,
    /// Halfway through appending.
    Torn,
    /// Before a sync.
    Sync,
    /// After a sync.
    Synced,
    /// Before the world is called.
    Call,
    /// When the world has answered.
    Answer,
}

impl Place {
    pub const COUNT: usize = 8;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// When it passes a place for the so manieth time, from 0.
    Passing(Place, u64),
    /// At this millisecond of the schedule, or as soon as it is there.
    At(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// kill -9
    Kill,
    /// Every process ends, and of the journal stays what is on the disk.
    PowerLoss,
    /// A panic in the task that passes the place.
    Panic,
    /// SIGSTOP, and so many milliseconds later SIGCONT.
    Stop(u64),
}

/// What strikes a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doom {
    pub when: When,
    pub how: How,
}

/// What reaches the run from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Signal,
    Abort,
    Pause,
    Go,
    Note,
    Mark,
    Warning,
    LockLost,
    LockWarned,
}

/// What becomes of the world by others' doing, and of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    Restart,
    FaultRemoved,
    ForeignChange,
    Slept(u64),
    /// `chaos abort` from another terminal.
    AbortByHand,
    /// `chaos recover` from another terminal.
    RecoverByHand,
}

/// Whether there is a guardian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    None,
    Fails,
    Works,
}

/// A state of an SLO for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    Good,
    Bad,
    NoData,
    Down,
    /// Good and bad in turns.
    Flapping,
    /// Good, and the answer takes so many milliseconds.
    Slow(u64),
}

/// What goes wrong with the disk, in a thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskTrouble {
    pub appends: u32,
    pub cuts: u32,
    pub syncs: u32,
}

/// One schedule.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub seed: u64,
    /// Which of the plans.
    pub shape: u64,
    pub posted: Posted,
    /// In a thousand, for writes and for reads of the world.
    pub wild_writes: u32,
    pub wild_reads: u32,
    /// From this millisecond on the world does what it is told.
    pub tame_from_ms: u64,
    /// Between these milliseconds hardly anything is done, or answered, whatever else holds.
    pub storm: (u64, u64),
    /// How long a LocalStack takes for each answer, in milliseconds.
    pub sluggish_ms: u64,
    pub disk: DiskTrouble,
    /// For each SLO: from this millisecond on.
    pub weather: Vec<Vec<(u64, Weather)>>,
    pub wishes: Vec<(u64, Wish)>,
    pub happenings: Vec<(u64, Happening)>,
    pub run_dooms: Vec<Doom>,
    /// Of the guardians, in the order in which they are posted.
    pub guardian_dooms: Vec<Vec<Doom>>,
    /// Of whoever is called by hand afterwards.
    pub rescuer_dooms: Vec<Vec<Doom>>,
    /// How soon a run notices that its guardian died, and whether it finds another.
    pub replaced_after_ms: u64,
    pub replaceable: u32,
}

/// SLOs that a plan has at most.
pub const SLOS: usize = 2;
/// About as long as an undisturbed run takes.
const RUN_MS: u64 = 14_000;

impl Schedule {
    pub fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed, 0);
        let quiet = |dice: &mut Dice, levels: &[u32]| dice.pick(levels);
        let tame_from_ms = match dice.below(3) {
            0 => u64::MAX,
            1 => dice.below(RUN_MS),
            _ => dice.below(4 * RUN_MS),
        };
        Self {
            seed,
            shape: dice.below(1 << 32),
            posted: match dice.below(24) {
                0 | 1 => Posted::None,
                2 => Posted::Fails,
                _ => Posted::Works,
            },
            wild_writes: quiet(&mut dice, &[0, 0, 60, 250, 600, 950]),
            wild_reads: quiet(&mut dice, &[0, 0, 0, 40, 150, 500]),
            tame_from_ms,
            storm: storm(&mut dice),
            sluggish_ms: match dice.below(20) {
                0 => dice.below(9_500),
                _ => 0,
            },
            disk: DiskTrouble {
                appends: quiet(&mut dice, &[0, 0, 0, 0, 0, 8, 60]),
                cuts: quiet(&mut dice, &[0, 0, 300]),
                syncs: quiet(&mut dice, &[0, 0, 0, 0, 0, 40, 200]),
            },
            weather: (0..SLOS).map(|_| weather(&mut dice)).collect(),
            wishes: wishes(&mut dice),
            happenings: happenings(&mut dice),
            run_dooms: dooms(&mut dice, 600),
            guardian_dooms: (0..4).map(|_| dooms(&mut dice, 120)).collect(),
            rescuer_dooms: (0..3).map(|_| dooms(&mut dice, 300)).collect(),
            replaced_after_ms: dice.below(6_000),
            replaceable: dice.pick(&[0, 1, 3, 3]),
        }
    }
}

/// Long enough for an undo to give up in it, where there is one.
fn storm(dice: &mut Dice) -> (u64, u64) {
    if !dice.happens(150) {
        return (0, 0);
    }
    let from_ms = 2_000 + dice.below(RUN_MS);
    (from_ms, from_ms + 5_000 + dice.below(60_000))
}

fn weather(dice: &mut Dice) -> Vec<(u64, Weather)> {
    let mut all = vec![(0, Weather::Good)];
    if dice.happens(550) {
        return all;
    }
    for _ in 0..=dice.small(4) {
        let one = match dice.below(8) {
            0 | 1 => Weather::Bad,
            2 => Weather::NoData,
            3 => Weather::Down,
            4 => Weather::Flapping,
            5 => Weather::Slow(100 + dice.below(3_000)),
            6 => Weather::Slow(20_000),
            _ => Weather::Good,
        };
        let from = dice.below(RUN_MS + 4_000);
        all.push((from, one));
        if dice.happens(600) {
            all.push((from + dice.below(6_000), Weather::Good));
        }
    }
    all.sort_by_key(|(from, _)| *from);
    all
}

fn wishes(dice: &mut Dice) -> Vec<(u64, Wish)> {
    let count = dice.pick(&[0, 0, 0, 1, 1, 2, 5]);
    let mut all: Vec<_> = (0..count)
        .map(|_| {
            let wish = match dice.below(12) {
                0 | 1 => Wish::Signal,
                2 => Wish::Abort,
                3 | 4 => Wish::Pause,
                5 | 6 => Wish::Go,
                7 => Wish::Note,
                8 => Wish::Mark,
                9 => Wish::Warning,
                10 => Wish::LockLost,
                _ => Wish::LockWarned,
            };
            (dice.below(RUN_MS + 4_000), wish)
        })
        .collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

fn happenings(dice: &mut Dice) -> Vec<(u64, Happening)> {
    let count = dice.pick(&[0, 0, 0, 0, 1, 1, 2]);
    let mut all: Vec<_> = (0..count)
        .map(|_| {
            let happening = match dice.below(10) {
                0 | 1 => Happening::Restart,
                2 | 3 => Happening::FaultRemoved,
                4 => Happening::ForeignChange,
                5 => Happening::Slept(1_000 + dice.below(200_000)),
                6 | 7 => Happening::AbortByHand,
                _ => Happening::RecoverByHand,
            };
            (dice.below(2 * RUN_MS), happening)
        })
        .collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

fn dooms(dice: &mut Dice, in_thousand: u32) -> Vec<Doom> {
    if !dice.happens(in_thousand) {
        return Vec::new();
    }
    let count = 1 + u64::from(dice.happens(200));
    (0..count)
        .map(|_| {
            let place = |place, bound, dice: &mut Dice| When::Passing(place, dice.small(bound));
            let when = match dice.below(9) {
                0 => place(Place::Event, 120, dice),
                1 | 2 => place(Place::Milestone, 40, dice),
                3 => place(Place::Append, 120, dice),
                4 => place(Place::Torn, 120, dice),
                5 => place(Place::Sync, 12, dice),
                6 => place(Place::Synced, 12, dice),
                7 => match dice.below(2) {
                    0 => place(Place::Call, 16, dice),
                    _ => place(Place::Answer, 16, dice),
                },
                _ => When::At(dice.below(RUN_MS + 4_000)),
            };
            let how = match dice.below(8) {
                0..=3 => How::Kill,
                4 => How::PowerLoss,
                5 => How::Panic,
                _ => How::Stop(dice.pick(&[300, 2_000, 9_000, 25_000])),
            };
            Doom { when, how }
        })
        .collect()
}

/// How the world takes a call.
pub fn behaviour(dice: &mut Dice, wild: u32, operation: Operation) -> Behaviour {
    if !dice.happens(wild) {
        return Behaviour::Works;
    }
    match operation {
        Operation::Inject | Operation::Revert => wild_write(dice),
        Operation::Prepare | Operation::Confirm | Operation::VerifyGone => wild_read(dice),
    }
}

/// How it takes one in a storm.
pub fn stormy(dice: &mut Dice) -> Behaviour {
    match dice.below(20) {
        0 => Behaviour::Works,
        1..=4 => Behaviour::Hangs(dice.within(10_000)),
        _ => Behaviour::Fails(problem(dice)),
    }
}

fn wild_write(dice: &mut Dice) -> Behaviour {
    match dice.below(14) {
        0 => Behaviour::Fails(problem(dice)),
        1 => Behaviour::Hangs(dice.within(10_000)),
        2 => Behaviour::HalfInjects,
        3 => Behaviour::FailsHalfway(problem(dice)),
        4 | 5 => Behaviour::Lies,
        6 | 7 => Behaviour::LosesAnswer,
        8 | 9 => Behaviour::LandsLate(dice.within(10_000)),
        10 | 11 => Behaviour::LandsInParts(dice.within(10_000)),
        _ => slow(dice),
    }
}

fn wild_read(dice: &mut Dice) -> Behaviour {
    match dice.below(5) {
        0 | 1 => Behaviour::Fails(problem(dice)),
        2 => Behaviour::Hangs(dice.within(10_000)),
        _ => slow(dice),
    }
}

fn slow(dice: &mut Dice) -> Behaviour {
    let lands = dice.within(5_000);
    Behaviour::Slow(Pace {
        asks: dice.within(12_000),
        lands,
        answers: lands + dice.within(4_000),
    })
}

fn problem(dice: &mut Dice) -> Problem {
    let (kind, message) = dice.pick(&[
        (ProblemKind::Unreachable, "nobody answers"),
        (ProblemKind::Unexpected, "500 and no reason"),
        (ProblemKind::Refused, "the platform says no"),
    ]);
    Problem::new(kind, message)
}

/// No call takes longer in these worlds; beyond it something hangs for good.
pub const LONGEST: Duration = Duration::from_secs(3 * 3_600);
