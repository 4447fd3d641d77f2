use super::*;
use serde_json::json;

fn object(name: &str, value: u32) -> Value {
    json!({"metadata": {"name": name}, "value": value})
}

fn resource() -> Arc<str> {
    Arc::from("things")
}

fn values(objects: &Objects) -> Vec<(String, u64)> {
    objects.iter().map(|(key, object)| (key.to_string(), object["value"].as_u64().unwrap())).collect()
}

#[test]
fn every_revision_that_is_kept_can_be_shown_again() {
    let mut store = Store::new(100);
    let mut shown = vec![(store.revision(), store.at("things", store.revision()).unwrap().into_owned())];
    for step in 0..20 {
        let name = format!("a{}", step % 3);
        if step % 5 == 4 {
            store.remove(&resource(), &name);
        } else {
            store.put(&resource(), &name, object(&name, step));
        }
        shown.push((store.revision(), store.at("things", store.revision()).unwrap().into_owned()));
    }
    for (revision, then) in shown {
        assert_eq!(values(&store.at("things", revision).unwrap()), values(&then), "at {revision}");
    }
}

#[test]
fn an_object_carries_the_revision_of_its_write_and_a_removed_one_that_of_its_removal() {
    let mut store = Store::new(100);
    let made = store.put(&resource(), "a", object("a", 1));
    assert_eq!(made["metadata"]["resourceVersion"], "2");
    let gone = store.remove(&resource(), "a").unwrap();
    assert_eq!(gone["metadata"]["resourceVersion"], "3");
    assert!(store.remove(&resource(), "a").is_none());
    assert_eq!(store.revision(), 3);
}

#[test]
fn what_the_history_lost_is_refused_and_not_made_up() {
    let mut store = Store::new(2);
    for value in 0..5 {
        store.put(&resource(), "a", object("a", value));
    }
    assert_eq!(store.history(), 2);
    assert_eq!(store.at("things", 3), Err(Compacted { oldest: 4 }));
    assert_eq!(values(&store.at("things", 4).unwrap()), [("a".to_owned(), 2)]);
    assert_eq!(store.since(4).unwrap().count(), 2);
    store.compact(6);
    assert!(store.since(5).is_err());
    assert_eq!(store.since(6).unwrap().count(), 0);
}

#[test]
fn writes_to_another_resource_leave_a_resource_as_it_was() {
    let mut store = Store::new(10);
    store.put(&resource(), "a", object("a", 1));
    let then = store.revision();
    store.put(&Arc::from("others"), "a", object("a", 2));
    assert_eq!(values(&store.at("things", then).unwrap()), [("a".to_owned(), 1)]);
    assert_eq!(values(&store.at("others", then).unwrap()), []);
}
