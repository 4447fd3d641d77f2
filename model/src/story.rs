//! A path in words.

use cosi_lifecycle::Rpc;

use crate::Bounds;
use crate::moves::{Action, Fault, User, intended, is_conditioned};
use crate::rules::Step;
use crate::world::{Call, Phase, Role, Who, World};

/// Each step as a line, then what is left.
pub(crate) fn tell(bounds: &Bounds, path: &[(World, Option<Action>)]) -> Vec<String> {
    let steps = path.iter().filter_map(|(world, action)| Some(line(bounds, world, (*action)?)));
    let end = path.last().map(|(world, _)| rest(world)).unwrap_or_default();
    steps.chain(end).collect()
}

/// Who, in a column, and what.
fn line(bounds: &Bounds, world: &World, action: Action) -> String {
    let (who, what) = match action {
        Action::Fault(fault) => fails(bounds, world, fault),
        Action::User(user) => ("user".to_owned(), acts(user)),
        Action::Arrive(n) => ("driver".to_owned(), format!("gets {}", called(world, n))),
        Action::Land(n) => ("backend".to_owned(), format!("does {}", called(world, n))),
        Action::Vanish(n) => ("driver".to_owned(), format!("drops {}", called(world, n))),
        Action::Take(who)
        | Action::Look(who)
        | Action::Act(who)
        | Action::Send(who)
        | Action::GraceOver(who)
        | Action::SuccessionOver(who)
        | Action::Will(who)
        | Action::Exit(who) => (name(who), works(bounds, world, who, action)),
    };
    format!("{who:<9} {what}")
}

fn name(who: Who) -> String {
    format!("sidecar {who:?}")
}

fn works(bounds: &Bounds, world: &World, who: Who, action: Action) -> String {
    match action {
        Action::Take(_) => "takes the lease".to_owned(),
        Action::Look(_) => format!("looks: {}", seen(world)),
        Action::Act(_) => step(bounds, world, who),
        Action::Send(_) => match world.process(who).phase {
            Phase::Cleared { call, .. } if world.process(who).role == Role::Lapsed => {
                format!("wakes up and sends {}", request(call))
            }
            Phase::Cleared { call, .. } => format!("sends {}", request(call)),
            _ => String::new(),
        },
        Action::GraceOver(_) => "waited out the grace".to_owned(),
        Action::SuccessionOver(_) => "waited out its predecessor's calls".to_owned(),
        Action::Will(_) => format!("without its lease looks once more: {}", seen(world)),
        _ => "without its lease ends, and is started again".to_owned(),
    }
}

fn step(bounds: &Bounds, world: &World, who: Who) -> String {
    let step = intended(bounds, world, who);
    let what = match step {
        Step::Wait => "waits".to_owned(),
        Step::Intend => "writes its finalizer".to_owned(),
        Step::Call(call) => format!("decides on {} and looks at its lease", request(call)),
        Step::Record => "writes id and readiness".to_owned(),
        Step::Release => "takes its finalizer off".to_owned(),
        Step::Reserve => "creates the Secret".to_owned(),
        Step::Fill(key) => format!("writes key {key} into the Secret"),
        Step::Close => "writes that the access is not ready".to_owned(),
        Step::DropSecret => "deletes the Secret".to_owned(),
    };
    let stale = matches!(world.process(who).phase, Phase::Looked(view) if view.stale);
    let lapsed = world.process(who).role == Role::Lapsed;
    match step {
        Step::Call(_) if lapsed => "has no lease any more, and sends nothing".to_owned(),
        step if stale && step.writes() && is_conditioned(bounds, step) => format!("{what}: CONFLICT"),
        step if stale && step.writes() => format!("{what}, though the object was changed since"),
        _ => what,
    }
}

fn fails(bounds: &Bounds, world: &World, fault: Fault) -> (String, String) {
    match fault {
        Fault::Crash(who) => (name(who), "DIES, and is started again".to_owned()),
        Fault::Lapse(who) => (name(who), "is PAUSED until after the end of its lease".to_owned()),
        Fault::LoseWriteAnswer(who) => {
            (name(who), format!("{}, and the answer is LOST", step(bounds, world, who)))
        }
        Fault::GiveUp(n) => caller(world, n, "gets NO ANSWER to"),
        Fault::AnswerError(n) => driver(world, n, "answers INTERNAL and goes on with"),
        Fault::LoseAnswer(n) => driver(world, n, "does, with its answer LOST,"),
        Fault::HalfDone(n) => driver(world, n, "answers PERMISSION_DENIED, having done"),
        Fault::Refuse(n) => driver(world, n, "answers PERMISSION_DENIED to"),
    }
}

fn caller(world: &World, number: u8, what: &str) -> (String, String) {
    let who = world.flights.get(number).map_or(Who::A, |flight| flight.sender);
    (name(who), format!("{what} {}", called(world, number)))
}

fn driver(world: &World, number: u8, what: &str) -> (String, String) {
    ("driver".to_owned(), format!("{what} {}", called(world, number)))
}

fn acts(user: User) -> String {
    match user {
        User::Delete => "deletes the object",
        User::Strip => "takes the sidecar's finalizer off",
        User::Recreate { with_finalizer: false } => "makes an object with the same name",
        User::Recreate { with_finalizer: true } => {
            "makes an object with the same name and the sidecar's finalizer"
        }
        User::Flip => "changes the deletion policy",
        User::Hold => "puts a finalizer of their own on the object",
        User::Unhold => "takes their own finalizer off",
        User::DropSecret => "deletes the Secret",
    }
    .to_owned()
}

fn called(world: &World, number: u8) -> String {
    world
        .flights
        .get(number)
        .map(|f| format!("{} of {}", request(f.call), name(f.sender)))
        .unwrap_or_default()
}

fn request(call: Call) -> String {
    let Call { rpc, uid, id, replay } = call;
    match rpc {
        Rpc::DeleteBucket | Rpc::RevokeBucketAccess => format!("{rpc}(id {id}) for uid {uid}"),
        _ if replay => format!("{rpc} again, for the id of uid {uid}"),
        _ => format!("{rpc} for uid {uid}"),
    }
}

fn seen(world: &World) -> String {
    let Some(object) = world.object else { return "no object".to_owned() };
    let policy = if object.retain { "Retain" } else { "Delete" };
    let state = if object.deleting { "deleting" } else { "live" };
    let ours = if object.ours { "our finalizer" } else { "no finalizer of ours" };
    let id = match object.id {
        Some(id) if object.ready => format!("Ready with id {id}"),
        Some(id) => format!("id {id}, not Ready"),
        None => "no id".to_owned(),
    };
    format!("uid {}, {state}, {ours}, policy {policy}, {id}", object.uid)
}

/// What is left at the end.
fn rest(world: &World) -> Vec<String> {
    let things: Vec<_> = world
        .backend
        .things()
        .map(|(id, thing)| format!("id {id} made for uid {} (key {})", thing.by, thing.key))
        .collect();
    let things = if things.is_empty() { "nothing".to_owned() } else { things.join(", ") };
    vec![
        format!("at the API server: {}; Secret: {:?}", seen(world), world.secret),
        format!("at the backend: {things}"),
    ]
}
