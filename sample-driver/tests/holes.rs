//! Each known way around an account's rights is shut, for somebody with a valid key who writes requests by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::{fs, path::Path, time::Duration};

use aws_sdk_s3::{
    presigning::PresigningConfig,
    primitives::ByteStream,
    types::{CompletedMultipartUpload, CompletedPart, Delete, ObjectIdentifier},
};
use common::{
    signed::Signed,
    world::{World, code, get, id, on_own, put, request},
};
use cosi_sample_driver::store::{AccountRequest, Contents, KeyPair, Scope};
use rstest::rstest;

/// In the bucket that the account must not reach.
const THEIRS: &str = "canary: theirs";

/// A world with an object in either bucket.
async fn world() -> World {
    let world = World::new().await;
    put(&world.operator(), "other-bucket", "secret", THEIRS).await;
    put(&world.operator(), "own-bucket", "key", "own").await;
    world
}

/// All files below a folder, with what is in them; the ledger's and the server's own aside.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.ends_with("ledger.redb") {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[rstest]
#[case::plain("/own-bucket/../other-bucket/secret")]
#[case::deeper("/own-bucket/a/../../../other-bucket/objects/secret")]
#[case::dots_encoded("/own-bucket/%2e%2e/other-bucket/secret")]
#[case::dots_encoded_in_capitals("/own-bucket/%2E%2E/%2E%2E/other-bucket/objects/secret")]
#[case::slash_encoded("/own-bucket/..%2fother-bucket%2Fsecret")]
#[case::all_encoded("/own-bucket/%2e%2e%2f%2e%2e%2fother-bucket%2fobjects%2fsecret")]
#[case::one_dot("/own-bucket/./key")]
#[case::one_dot_encoded("/own-bucket/%2e/key")]
#[case::absolute("/own-bucket//other-bucket/secret")]
#[case::absolute_encoded("/own-bucket/%2Fother-bucket/secret")]
#[case::empty_segment("/own-bucket/a//key")]
#[case::folder("/own-bucket/a/")]
#[case::no_bucket("//other-bucket/secret")]
#[case::dot_as_bucket("/./other-bucket/secret")]
#[case::dots_as_bucket("/../other-bucket/secret")]
#[case::dots_as_bucket_encoded("/%2e%2e/other-bucket/secret")]
#[case::other_bucket_first("/other-bucket/../own-bucket/key")]
#[case::the_ledger("/own-bucket/../../../ledger.redb")]
#[case::its_own_metadata("/own-bucket/../.upload-00000000-0000-0000-0000-000000000000.json")]
#[case::zero("/own-bucket/a%00b")]
#[case::backslash_in_bucket("/own-bucket%5c..%5cother-bucket/secret")]
#[case::slash_in_bucket("/own-bucket%2f..%2fother-bucket/secret")]
#[tokio::test]
async fn a_path_that_leads_elsewhere_is_refused_however_it_is_written(#[case] path: &str) {
    let world = world().await;
    let before = files(&world.data.path().join("buckets"));
    for method in ["GET", "HEAD", "PUT", "DELETE"] {
        let answer = Signed::new(&world.endpoint, &world.account, method, path).send().await;
        assert!((400..500).contains(&answer.status), "{method} {path}: {answer:?}");
        assert!(!answer.text.contains(THEIRS), "{method} {path}");
        assert_ne!(answer.code(), "SignatureDoesNotMatch", "{method} {path}: refused for another reason");
    }
    assert_eq!(files(&world.data.path().join("buckets")), before);
}

/// Encoded twice, it is a key like any other: a name in the bucket, never a way out of it.
#[tokio::test]
async fn a_path_that_is_encoded_twice_stays_in_its_bucket() {
    let world = world().await;
    let path = "/own-bucket/%252e%252e%252fother-bucket%252fsecret";
    assert_eq!(Signed::new(&world.endpoint, &world.account, "GET", path).send().await.code(), "NoSuchKey");
    assert_eq!(Signed::new(&world.endpoint, &world.account, "PUT", path).send().await.status, 200);
    let folder = world.data.path().join("buckets/own-bucket/objects");
    assert!(folder.join("%2e%2e%2fother-bucket%2fsecret").exists());
    assert_eq!(get(&world.operator(), "other-bucket", "secret").await, THEIRS.as_bytes());
}

#[rstest]
#[case("other-bucket/secret")]
#[case("/other-bucket/secret")]
#[case("other-bucket%2Fsecret")]
#[case("own-bucket/../other-bucket/secret")]
#[case("/own-bucket/%2e%2e/%2e%2e/other-bucket/objects/secret")]
#[case("own-bucket%2F..%2F..%2Fother-bucket%2Fobjects%2Fsecret")]
#[case("own-bucket//key")]
#[case("../other-bucket/secret")]
#[case("other-bucket/secret?versionId=null")]
#[case("arn:aws:s3:anywhere-1:123456789012:accesspoint/other-bucket/object/secret")]
#[case("arn:aws:s3-outposts:anywhere-1:123456789012:outpost/own-bucket/object/secret")]
#[tokio::test]
async fn a_copy_takes_nothing_from_elsewhere_however_its_source_is_written(#[case] source: &str) {
    let world = world().await;
    let s3 = world.account();
    let upload = s3.create_multipart_upload().bucket("own-bucket").key("part").send().await.unwrap();
    let part = format!("/own-bucket/part?partNumber=1&uploadId={}", upload.upload_id().unwrap());
    for path in ["/own-bucket/copy", part.as_str()] {
        let more = [("x-amz-copy-source", source)];
        let answer = Signed::with(&world.endpoint, &world.account, "PUT", path, &more).send().await;
        assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
        assert_ne!(answer.code(), "SignatureDoesNotMatch", "{path}");
    }
    assert_eq!(code(s3.head_object().bucket("own-bucket").key("copy").send().await), "NotFound");
    for (file, content) in files(&world.data.path().join("buckets/own-bucket")) {
        assert!(!String::from_utf8_lossy(&content).contains(THEIRS), "{file}");
    }
}

#[rstest]
#[tokio::test]
async fn a_list_shows_nothing_from_elsewhere(
    #[values("../", "../../other-bucket/objects/", "/other-bucket/", "..")] prefix: &str,
    #[values(None, Some("/"))] delimiter: Option<&str>,
) {
    let world = world().await;
    let s3 = world.account();
    let list = s3.list_objects_v2().bucket("own-bucket").prefix(prefix);
    if let Ok(found) = list.set_delimiter(delimiter.map(str::to_owned)).send().await {
        assert!(found.contents().is_empty() && found.common_prefixes().is_empty(), "{found:?}");
    }
    let list = s3.list_objects().bucket("own-bucket").prefix(prefix).marker("../");
    if let Ok(found) = list.set_delimiter(delimiter.map(str::to_owned)).send().await {
        assert!(found.contents().is_empty() && found.common_prefixes().is_empty(), "{found:?}");
    }
}

/// Everything that isn't about objects. Some of it the server doesn't know at all (501).
#[rstest]
#[case("GET", "/")]
#[case("PUT", "/new-bucket")]
#[case("DELETE", "/own-bucket")]
#[case("GET", "/own-bucket?session")]
#[case("GET", "/own-bucket?versions")]
#[case("POST", "/own-bucket/key?restore")]
#[case("POST", "/own-bucket/key?select&select-type=2")]
#[case("GET", "/own-bucket/key?attributes")]
#[case("GET", "/own-bucket/key?torrent")]
#[tokio::test]
async fn an_account_does_nothing_but_use_objects(#[case] method: &str, #[case] path: &str) {
    let world = world().await;
    let more = [("x-amz-object-attributes", "ETag")];
    for key in [&world.account, &operator()] {
        if key.access_key == "OPERATOR" && (method, path) == ("GET", "/") {
            continue;
        }
        let answer = Signed::with(&world.endpoint, key, method, path, &more).send().await;
        assert!([403, 501].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(world.store.list().unwrap(), [id("other-bucket"), id("own-bucket")]);
}

/// Whoever can set one of these gets rights, or takes them, beside what was granted.
#[rstest]
#[tokio::test]
async fn an_account_neither_reads_nor_changes_settings_of_a_bucket_or_object(
    #[values("GET", "PUT", "DELETE")] method: &str,
    #[values("/own-bucket", "/own-bucket/key")] path: &str,
) {
    let world = world().await;
    let settings = [
        "acl",
        "tagging",
        "policy",
        "cors",
        "lifecycle",
        "website",
        "notification",
        "replication",
        "encryption",
        "versioning",
        "logging",
        "accelerate",
        "requestPayment",
        "ownershipControls",
        "publicAccessBlock",
        "object-lock",
        "retention",
        "legal-hold",
        "policyStatus",
        "intelligent-tiering&id=1",
        "analytics&id=1",
        "inventory&id=1",
        "metrics&id=1",
    ];
    for setting in settings {
        let path = format!("{path}?{setting}");
        let answer = Signed::new(&world.endpoint, &world.account, method, &path).send().await;
        assert_ne!(answer.code(), "SignatureDoesNotMatch");
        if answer.status >= 400 {
            assert!([400, 403, 405, 411, 501].contains(&answer.status), "{method} {path}: {answer:?}");
            continue;
        }
        // A word that is no setting of this kind of thing is ignored: it was a request for the thing itself.
        let list_or_object =
            answer.text.contains("<ListBucketResult") || path.starts_with("/own-bucket/key?");
        assert!(list_or_object, "{method} {path}: {answer:?}");
        put(&world.operator(), "own-bucket", "key", "own").await;
    }
    assert_eq!(world.store.list().unwrap().len(), 2);
}

fn operator() -> KeyPair {
    KeyPair { access_key: "OPERATOR".into(), secret: "secret".into() }
}

/// Reads and writes of every kind that is offered, by hand, so that none is forgotten by a client library.
const READS: [(&str, &str); 7] = [
    ("GET", "/own-bucket/key"),
    ("HEAD", "/own-bucket/key"),
    ("GET", "/own-bucket/key?versionId=null"),
    ("GET", "/own-bucket"),
    ("GET", "/own-bucket?list-type=2"),
    ("HEAD", "/own-bucket"),
    ("GET", "/own-bucket?location"),
];
const UPLOAD: &str = "00000000-0000-0000-0000-000000000000";
const WRITES: [(&str, &str); 9] = [
    ("PUT", "/own-bucket/new"),
    ("DELETE", "/own-bucket/key"),
    ("POST", "/own-bucket?delete"),
    ("POST", "/own-bucket/new?uploads"),
    ("PUT", "/own-bucket/new?partNumber=1&uploadId="),
    ("POST", "/own-bucket/new?uploadId="),
    ("GET", "/own-bucket/new?uploadId="),
    ("DELETE", "/own-bucket/new?uploadId="),
    ("GET", "/own-bucket?uploads"),
];

async fn status(world: &World, key: &KeyPair, (method, path): (&str, &str)) -> u16 {
    let upload = if path.ends_with('=') { UPLOAD } else { "" };
    Signed::new(&world.endpoint, key, method, &format!("{path}{upload}")).send().await.status
}

/// COSI-GRANT-5.
#[tokio::test]
async fn a_read_only_account_reads_in_every_way_and_writes_in_none() {
    let world = world().await;
    let reader = world.store.grant(on_own("reader", true, false)).await.unwrap();
    let before = files(&world.data.path().join("buckets"));
    for read in READS {
        assert_eq!(status(&world, &reader, read).await, 200, "{read:?}");
    }
    for write in WRITES {
        assert_eq!(status(&world, &reader, write).await, 403, "{write:?}");
    }
    for copy in ["/own-bucket/copy", "/own-bucket/copy?partNumber=1&uploadId=x"] {
        let more = [("x-amz-copy-source", "own-bucket/key")];
        assert_eq!(Signed::with(&world.endpoint, &reader, "PUT", copy, &more).send().await.status, 403);
    }
    assert_eq!(files(&world.data.path().join("buckets")), before);
}

/// COSI-GRANT-5.
#[tokio::test]
async fn a_write_only_account_writes_and_reads_in_no_way() {
    let world = world().await;
    let writer = world.store.grant(on_own("writer", false, true)).await.unwrap();
    for read in READS {
        assert_eq!(status(&world, &writer, read).await, 403, "{read:?}");
    }
    for copy in ["/own-bucket/copy", "/own-bucket/copy?partNumber=1&uploadId=x"] {
        let more = [("x-amz-copy-source", "own-bucket/key")];
        assert_eq!(Signed::with(&world.endpoint, &writer, "PUT", copy, &more).send().await.status, 403);
    }
    for write in WRITES {
        assert_ne!(status(&world, &writer, write).await, 403, "{write:?}");
    }
    let s3 = world.client(&writer);
    put(&s3, "own-bucket", "new", "written").await;
    let keys = ["new", "key"].map(|key| ObjectIdentifier::builder().key(key).build().unwrap());
    let delete = Delete::builder().set_objects(Some(keys.into())).build().unwrap();
    s3.delete_objects().bucket("own-bucket").delete(delete).send().await.unwrap();
    assert!(
        world.operator().list_objects_v2().bucket("own-bucket").send().await.unwrap().contents().is_empty()
    );
}

#[tokio::test]
async fn an_account_on_several_buckets_has_in_each_the_mode_that_was_granted_for_it() {
    let world = world().await;
    let (read, write) = (Scope { read: true, write: false }, Scope { read: false, write: true });
    let buckets = [(id("own-bucket"), read), (id("other-bucket"), write)].into();
    let key = world.store.grant(AccountRequest { name: "several".into(), buckets }).await.unwrap();
    let s3 = world.client(&key);
    assert_eq!(get(&s3, "own-bucket", "key").await, b"own");
    put(&s3, "other-bucket", "new", "written").await;
    assert_eq!(code(s3.put_object().bucket("own-bucket").key("new").send().await), "AccessDenied");
    assert_eq!(code(s3.get_object().bucket("other-bucket").key("secret").send().await), "AccessDenied");
    // From where it may not read to where it may not write, and from where it may not read to where it may.
    for to in ["own-bucket", "other-bucket"] {
        let copy = s3.copy_object().bucket(to).key("copy").copy_source("other-bucket/secret").send().await;
        assert_eq!(code(copy), "AccessDenied", "{to}");
    }
}

#[tokio::test]
async fn an_unsigned_request_is_refused() {
    let world = world().await;
    for (method, path) in READS.into_iter().chain(WRITES).chain([("GET", "/")]) {
        let answer = Signed::anonymous(&world.endpoint, method, path).send().await;
        assert_eq!(answer.status, 403, "{method} {path}: {answer:?}");
    }
}

/// COSI-REVOKE-2: no signature outlives the account, whenever and in which way it was made.
#[tokio::test]
async fn what_was_signed_before_a_revoke_is_worth_nothing_after_it() {
    let world = world().await;
    let s3 = world.account();
    let hour = PresigningConfig::expires_in(Duration::from_hours(1)).unwrap();
    let presigned = s3.get_object().bucket("own-bucket").key("key").presigned(hour).await.unwrap();
    let path = presigned.uri().strip_prefix(&world.endpoint).unwrap();
    let by_url = Signed::anonymous(&world.endpoint, "GET", path);
    let by_header = Signed::new(&world.endpoint, &world.account, "GET", "/own-bucket/key");
    for request in [&by_url, &by_header] {
        assert_eq!(request.send().await.status, 200);
    }
    // On a connection that stays open.
    assert_eq!(get(&s3, "own-bucket", "key").await, b"own");
    world.store.revoke("account").await.unwrap();
    for request in [&by_url, &by_header] {
        assert_eq!(request.send().await.code(), "InvalidAccessKeyId");
    }
    assert_eq!(code(s3.get_object().bucket("own-bucket").key("key").send().await), "InvalidAccessKeyId");
    // The account's next life has another key, and the old one stays dead.
    let anew = world.store.grant(on_own("account", true, true)).await.unwrap();
    assert_eq!(get(&world.client(&anew), "own-bucket", "key").await, b"own");
    assert_eq!(by_url.send().await.code(), "InvalidAccessKeyId");
}

#[tokio::test]
async fn a_presigned_url_carries_no_more_than_its_account_may() {
    let world = world().await;
    let hour = PresigningConfig::expires_in(Duration::from_hours(1)).unwrap();
    let s3 = world.account();
    let theirs = s3.get_object().bucket("other-bucket").key("secret").presigned(hour.clone()).await.unwrap();
    let path = theirs.uri().strip_prefix(&world.endpoint).unwrap();
    assert_eq!(Signed::anonymous(&world.endpoint, "GET", path).send().await.code(), "AccessDenied");
    // Signed for one key and sent for another.
    let own = s3.get_object().bucket("own-bucket").key("absent").presigned(hour).await.unwrap();
    let path = own.uri().strip_prefix(&world.endpoint).unwrap().replace("absent", "key");
    assert_eq!(Signed::anonymous(&world.endpoint, "GET", &path).send().await.code(), "SignatureDoesNotMatch");
}

/// A bucket's end is the end of all rights on it.
#[tokio::test]
async fn an_account_of_a_deleted_bucket_has_no_rights_on_its_successor() {
    let world = World::new().await;
    let s3 = world.account();
    world.store.delete(&id("own-bucket"), Contents::Keep).await.unwrap();
    assert_eq!(code(s3.put_object().bucket("own-bucket").key("key").send().await), "AccessDenied");
    world.store.create(request("own-bucket")).await.unwrap();
    put(&world.operator(), "own-bucket", "key", "the successor's").await;
    assert_eq!(code(s3.get_object().bucket("own-bucket").key("key").send().await), "AccessDenied");
    assert_eq!(code(s3.put_object().bucket("own-bucket").key("key").send().await), "AccessDenied");
    assert_eq!(code(s3.list_objects_v2().bucket("own-bucket").send().await), "AccessDenied");
    world.store.grant(on_own("account", true, true)).await.unwrap();
    assert_eq!(get(&s3, "own-bucket", "key").await, b"the successor's");
}

async fn begin_upload(s3: &aws_sdk_s3::Client, key: &str) -> String {
    let upload = s3.create_multipart_upload().bucket("own-bucket").key(key).send().await.unwrap();
    upload.upload_id().unwrap().to_owned()
}

fn one_part() -> CompletedMultipartUpload {
    CompletedMultipartUpload::builder().parts(CompletedPart::builder().part_number(1).build()).build()
}

/// Tries everything on an upload, which must be unknown.
async fn assert_closed(s3: &aws_sdk_s3::Client, key: &str, upload: &str) {
    let part = s3.upload_part().bucket("own-bucket").key(key).upload_id(upload).part_number(1);
    assert_eq!(code(part.body(ByteStream::from_static(b"x")).send().await), "NoSuchUpload");
    let copy = s3.upload_part_copy().bucket("own-bucket").key(key).upload_id(upload).part_number(1);
    assert_eq!(code(copy.copy_source("own-bucket/key").send().await), "NoSuchUpload");
    let parts = s3.list_parts().bucket("own-bucket").key(key).upload_id(upload);
    assert_eq!(code(parts.send().await), "NoSuchUpload");
    let complete = s3.complete_multipart_upload().bucket("own-bucket").key(key).upload_id(upload);
    assert_eq!(code(complete.multipart_upload(one_part()).send().await), "NoSuchUpload");
    let abort = s3.abort_multipart_upload().bucket("own-bucket").key(key).upload_id(upload);
    assert_eq!(code(abort.send().await), "NoSuchUpload");
}

#[tokio::test]
async fn an_upload_of_one_account_is_closed_to_another_and_not_shown_to_it() {
    let world = world().await;
    let upload = begin_upload(&world.account(), "new").await;
    let second = world.granted("second", true, true).await;
    assert_closed(&second, "new", &upload).await;
    let list = async |s3: &aws_sdk_s3::Client| {
        let found = s3.list_multipart_uploads().bucket("own-bucket").send().await.unwrap();
        found.uploads().iter().map(|upload| upload.upload_id().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(list(&second).await.is_empty());
    assert_eq!(list(&world.account()).await, [upload.as_str()]);
}

#[rstest]
#[case("../new")]
#[case("00000000-0000-0000-0000-000000000000")]
#[case("x")]
#[case("..%2F..%2F..%2F..%2F..%2F..%2F..%2F..%2F")]
#[tokio::test]
async fn an_upload_id_that_was_never_given_out_leads_nowhere(#[case] upload: &str) {
    assert_closed(&world().await.account(), "new", upload).await;
}

#[tokio::test]
async fn an_upload_belongs_to_the_key_that_it_was_begun_for() {
    let world = world().await;
    let upload = begin_upload(&world.account(), "new").await;
    assert_closed(&world.account(), "another", &upload).await;
}

/// Or a revoked account could keep a bucket from ever being deleted.
#[tokio::test]
async fn what_a_revoked_account_left_unfinished_can_be_found_and_aborted_by_the_operator() {
    let world = World::new().await;
    let upload = begin_upload(&world.account(), "new").await;
    world.store.revoke("account").await.unwrap();
    assert!(world.store.delete(&id("own-bucket"), Contents::Keep).await.is_err());
    let operator = world.operator();
    let found = operator.list_multipart_uploads().bucket("own-bucket").send().await.unwrap();
    assert_eq!(found.uploads()[0].upload_id(), Some(upload.as_str()));
    let abort = operator.abort_multipart_upload().bucket("own-bucket").key("new").upload_id(upload);
    abort.send().await.unwrap();
    world.store.delete(&id("own-bucket"), Contents::Keep).await.unwrap();
}
