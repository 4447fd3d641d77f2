//! What users do to a Bucket. The second operation of each is moved over every point by the sweeps.

use cosi_api::DeletionPolicy::{Delete, Retain};

use super::world::{Op, Scenario, Spec};
use crate::testing::Trigger;
use Trigger::{AtOnce, Gone, Idle, Soon};

/// A name without users yet.
pub(crate) const BASE: Scenario =
    Scenario { name: "", ops: Vec::new(), lag: None, moving: 1, never_ready: false, floor: (3, 2) };

fn dynamic() -> (Trigger, Op) {
    (Idle, Op::Create(Spec::DYNAMIC))
}

/// The scenarios in which the second operation may come at any point.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = deletions();
    all.extend(policies());
    all.extend(force());
    all.extend(successors());
    all.extend(neighbours());
    all
}

fn deletions() -> Vec<Scenario> {
    let scenario = |name, ops| Scenario { name, ops, ..BASE };
    let with_claim = vec![(Idle, Op::Delete), (AtOnce, Op::ClaimGoes)];
    let after = |first: Op| [vec![(Idle, first)], with_claim.clone()].concat();
    vec![
        scenario("deleted", after(Op::Create(Spec::DYNAMIC))),
        scenario("claim goes silently", vec![dynamic(), (Idle, Op::ClaimGoesSilently), (AtOnce, Op::Delete)]),
        scenario("deleted before its claim", vec![dynamic(), (Idle, Op::Delete), (Idle, Op::ClaimGoes)]),
        scenario(
            "deleted before its claim, which goes silently",
            vec![dynamic(), (Idle, Op::Delete), (Idle, Op::ClaimGoesSilently)],
        ),
        scenario(
            "claim can't be read",
            vec![dynamic(), (Idle, Op::ClaimUnreadable), (Idle, Op::Delete), (Idle, Op::ClaimGoes)],
        ),
        scenario("static", after(Op::Create(Spec::STATIC))),
        scenario("static and kept", after(Op::Create(Spec { policy: Retain, ..Spec::STATIC }))),
        scenario("let go", vec![dynamic(), (Idle, Op::Delete), (AtOnce, Op::ClaimGoes), (AtOnce, Op::LetGo)]),
        scenario(
            "held by others",
            vec![
                (Idle, Op::Create(Spec { held_by_others: true, ..Spec::DYNAMIC })),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
                (Idle, Op::ReleaseOthers),
            ],
        ),
    ]
}

fn policies() -> Vec<Scenario> {
    let scenario = |name, ops| Scenario { name, ops, ..BASE };
    let with_claim = vec![(Idle, Op::Delete), (AtOnce, Op::ClaimGoes)];
    vec![
        scenario("kept", [vec![(Idle, Op::Create(Spec::RETAIN))], with_claim.clone()].concat()),
        Scenario {
            // Somebody else's write can meet one of ours.
            floor: (4, 1),
            ..scenario(
                "kept after all",
                [vec![dynamic(), (Idle, Op::Policy(Retain))], with_claim.clone()].concat(),
            )
        },
        scenario(
            "deleted, then to be kept",
            vec![dynamic(), (Idle, Op::Delete), (AtOnce, Op::ClaimGoes), (AtOnce, Op::Policy(Retain))],
        ),
        scenario(
            "to be kept, then deleted after all",
            vec![
                (Idle, Op::Create(Spec::RETAIN)),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
                (AtOnce, Op::Policy(Delete)),
            ],
        ),
        Scenario {
            moving: 3,
            floor: (4, 2),
            ..scenario(
                "kept, then deleted after all",
                vec![
                    (Idle, Op::Create(Spec::RETAIN)),
                    (Idle, Op::Delete),
                    (AtOnce, Op::ClaimGoes),
                    (Idle, Op::Policy(Delete)),
                ],
            )
        },
        Scenario {
            moving: 3,
            floor: (4, 2),
            ..scenario(
                "deleted, then kept after all",
                vec![dynamic(), (Idle, Op::Delete), (AtOnce, Op::ClaimGoes), (Idle, Op::Policy(Retain))],
            )
        },
    ]
}

fn force() -> Vec<Scenario> {
    let scenario = |name, ops, floor| Scenario { name, ops, floor, ..BASE };
    vec![
        scenario(
            "finalizer stripped, then deleted",
            vec![dynamic(), (Idle, Op::Strip), (Idle, Op::Delete), (AtOnce, Op::ClaimGoes)],
            (5, 3),
        ),
        scenario(
            "finalizer stripped and soon deleted",
            vec![dynamic(), (Idle, Op::Strip), (Soon(1), Op::Delete), (AtOnce, Op::ClaimGoes)],
            (5, 3),
        ),
        scenario("deleted by force", vec![dynamic(), (Idle, Op::Force)], (3, 2)),
        scenario(
            "stripped and deleted at once",
            vec![dynamic(), (Idle, Op::Strip), (AtOnce, Op::Delete)],
            (3, 2),
        ),
    ]
}

fn successors() -> Vec<Scenario> {
    let scenario = |name, ops, floor| Scenario { name, ops, floor, ..BASE };
    vec![
        scenario(
            "re-created at once",
            vec![
                dynamic(),
                (Idle, Op::Force),
                (AtOnce, Op::Create(Spec::DYNAMIC)),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
            ],
            (6, 4),
        ),
        scenario(
            "re-created with our finalizer",
            vec![
                dynamic(),
                (Idle, Op::Force),
                (AtOnce, Op::Create(Spec { with_finalizer: true, ..Spec::DYNAMIC })),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
            ],
            (6, 4),
        ),
        scenario(
            "deleted by force while to be kept",
            vec![(Idle, Op::Create(Spec::RETAIN)), (Idle, Op::Force)],
            (3, 2),
        ),
        scenario(
            "deleted and re-created",
            vec![
                dynamic(),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
                (Idle, Op::Create(Spec::DYNAMIC)),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
            ],
            (6, 4),
        ),
        scenario(
            "deleted and re-created as soon as it is gone",
            vec![
                dynamic(),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
                (Gone, Op::Create(Spec::DYNAMIC)),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
            ],
            (6, 4),
        ),
        scenario(
            "status wiped",
            vec![dynamic(), (Idle, Op::WipeStatus), (Idle, Op::Delete), (AtOnce, Op::ClaimGoes)],
            (4, 3),
        ),
    ]
}

fn neighbours() -> Vec<Scenario> {
    let scenario = |name, ops, never_ready| Scenario { name, ops, never_ready, floor: (4, 2), ..BASE };
    vec![
        scenario(
            "driver learns the by-name RPC",
            vec![
                dynamic(),
                (Idle, Op::Driver { by_name: true }),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
            ],
            false,
        ),
        scenario(
            "driver loses the by-name RPC",
            vec![
                dynamic(),
                (Idle, Op::Driver { by_name: false }),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
            ],
            false,
        ),
        scenario(
            "somebody writes labels",
            vec![
                dynamic(),
                (Idle, Op::Touch),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
                (AtOnce, Op::Touch),
            ],
            false,
        ),
        scenario(
            "others take hold",
            vec![
                dynamic(),
                (Idle, Op::HoldByOthers),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
                (Idle, Op::ReleaseOthers),
            ],
            false,
        ),
        scenario(
            "bucket lost at the backend",
            vec![dynamic(), (Idle, Op::LoseBackend), (Idle, Op::ClaimGoes), (Idle, Op::Delete)],
            false,
        ),
        scenario(
            "name occupied",
            vec![
                (Idle, Op::OccupyName),
                (AtOnce, Op::Create(Spec::DYNAMIC)),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
            ],
            true,
        ),
    ]
}
