//! The table of kinds (Chaos Mesh 2.8.3): to add one, add a row.

/// What a kind picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picks {
    /// Pods as a whole: a record's id is `ns/pod`.
    Pods,
    /// Containers of pods: `ns/pod/container`.
    Containers,
    /// Volumes of containers: `ns/pod/container/path`.
    Volumes,
    /// Machines of a cloud, by their ids.
    Cloud,
    /// Machines that run chaosd.
    Machines,
}

/// Whether the daemon of Chaos Mesh on the target's node does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Daemon {
    /// It does.
    Needed,
    /// The controller does it alone.
    Unneeded,
    /// The daemon does it for this one action only.
    NeededFor(&'static str),
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChaosKind {
    /// `NetworkChaos`.
    pub kind: &'static str,
    /// `networkchaos`; the same in singular and plural.
    pub plural: &'static str,
    /// Actions that are over once they are done: neither duration nor recovery.
    pub one_shot: &'static [&'static str],
    /// What it picks.
    pub picks: Picks,
    /// Who does the work.
    pub daemon: Daemon,
    /// The kind of the internal objects, one for each target and named as it, that hold its state.
    pub internal: Option<&'static str>,
    /// Why it never works, where that is known.
    pub defect: Option<&'static str>,
}

const fn row(kind: &'static str, plural: &'static str, picks: Picks, daemon: Daemon) -> ChaosKind {
    ChaosKind {
        kind,
        plural,
        one_shot: &[],
        picks,
        daemon,
        internal: None,
        defect: None,
    }
}

/// Every kind that breaks something, in the order of the alphabet.
pub const KINDS: &[ChaosKind] = &[
    ChaosKind {
        one_shot: &["ec2-restart"],
        ..row("AWSChaos", "awschaos", Picks::Cloud, Daemon::Unneeded)
    },
    ChaosKind {
        one_shot: &["vm-restart"],
        ..row("AzureChaos", "azurechaos", Picks::Cloud, Daemon::Unneeded)
    },
    row("BlockChaos", "blockchaos", Picks::Volumes, Daemon::Needed),
    row("DNSChaos", "dnschaos", Picks::Containers, Daemon::Needed),
    ChaosKind {
        one_shot: &["node-reset"],
        ..row("GCPChaos", "gcpchaos", Picks::Cloud, Daemon::Unneeded)
    },
    ChaosKind {
        internal: Some("podhttpchaos"),
        ..row("HTTPChaos", "httpchaos", Picks::Pods, Daemon::Needed)
    },
    ChaosKind {
        internal: Some("podiochaos"),
        ..row("IOChaos", "iochaos", Picks::Containers, Daemon::Needed)
    },
    row("JVMChaos", "jvmchaos", Picks::Containers, Daemon::Needed),
    ChaosKind {
        defect: Some(
            "it picks pods and then looks for containers, so that no injection ever succeeds (Chaos Mesh issue 4059)",
        ),
        ..row("KernelChaos", "kernelchaos", Picks::Pods, Daemon::Needed)
    },
    ChaosKind {
        internal: Some("podnetworkchaos"),
        ..row("NetworkChaos", "networkchaos", Picks::Pods, Daemon::Needed)
    },
    row(
        "PhysicalMachineChaos",
        "physicalmachinechaos",
        Picks::Machines,
        Daemon::Unneeded,
    ),
    ChaosKind {
        one_shot: &["pod-kill", "container-kill"],
        ..row(
            "PodChaos",
            "podchaos",
            Picks::Pods,
            Daemon::NeededFor("container-kill"),
        )
    },
    row(
        "StressChaos",
        "stresschaos",
        Picks::Containers,
        Daemon::Needed,
    ),
    row("TimeChaos", "timechaos", Picks::Containers, Daemon::Needed),
];

/// The row of a kind.
pub fn kind(name: &str) -> Option<&'static ChaosKind> {
    KINDS.iter().find(|row| row.kind == name)
}

impl ChaosKind {
    /// Whether a fault with this action ends by itself the moment it is in.
    pub fn is_one_shot(&self, action: Option<&str>) -> bool {
        action.is_some_and(|action| self.one_shot.contains(&action))
    }

    /// Whether a fault with this action needs the daemon on each target's node.
    pub fn needs_daemon(&self, action: Option<&str>) -> bool {
        match self.daemon {
            Daemon::Needed => true,
            Daemon::Unneeded => false,
            Daemon::NeededFor(one) => action == Some(one),
        }
    }

    /// What a fault with this action picks: a kill of containers names them.
    pub fn picks_with(&self, action: Option<&str>) -> Picks {
        match (self.kind, action) {
            ("PodChaos", Some("container-kill")) => Picks::Containers,
            _ => self.picks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_says_each_kind_once() {
        let names: Vec<&str> = KINDS.iter().map(|row| row.kind).collect();
        assert!(names.is_sorted());
        assert!(
            KINDS
                .iter()
                .all(|row| row.plural == row.kind.to_lowercase())
        );
    }

    #[test]
    fn an_action_tells_what_ends_by_itself_and_what_needs_the_daemon() {
        let pods = kind("PodChaos").unwrap();
        for (action, one_shot, daemon, picks) in [
            ("pod-kill", true, false, Picks::Pods),
            ("pod-failure", false, false, Picks::Pods),
            ("container-kill", true, true, Picks::Containers),
        ] {
            let action = Some(action);
            assert_eq!(pods.is_one_shot(action), one_shot);
            assert_eq!(pods.needs_daemon(action), daemon);
            assert_eq!(pods.picks_with(action), picks);
        }
        assert!(kind("Schedule").is_none());
    }
}
