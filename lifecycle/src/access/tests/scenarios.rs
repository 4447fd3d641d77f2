//! What users do to an access. The second operation of each is moved over every point by the sweeps, if no other is named.

use super::world::{Filled, Op, Reachable, Scenario, Spec};
use crate::testing::Trigger::{self, AtOnce, Gone, Idle, Soon};

/// A name without users yet. Two buckets cost five writes to grant and six to revoke.
pub(crate) const BASE: Scenario =
    Scenario { name: "", ops: Vec::new(), lag: None, moving: 1, never_ready: false, floor: (11, 2) };

const A: &str = super::world::SECRETS[0];
const BUCKET: &str = super::world::BUCKETS[0];

fn two() -> (Trigger, Op) {
    (Idle, Op::Create(Spec::TWO))
}

/// The scenarios in which one operation may come at any point.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = deletions();
    all.extend(secrets());
    all.extend(buckets());
    all.extend(hand_overs());
    all.extend(force());
    all.extend(neighbours());
    all
}

fn scenario(name: &'static str, floor: (usize, usize), ops: Vec<(Trigger, Op)>) -> Scenario {
    Scenario { name, ops, floor, ..BASE }
}

fn deletions() -> Vec<Scenario> {
    vec![
        scenario("deleted", (11, 2), vec![two(), (Idle, Op::Delete)]),
        scenario("one bucket", (7, 2), vec![(Idle, Op::Create(Spec::ONE)), (Idle, Op::Delete)]),
        scenario("service account", (11, 2), vec![(Idle, Op::Create(Spec::SERVICE)), (Idle, Op::Delete)]),
        scenario("let go", (11, 2), vec![two(), (Idle, Op::Delete), (AtOnce, Op::LetGo)]),
        scenario("namespace goes", (11, 2), vec![two(), (Idle, Op::NamespaceGoes)]),
        scenario(
            "deleted and re-created as soon as it is gone",
            (22, 4),
            vec![two(), (Idle, Op::Delete), (Gone, Op::Create(Spec::TWO)), (Idle, Op::Delete)],
        ),
        Scenario {
            never_ready: true,
            ..scenario(
                "two claims, one Secret",
                (3, 0),
                vec![(Idle, Op::Create(Spec::SHARED)), (Idle, Op::Delete)],
            )
        },
    ]
}

fn secrets() -> Vec<Scenario> {
    vec![
        scenario("Secret deleted", (18, 3), vec![two(), (Idle, Op::DeleteSecret(A)), (Idle, Op::Delete)]),
        scenario("Secret emptied", (18, 3), vec![two(), (Idle, Op::EmptySecret(A)), (Idle, Op::Delete)]),
        scenario(
            "Secret taken by somebody else, and freed",
            (20, 3),
            vec![two(), (Idle, Op::TakeSecret(A)), (Idle, Op::FreeSecret(A)), (Idle, Op::Delete)],
        ),
        scenario(
            "Secret taken by somebody else",
            (20, 3),
            vec![two(), (Idle, Op::TakeSecret(A)), (Idle, Op::Delete)],
        ),
        Scenario {
            moving: 2,
            ..scenario(
                "Secret of somebody else",
                (20, 3),
                vec![(Idle, Op::TakeSecret(A)), (AtOnce, Op::Create(Spec::TWO)), (Idle, Op::Delete)],
            )
        },
        Scenario {
            moving: 2,
            ..scenario(
                "Secret of a predecessor",
                (20, 3),
                vec![(Idle, Op::Leftover(A)), (AtOnce, Op::Create(Spec::TWO)), (Idle, Op::Delete)],
            )
        },
        scenario(
            "Secret held by others",
            (18, 3),
            vec![
                two(),
                (Idle, Op::HoldSecret(A, true)),
                (Idle, Op::Delete),
                (Idle, Op::HoldSecret(A, false)),
            ],
        ),
        scenario("Secret stripped", (18, 3), vec![two(), (Idle, Op::StripSecret(A)), (Idle, Op::Delete)]),
        scenario(
            "Secret stripped and deleted",
            (18, 3),
            vec![two(), (Idle, Op::StripSecret(A)), (AtOnce, Op::DeleteSecret(A)), (Idle, Op::Delete)],
        ),
    ]
}

fn buckets() -> Vec<Scenario> {
    let goes = |name, state| {
        let ops = vec![
            two(),
            (Idle, Op::Bucket(BUCKET, Some(state))),
            (Idle, Op::Bucket(BUCKET, None)),
            (Idle, Op::Delete),
        ];
        scenario(name, (13, 2), ops)
    };
    vec![
        goes("Bucket is deleted, and comes back", Reachable::Deleting),
        goes("Bucket has no id for a while", Reachable::NoId),
        Scenario {
            moving: 2,
            ..scenario(
                "Bucket never was there",
                (13, 2),
                vec![
                    (Idle, Op::Bucket(BUCKET, Some(Reachable::Missing))),
                    (AtOnce, Op::Create(Spec::TWO)),
                    (Idle, Op::Delete),
                ],
            )
        },
        scenario(
            "claim and access go together",
            (13, 2),
            vec![two(), (Idle, Op::Bucket(BUCKET, Some(Reachable::ClaimDeleting))), (AtOnce, Op::Delete)],
        ),
        scenario(
            "Bucket is made anew",
            (13, 2),
            vec![two(), (Idle, Op::Bucket(BUCKET, Some(Reachable::OtherId))), (Idle, Op::Delete)],
        ),
    ]
}

fn hand_overs() -> Vec<Scenario> {
    let bare = || (Idle, Op::Create(Spec::BARE));
    vec![
        scenario(
            "handed over in two parts",
            (13, 2),
            vec![
                bare(),
                (Idle, Op::HandOver(Filled::Part)),
                (Idle, Op::HandOver(Filled::All)),
                (Idle, Op::Delete),
            ],
        ),
        scenario(
            "deleted before it was handed over in full",
            (13, 2),
            vec![bare(), (Idle, Op::HandOver(Filled::Part)), (Idle, Op::Delete)],
        ),
        Scenario {
            moving: 2,
            ..scenario(
                "handed over late",
                (11, 2),
                vec![bare(), (Idle, Op::HandOver(Filled::All)), (Idle, Op::Delete)],
            )
        },
        scenario(
            "taken back and given again",
            (13, 3),
            vec![two(), (Idle, Op::TakeBack(true)), (Idle, Op::TakeBack(false)), (Idle, Op::Delete)],
        ),
        scenario(
            "taken back, deleted and given again",
            (13, 3),
            vec![two(), (Idle, Op::TakeBack(true)), (Idle, Op::Delete), (Idle, Op::TakeBack(false))],
        ),
        scenario("finished too early", (13, 3), vec![two(), (Idle, Op::Finish), (Idle, Op::Delete)]),
        scenario(
            "status wiped",
            (20, 4),
            vec![two(), (Idle, Op::WipeStatus), (Idle, Op::HandOver(Filled::All)), (Idle, Op::Delete)],
        ),
    ]
}

fn force() -> Vec<Scenario> {
    vec![
        scenario("deleted by force", (11, 2), vec![two(), (Idle, Op::Force)]),
        scenario(
            "deleted, and soon by force",
            // A watch that lags may show it alive once more: Secrets are made in vain.
            (17, 3),
            vec![two(), (Idle, Op::Delete), (Soon(3), Op::Force)],
        ),
        scenario(
            "re-created at once",
            (24, 4),
            vec![two(), (Idle, Op::Force), (AtOnce, Op::Create(Spec::TWO)), (Idle, Op::Delete)],
        ),
        scenario(
            "finalizer stripped, then deleted",
            (13, 3),
            vec![two(), (Idle, Op::Strip), (Idle, Op::Delete)],
        ),
        scenario(
            "finalizer stripped and soon deleted",
            (13, 3),
            vec![two(), (Idle, Op::Strip), (Soon(1), Op::Delete)],
        ),
    ]
}

fn neighbours() -> Vec<Scenario> {
    vec![
        scenario(
            "driver learns the by-name RPC",
            (11, 2),
            vec![two(), (Idle, Op::Driver { by_name: true }), (Idle, Op::Delete)],
        ),
        scenario(
            "driver loses the by-name RPC",
            (11, 4),
            vec![two(), (Idle, Op::Driver { by_name: false }), (AtOnce, Op::Delete)],
        ),
        scenario(
            "somebody writes labels",
            (13, 2),
            vec![two(), (Idle, Op::Touch), (Idle, Op::Delete), (AtOnce, Op::Touch)],
        ),
        scenario(
            "others take hold",
            (13, 2),
            vec![two(), (Idle, Op::HoldByOthers), (Idle, Op::Delete), (Idle, Op::ReleaseOthers)],
        ),
        scenario(
            "account lost at the backend",
            (13, 3),
            vec![two(), (Idle, Op::LoseBackend), (Idle, Op::Delete)],
        ),
    ]
}
