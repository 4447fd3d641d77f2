//! The embedded S3 server under a real client: what works, and that each known hole is shut.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::time::Duration;

use aws_sdk_s3::{
    Client,
    presigning::PresigningConfig,
    primitives::ByteStream,
    types::{CompletedMultipartUpload, CompletedPart, Delete, ObjectIdentifier},
};
use common::{
    client,
    world::{World, code, get, id, on_own, put, request},
};
use cosi_sample_driver::store::{Contents, DeleteError};
use rstest::rstest;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

/// Sends the head and the first bytes of a put, and no more.
async fn begin_hanging_put(world: &World, key: &str) -> TcpStream {
    let valid = PresigningConfig::expires_in(Duration::from_mins(1)).unwrap();
    let put = world.account().put_object().bucket("own-bucket").key(key).presigned(valid).await.unwrap();
    let address = world.endpoint.strip_prefix("http://").unwrap();
    let path = put.uri().strip_prefix(&world.endpoint).unwrap();
    let mut head = format!("PUT {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000\r\n");
    for (name, value) in put.headers() {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\nfirst bytes");
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(head.as_bytes()).await.unwrap();
    connection
}

/// The first line of the server's answer; empty if it just closed.
async fn answer(connection: &mut TcpStream) -> String {
    let mut line = String::new();
    let mut connection = BufReader::new(connection);
    let read = connection.read_line(&mut line);
    // A connection that is reset is an answer, too.
    let _reset = timeout(Duration::from_secs(10), read).await.unwrap();
    line
}

async fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = tokio::time::Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(tokio::time::Instant::now() < give_up, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn begin_upload(client: &Client, bucket: &str, key: &str) -> String {
    let upload = client.create_multipart_upload().bucket(bucket).key(key).send().await.unwrap();
    assert_eq!(upload.bucket(), Some(bucket));
    upload.upload_id().unwrap().to_owned()
}

#[tokio::test]
async fn objects_are_put_read_listed_copied_and_deleted() {
    let world = World::new().await;
    let s3 = world.account();
    put(&s3, "own-bucket", "a/b.txt", "hello").await;
    assert_eq!(get(&s3, "own-bucket", "a/b.txt").await, b"hello");
    s3.copy_object().bucket("own-bucket").key("copy").copy_source("own-bucket/a/b.txt").send().await.unwrap();
    let listed = s3.list_objects_v2().bucket("own-bucket").send().await.unwrap();
    assert_eq!(listed.name(), Some("own-bucket"));
    assert_eq!(listed.contents().iter().filter_map(|o| o.key()).collect::<Vec<_>>(), ["a/b.txt", "copy"]);
    let keys = ["a/b.txt", "copy", "absent", "copy/below"]
        .map(|key| ObjectIdentifier::builder().key(key).build().unwrap());
    let delete = Delete::builder().set_objects(Some(keys.into())).build().unwrap();
    assert_eq!(
        s3.delete_objects().bucket("own-bucket").delete(delete).send().await.unwrap().deleted().len(),
        4
    );
    assert_eq!(code(s3.head_object().bucket("own-bucket").key("copy").send().await), "NotFound");
    assert!(s3.list_objects().bucket("own-bucket").send().await.unwrap().contents().is_empty());
    s3.head_bucket().bucket("own-bucket").send().await.unwrap();
}

#[tokio::test]
async fn keys_that_look_encoded_are_listed_as_they_are() {
    let world = World::new().await;
    let s3 = world.account();
    let key = "a+b%2e%2e c&<d>";
    put(&s3, "own-bucket", key, "hello").await;
    let url = aws_sdk_s3::types::EncodingType::Url;
    let v2 = s3.list_objects_v2().bucket("own-bucket").encoding_type(url.clone()).send().await.unwrap();
    let v1 = s3.list_objects().bucket("own-bucket").encoding_type(url).send().await.unwrap();
    // Without the word of the server that they are encoded, no client decodes them.
    assert_eq!((v2.encoding_type(), v1.encoding_type()), (None, None));
    assert_eq!((v2.contents()[0].key(), v1.contents()[0].key()), (Some(key), Some(key)));
}

#[tokio::test]
async fn a_multipart_upload_becomes_one_object_whose_checksums_are_its_own() {
    let world = World::new().await;
    let s3 = world.account();
    put(&s3, "own-bucket", "key", "an older object with another checksum").await;
    let upload = begin_upload(&s3, "own-bucket", "key").await;
    let part = s3.upload_part().bucket("own-bucket").key("key").upload_id(&upload).part_number(1);
    let part = part.body(ByteStream::from_static(b"part")).send().await.unwrap();
    let parts = s3.list_parts().bucket("own-bucket").key("key").upload_id(&upload).send().await.unwrap();
    assert_eq!((parts.bucket(), parts.parts().len()), (Some("own-bucket"), 1));
    let done = CompletedPart::builder().part_number(1).set_e_tag(part.e_tag).build();
    let done = CompletedMultipartUpload::builder().parts(done).build();
    let complete = s3.complete_multipart_upload().bucket("own-bucket").key("key").upload_id(&upload);
    let answer = complete.multipart_upload(done).send().await.unwrap();
    assert_eq!(answer.bucket(), Some("own-bucket"));
    assert_eq!(get(&s3, "own-bucket", "key").await, b"part");
}

#[tokio::test]
async fn nobody_makes_or_deletes_a_bucket_over_s3() {
    let world = World::new().await;
    for s3 in [world.operator(), world.account()] {
        assert_eq!(code(s3.create_bucket().bucket("new-bucket").send().await), "AccessDenied");
        assert_eq!(code(s3.delete_bucket().bucket("own-bucket").send().await), "AccessDenied");
    }
    assert_eq!(world.store.list().unwrap(), [id("other-bucket"), id("own-bucket")]);
}

#[tokio::test]
async fn an_account_reaches_no_other_bucket() {
    let world = World::new().await;
    put(&world.operator(), "other-bucket", "secret", "theirs").await;
    let s3 = world.account();
    assert_eq!(code(s3.get_object().bucket("other-bucket").key("secret").send().await), "AccessDenied");
    assert_eq!(code(s3.list_objects_v2().bucket("other-bucket").send().await), "AccessDenied");
    assert_eq!(code(s3.list_buckets().send().await), "AccessDenied");
    let copy = s3.copy_object().bucket("own-bucket").key("stolen").copy_source("other-bucket/secret");
    assert_eq!(code(copy.send().await), "AccessDenied");
    let upload = begin_upload(&s3, "own-bucket", "stolen").await;
    let part = s3.upload_part_copy().bucket("own-bucket").key("stolen").upload_id(&upload).part_number(1);
    assert_eq!(code(part.copy_source("other-bucket/secret").send().await), "AccessDenied");
}

/// Keys become paths: none may lead out of its bucket, in whichever place of a request it stands.
#[rstest]
#[case("../other-bucket/objects/secret")]
#[case("a/../../other-bucket/objects/secret")]
#[case("..")]
#[case("a//b")]
#[case("/secret")]
#[case("a/")]
#[case("a/./b")]
#[tokio::test]
async fn a_key_that_bends_the_path_is_refused_wherever_it_stands(#[case] key: &str) {
    let world = World::new().await;
    put(&world.operator(), "other-bucket", "secret", "theirs").await;
    let s3 = world.account();
    // A client may tidy the path up before it sends it; then it asks for another bucket, which is refused as well.
    let refused = |code: &str| {
        assert!(
            ["InvalidArgument", "AccessDenied", "NotFound", "NoSuchKey", "NotImplemented"].contains(&code),
            "{code}"
        );
    };
    refused(&code(s3.get_object().bucket("own-bucket").key(key).send().await));
    refused(&code(s3.put_object().bucket("own-bucket").key(key).send().await));
    refused(&code(s3.delete_object().bucket("own-bucket").key(key).send().await));
    refused(&code(
        s3.copy_object().bucket("own-bucket").key("x").copy_source(format!("own-bucket/{key}")).send().await,
    ));
    let object = ObjectIdentifier::builder().key(key).build().unwrap();
    let delete = Delete::builder().objects(object).build().unwrap();
    assert_eq!(code(s3.delete_objects().bucket("own-bucket").delete(delete).send().await), "InvalidArgument");
    assert_eq!(get(&world.operator(), "other-bucket", "secret").await, b"theirs");
}

#[tokio::test]
async fn an_upload_of_one_bucket_is_unknown_in_another() {
    let world = World::new().await;
    let s3 = world.operator();
    let upload = begin_upload(&s3, "other-bucket", "key").await;
    let part = s3.upload_part().bucket("own-bucket").key("key").upload_id(&upload).part_number(1);
    assert_eq!(code(part.body(ByteStream::from_static(b"x")).send().await), "NoSuchUpload");
    assert_eq!(
        code(s3.list_parts().bucket("own-bucket").key("key").upload_id(&upload).send().await),
        "NoSuchUpload"
    );
}

#[tokio::test]
async fn wrong_and_revoked_keys_are_refused() {
    let world = World::new().await;
    put(&world.account(), "own-bucket", "key", "x").await;
    let wrong = client(&world.endpoint, &world.account.access_key, "guess");
    assert_eq!(
        code(wrong.get_object().bucket("own-bucket").key("key").send().await),
        "SignatureDoesNotMatch"
    );
    let unknown = client(&world.endpoint, "NOBODY", "secret");
    assert_eq!(code(unknown.get_object().bucket("own-bucket").key("key").send().await), "InvalidAccessKeyId");
    world.store.revoke("account").await.unwrap();
    assert_eq!(
        code(world.account().get_object().bucket("own-bucket").key("key").send().await),
        "InvalidAccessKeyId"
    );
}

#[rstest]
#[case(true, false)]
#[case(false, true)]
#[tokio::test]
async fn a_one_way_account_goes_one_way(#[case] read: bool, #[case] write: bool) {
    let world = World::new().await;
    put(&world.operator(), "own-bucket", "key", "x").await;
    let s3 = world.granted("one-way", read, write).await;
    assert_eq!(s3.get_object().bucket("own-bucket").key("key").send().await.is_ok(), read);
    assert_eq!(s3.put_object().bucket("own-bucket").key("key").send().await.is_ok(), write);
    // Copying inside the bucket reads and writes.
    assert!(
        s3.copy_object().bucket("own-bucket").key("copy").copy_source("own-bucket/key").send().await.is_err()
    );
}

#[tokio::test]
async fn a_new_bucket_knows_nothing_of_the_metadata_of_the_one_before() {
    let world = World::new().await;
    let s3 = world.operator();
    let put_it = s3
        .put_object()
        .bucket("own-bucket")
        .key("key")
        .metadata("owner", "first")
        .body(ByteStream::from_static(b"1"));
    put_it.send().await.unwrap();
    world.store.delete(&id("own-bucket"), Contents::Discard).await.unwrap();
    assert_eq!(code(s3.get_object().bucket("own-bucket").key("key").send().await), "NoSuchBucket");
    world.store.create(request("own-bucket")).await.unwrap();
    // Straight onto the disk, as no S3 request leaves metadata out.
    std::fs::write(world.data.path().join("buckets/own-bucket/objects/key"), "2").unwrap();
    let object = s3.get_object().bucket("own-bucket").key("key").send().await.unwrap();
    assert!(object.metadata().is_none_or(std::collections::HashMap::is_empty));
}

#[tokio::test]
async fn an_unfinished_upload_blocks_the_delete_and_can_be_found_and_aborted() {
    let world = World::new().await;
    let s3 = world.account();
    let upload = begin_upload(&s3, "own-bucket", "großer/Brocken").await;
    let delete = world.store.delete(&id("own-bucket"), Contents::Keep).await;
    assert!(matches!(delete, Err(DeleteError::HasUploads(_))), "{delete:?}");
    let found = s3.list_multipart_uploads().bucket("own-bucket").send().await.unwrap();
    assert_eq!(found.uploads()[0].key(), Some("großer/Brocken"));
    assert_eq!(found.uploads()[0].upload_id(), Some(upload.as_str()));
    s3.abort_multipart_upload()
        .bucket("own-bucket")
        .key("großer/Brocken")
        .upload_id(upload)
        .send()
        .await
        .unwrap();
    world.store.delete(&id("own-bucket"), Contents::Keep).await.unwrap();
}

/// An object that the client was told is stored is never deleted by a delete that keeps contents.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_put_and_a_delete_of_the_empty_bucket_at_most_one_succeeds() {
    let world = World::new().await;
    let s3 = world.account();
    let (mut kept, mut deleted) = (0, 0);
    for round in 0..100 {
        let put = s3.put_object().bucket("own-bucket").key("key").body(ByteStream::from_static(b"x")).send();
        let put = tokio::spawn(put);
        for _ in 0..round % 20 {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        let delete = world.store.delete(&id("own-bucket"), Contents::Keep).await;
        match (put.await.unwrap(), delete) {
            (Ok(_), Err(_)) => {
                assert_eq!(get(&s3, "own-bucket", "key").await, b"x");
                s3.delete_object().bucket("own-bucket").key("key").send().await.unwrap();
                kept += 1;
            }
            (Err(_), Ok(())) => {
                world.store.create(request("own-bucket")).await.unwrap();
                world.store.grant(on_own("account", true, true)).await.unwrap();
                deleted += 1;
            }
            both => panic!("round {round}: {both:?}"),
        }
    }
    println!("{kept} puts and {deleted} deletes won");
}

/// An upload that hangs must not keep a bucket whose contents may go, nor leave half an object or a folder behind.
#[tokio::test]
async fn a_delete_that_discards_cuts_a_hanging_upload_off() {
    let world = World::new().await;
    let mut upload = begin_hanging_put(&world, "deep/key").await;
    wait_until("the upload is inside", || {
        let mut files = std::fs::read_dir(world.data.path().join("buckets/own-bucket")).unwrap();
        files.any(|file| file.unwrap().file_name().to_string_lossy().starts_with(".tmp"))
    })
    .await;
    let keep = world.store.delete(&id("own-bucket"), Contents::Keep).await;
    assert!(matches!(keep, Err(DeleteError::InUse(_))), "{keep:?}");
    world.store.delete(&id("own-bucket"), Contents::Discard).await.unwrap();
    assert!(!answer(&mut upload).await.starts_with("HTTP/1.1 200"));
    assert_eq!(world.store.list().unwrap(), [id("other-bucket")]);
    world.store.create(request("own-bucket")).await.unwrap();
    assert!(
        world.operator().list_objects_v2().bucket("own-bucket").send().await.unwrap().contents().is_empty()
    );
}

#[tokio::test]
async fn keys_that_cannot_be_files_are_refused_in_words() {
    let world = World::new().await;
    let s3 = world.account();
    put(&s3, "own-bucket", "a", "x").await;
    assert_eq!(code(s3.put_object().bucket("own-bucket").key("a/b").send().await), "InvalidArgument");
    assert_eq!(
        code(s3.put_object().bucket("own-bucket").key("k".repeat(129)).send().await),
        "KeyTooLongError"
    );
    assert_eq!(code(s3.get_object().bucket("own-bucket").key("a/b").send().await), "NoSuchKey");
    let cross = s3.copy_object().bucket("own-bucket").key("x").copy_source("own-bucket/absent").send().await;
    assert_eq!(code(cross), "NoSuchKey");
}

#[tokio::test]
async fn the_longest_key_can_be_put_and_uploaded_in_parts() {
    let world = World::new().await;
    let s3 = world.account();
    let key = "k".repeat(128);
    put(&s3, "own-bucket", &key, "x").await;
    assert_eq!(get(&s3, "own-bucket", &key).await, b"x");
    begin_upload(&s3, "own-bucket", &key).await;
}

#[tokio::test]
async fn copies_between_buckets_are_refused_also_to_the_operator() {
    let world = World::new().await;
    let s3 = world.operator();
    put(&s3, "other-bucket", "key", "x").await;
    let copy = s3.copy_object().bucket("own-bucket").key("x").copy_source("other-bucket/key").send().await;
    assert_eq!(code(copy), "NotImplemented");
}
