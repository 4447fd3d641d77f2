//! What people do.

use super::{Action, User};
use crate::judge;
use crate::world::{Object, Secret, World};

pub(super) fn all(world: &World, actions: &mut Vec<Action>) {
    let left = world.left;
    let mut can = |left: u8, possible: bool, user: User| {
        if left > 0 && possible {
            actions.push(Action::User(user));
        }
    };
    if let Some(object) = world.object {
        can(left.deletes, !object.deleting, User::Delete);
        can(left.strips, object.ours, User::Strip);
        can(left.flips, true, User::Flip);
        can(left.holds, !object.foreign && !object.deleting, User::Hold);
        can(1, object.foreign, User::Unhold);
        can(left.lost_secrets, world.secret != Secret::None, User::DropSecret);
    } else {
        for with_finalizer in [false, true] {
            can(left.recreates, true, User::Recreate { with_finalizer });
        }
    }
}

pub(super) fn acts(world: &mut World, user: User) {
    if let User::Recreate { with_finalizer } = user {
        world.left.recreates -= 1;
        world.object = Some(Object { ours: with_finalizer, ..Object::new(2) });
    } else if user == User::DropSecret {
        world.left.lost_secrets -= 1;
        world.secret = Secret::None;
    } else {
        change(world, user);
    }
    world.collect();
    world.written(None);
}

fn change(world: &mut World, user: User) {
    let World { object: Some(object), left, .. } = world else { return };
    match user {
        User::Delete => {
            left.deletes -= 1;
            object.deleting = true;
        }
        User::Strip => {
            left.strips -= 1;
            object.ours = false;
            let stripped = *object;
            judge::stripped(world, stripped);
        }
        User::Flip => {
            left.flips -= 1;
            object.retain = !object.retain;
        }
        User::Hold => {
            left.holds -= 1;
            object.foreign = true;
        }
        _ => object.foreign = false,
    }
}
