use super::*;
use crate::model::units::Span;

#[test]
fn what_lies_outside_of_the_cluster_and_what_never_works_is_refused() {
    for (name, usable_now) in [
        ("NetworkChaos", true),
        ("PodChaos", true),
        ("AWSChaos", false),
        ("AzureChaos", false),
        ("GCPChaos", false),
        ("PhysicalMachineChaos", false),
        ("KernelChaos", false),
        ("Schedule", false),
    ] {
        let fault = ChaosMeshFault {
            context: None,
            namespace: None,
            chaos_kind: name.to_owned(),
            spec: json!({}),
            blast_radius: Percent::ALL,
            hold: Span::ZERO,
            position: 0,
        };
        assert_eq!(usable(&fault).is_ok(), usable_now, "{name}");
    }
}
