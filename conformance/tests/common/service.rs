//! The calls. Each runs in a task of its own that has the name's turn, so that it ends as it should though its caller gave up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cosi_proto::v1alpha2 as wire;
use cosi_proto::v1alpha2::identity_server::Identity;
use cosi_proto::v1alpha2::provisioner_server::Provisioner;
use tokio::time::timeout;
use tonic::{Request, Response, Status, async_trait};

use super::backend::{Account, Backend, Bucket, Reach, Wanted};
use super::checked;
use super::driver::Core;
use super::vice::Vice;

/// How long one takes that lands late.
const LATE: Duration = Duration::from_millis(60);

/// Plays a backend that takes this long.
async fn takes(time: Duration) {
    let _over = timeout(time, std::future::pending::<()>()).await;
}

#[derive(Clone)]
pub(crate) struct Service(pub(crate) Arc<Core>);

type Reply<T> = Result<Response<T>, Status>;

impl Service {
    /// Does the work alone for the key, to its end.
    async fn run<T: Send + 'static>(
        &self,
        key: String,
        slow: bool,
        work: impl FnOnce(&Core) -> Result<T, Status> + Send + 'static,
    ) -> Reply<T> {
        let core = Arc::clone(&self.0);
        *core.calls.lock().unwrap() += 1;
        if core.dead.load(Ordering::SeqCst) {
            return std::future::pending().await;
        }
        if core.vice == Vice::NothingWorks {
            return Err(Status::internal("something went wrong"));
        }
        // Before the task begins: a call whose caller goes away while it waits does nothing.
        let turn = if slow { None } else { Some(core.turn(&key).await) };
        let task = tokio::spawn(async move {
            let _turn = turn;
            if slow {
                takes(LATE).await;
            }
            work(&core)
        });
        let vice = self.0.vice;
        let answer = task.await.unwrap_or_else(|_| Err(Status::internal("panicked")));
        answer.map(Response::new).map_err(|status| spoilt(vice, &status))
    }

    fn vice(&self) -> Vice {
        self.0.vice
    }

    /// COSI-GEN-11.
    fn in_time<T>(&self, request: &Request<T>) -> Result<(), Status> {
        if self.vice() != Vice::NotAfterUnknown && request.metadata().contains_key(cosi_proto::NOT_AFTER_KEY)
        {
            return Err(Status::failed_precondition("the call came too late"));
        }
        Ok(())
    }
}

/// Whether the caller waits for microseconds or milliseconds only.
fn hurried<T>(request: &Request<T>) -> bool {
    let text =
        request.metadata().get("grpc-timeout").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let number: u64 = text.trim_end_matches(char::is_alphabetic).parse().unwrap();
    match text.chars().last() {
        Some('n') => number < 100_000_000,
        Some('u') => number < 100_000,
        Some('m') => number < 100,
        _ => false,
    }
}

/// The error as a driver with this vice would answer it.
fn spoilt(vice: Vice, status: &Status) -> Status {
    match vice {
        Vice::ErrorsAreInternal => Status::internal(status.message()),
        Vice::EmptyMessages => Status::new(status.code(), ""),
        Vice::EndlessMessages => Status::new(status.code(), "no ".repeat(1500)),
        Vice::Details => Status::with_details(status.code(), status.message(), vec![1, 2, 3].into()),
        _ => Status::new(status.code(), status.message()),
    }
}

fn wanted(protocols: &[wire::ObjectProtocol], parameters: &BTreeMap<String, String>) -> Wanted {
    Wanted {
        protocols: protocols.iter().map(|protocol| protocol.r#type).collect(),
        parameters: parameters.clone(),
    }
}

/// What a driver that shortens names makes of one.
fn kept(vice: Vice, name: &str) -> String {
    if vice == Vice::ShortensNames { name.chars().take(50).collect() } else { name.to_owned() }
}

fn bucket_info(core: &Core, id: &str) -> Option<wire::ObjectProtocolAndBucketInfo> {
    let style = wire::s3_addressing_style::Style::Path;
    let s3 = wire::S3BucketInfo {
        bucket_id: id.to_owned(),
        endpoint: core.s3.clone(),
        region: if core.vice == Vice::GrantWithoutRegion { String::new() } else { "here".to_owned() },
        addressing_style: Some(wire::S3AddressingStyle { style: style.into() }),
    };
    match core.vice {
        Vice::NoBucketInfo => None,
        Vice::InfoOfOtherProtocol => Some(wire::ObjectProtocolAndBucketInfo {
            azure: Some(wire::AzureBucketInfo { storage_account: id.to_owned() }),
            ..Default::default()
        }),
        _ => Some(wire::ObjectProtocolAndBucketInfo { s3: Some(s3), ..Default::default() }),
    }
}

/// Info as a driver answers it that only forgets it when a bucket is made.
fn right_info(core: &Core, id: &str) -> Option<wire::ObjectProtocolAndBucketInfo> {
    let mut info = bucket_info(core, id);
    if matches!(core.vice, Vice::NoBucketInfo | Vice::InfoOfOtherProtocol) {
        let s3 = wire::S3BucketInfo {
            bucket_id: id.to_owned(),
            endpoint: core.s3.clone(),
            region: "here".to_owned(),
            addressing_style: Some(wire::S3AddressingStyle { style: 1 }),
        };
        info = Some(wire::ObjectProtocolAndBucketInfo { s3: Some(s3), ..Default::default() });
    }
    info
}

fn create(core: &Core, request: &wire::DriverCreateBucketRequest, seen: bool) -> Result<String, Status> {
    let (vice, mut backend) = (core.vice, core.backend());
    let wanted = wanted(&request.protocols, &request.parameters);
    let name = kept(vice, &request.name);
    let found = match vice {
        Vice::NewBucketEachCreate => None,
        Vice::OverlappingCreatesMakeTwo if !seen => None,
        Vice::ForgetsOnRestart => {
            let known = backend.known.get(&name).cloned();
            known.and_then(|id| backend.buckets.get(&id).cloned().map(|bucket| (id, bucket)))
        }
        _ => backend.bucket_of(&name),
    };
    match found {
        Some((id, bucket)) if bucket.wanted == wanted || vice == Vice::ParametersNotCompared => Ok(id),
        Some(_) => Err(Status::already_exists(format!("bucket {name} is there, and another one"))),
        None => {
            let id = new_id(&mut backend, vice, &name);
            backend.known.insert(name.clone(), id.clone());
            backend.buckets.insert(id.clone(), Bucket { name, wanted, objects: BTreeMap::default() });
            Ok(id)
        }
    }
}

fn new_id(backend: &mut Backend, vice: Vice, name: &str) -> String {
    let serial = backend.serial();
    match vice {
        Vice::NewBucketEachCreate | Vice::OverlappingCreatesMakeTwo | Vice::ForgetsOnRestart => {
            format!("b{serial:08}")
        }
        Vice::EndlessBucketId => format!("{name}-{}", "x".repeat(2048)),
        Vice::BucketIdWithColon => format!("b:{name}"),
        _ => format!("b-{name}"),
    }
}

fn delete(core: &Core, id: &str, lost: Status) -> Result<(), Status> {
    let mut backend = core.backend();
    let Some(bucket) = backend.buckets.get(id) else {
        return if core.vice == Vice::DeleteOfAbsentIsNotFound { Err(lost) } else { Ok(()) };
    };
    if !bucket.objects.is_empty() && core.vice != Vice::DeletesRecursively {
        return Err(Status::failed_precondition(format!("bucket {id} is not empty")));
    }
    if core.vice != Vice::BucketSurvivesDelete {
        backend.buckets.remove(id);
    }
    Ok(())
}

fn reach(request: &wire::DriverGrantBucketAccessRequest) -> Reach {
    let mode = |bucket: &wire::driver_grant_bucket_access_request::AccessedBucket| {
        (bucket.bucket_id.clone(), bucket.access_mode.map_or(0, |mode| mode.mode))
    };
    Reach {
        authentication: request.authentication_type.map_or(0, |authentication| authentication.r#type),
        buckets: request.buckets.iter().map(mode).collect(),
    }
}

fn grant(
    core: &Core,
    request: &wire::DriverGrantBucketAccessRequest,
) -> Result<wire::DriverGrantBucketAccessResponse, Status> {
    let (vice, mut backend, reach) = (core.vice, core.backend(), reach(request));
    if reach.buckets.len() > 1 && vice == Vice::OneBucketIsInternal {
        return Err(Status::internal("one bucket per access"));
    }
    if let Some(lost) = reach.buckets.keys().find(|id| !backend.buckets.contains_key(*id)) {
        return Err(Status::failed_precondition(format!("there is no bucket {lost}")));
    }
    let name = &request.account_name;
    let found = if vice == Vice::NewAccountEachGrant { None } else { backend.account_of(name) };
    let id = match found {
        Some((id, account)) if account.reach == reach || vice == Vice::GrantsNotCompared => id,
        Some(_) if vice == Vice::EverythingInMessage => {
            return Err(Status::internal(format!(
                "{:?} {:?}",
                backend.accounts.get(&format!("a-{name}")),
                backend.buckets
            )));
        }
        Some((_, account)) if vice == Vice::CredentialInMessage => {
            return Err(Status::already_exists(format!(
                "account {name} is there, with key {}",
                account.keys[0].1
            )));
        }
        Some(_) => return Err(Status::already_exists(format!("account {name} is there, and another one"))),
        None => {
            let id = match vice {
                Vice::NewAccountEachGrant => format!("a{:08}", backend.serial()),
                _ => format!("a-{name}"),
            };
            backend.accounts.insert(id.clone(), Account { name: name.clone(), reach, keys: vec![] });
            id
        }
    };
    let serial = backend.serial();
    let account = backend.accounts.get_mut(&id).unwrap();
    if account.keys.is_empty() || vice == Vice::NewKeyEachGrant {
        account.keys.push((format!("AKID{serial:012}"), format!("c4n4ry-secret-{serial}")));
    }
    let (key, secret) = account.keys.last().cloned().unwrap();
    let info = |id: &String| wire::driver_grant_bucket_access_response::BucketInfo {
        bucket_id: id.clone(),
        bucket_info: right_info(core, id),
    };
    Ok(wire::DriverGrantBucketAccessResponse {
        account_id: if vice == Vice::EmptyAccountId { String::new() } else { id },
        buckets: account.reach.buckets.keys().map(info).collect(),
        credentials: Some(wire::CredentialInfo {
            s3: Some(wire::S3CredentialInfo { access_key_id: key, access_secret_key: secret }),
            ..Default::default()
        }),
    })
}

fn revoke(core: &Core, id: &str) {
    let mut backend = core.backend();
    if core.vice == Vice::AccountSurvivesRevoke {
        return;
    }
    if let Some(account) = backend.accounts.remove(id)
        && core.vice == Vice::KeySurvivesRevoke
    {
        backend.ghosts.extend(account.keys.into_iter().map(|(key, _)| (key, account.reach.clone())));
    }
}

fn revoke_by_name(core: &Core, request: &wire::DriverRevokeBucketAccessByNameRequest) {
    let mut backend = core.backend();
    let mut wanted: Vec<&String> = request.buckets.iter().map(|bucket| &bucket.bucket_id).collect();
    wanted.sort();
    let others = core.vice == Vice::RevokeByNameTakesOthers;
    backend.accounts.retain(|_, account| {
        let same = account.reach.buckets.keys().eq(wanted.iter().copied());
        account.name != request.account_name || !(same || others)
    });
}

#[async_trait]
impl Identity for Service {
    async fn driver_get_info(
        &self,
        _: Request<wire::DriverGetInfoRequest>,
    ) -> Reply<wire::DriverGetInfoResponse> {
        let calls = {
            let mut calls = self.0.calls.lock().unwrap();
            *calls += 1;
            *calls
        };
        let name = match self.vice() {
            Vice::NoName => String::new(),
            Vice::ChangingInfo => format!("driver-{calls}.example.com"),
            _ => "test.example.com".to_owned(),
        };
        let s3 = wire::ObjectProtocol { r#type: 1 };
        let supported_protocols = if self.vice() == Vice::NoProtocols { vec![] } else { vec![s3] };
        Ok(Response::new(wire::DriverGetInfoResponse { name, supported_protocols }))
    }
}

#[async_trait]
impl Provisioner for Service {
    async fn driver_create_bucket(
        &self,
        request: Request<wire::DriverCreateBucketRequest>,
    ) -> Reply<wire::DriverCreateBucketResponse> {
        let (vice, in_time, hurried) = (self.vice(), self.in_time(&request), hurried(&request));
        let request = request.into_inner();
        let good = in_time
            .and_then(|()| checked::name(vice, "name", &request.name))
            .and_then(|()| checked::protocols(vice, &request.protocols))
            .and_then(|()| checked::parameters(vice, &request.parameters));
        let seen = self.0.backend().bucket_of(&request.name).is_some();
        if matches!(vice, Vice::RaceLeavesBucket | Vice::OverlappingCreatesMakeTwo) && good.is_ok() {
            // Here, so that nothing goes on when the caller is gone; and without a turn.
            self.0.backend().marks.insert(request.name.clone());
            takes(Duration::from_millis(20)).await;
        }
        let slow = vice == Vice::CreateLandsLate && hurried;
        let key = format!("b-{}", request.name);
        self.run(key, slow, move |core| {
            good?;
            let id = create(core, &request, seen)?;
            if vice == Vice::MakesAndFails {
                return Err(Status::internal("the backend broke the connection"));
            }
            Ok(wire::DriverCreateBucketResponse {
                protocols: bucket_info(core, &id),
                bucket_id: if vice == Vice::EmptyBucketId { String::new() } else { id },
            })
        })
        .await
    }

    async fn driver_get_existing_bucket(
        &self,
        request: Request<wire::DriverGetExistingBucketRequest>,
    ) -> Reply<wire::DriverGetExistingBucketResponse> {
        let (vice, request) = (self.vice(), request.into_inner());
        if vice == Vice::NoExisting {
            return Err(Status::unimplemented("there is no such call"));
        }
        self.run(request.existing_bucket_id.clone(), false, move |core| {
            checked::id(vice, "existing_bucket_id", &request.existing_bucket_id)?;
            checked::protocols(Vice::None, &request.protocols)?;
            let id = request.existing_bucket_id;
            let mut backend = core.backend();
            let found = backend.buckets.contains_key(&id);
            if vice == Vice::ExistingMakesBuckets {
                let wanted = wanted(&[], &BTreeMap::default());
                let name = id.strip_prefix("b-").unwrap_or(&id).to_owned();
                backend.buckets.entry(id.clone()).or_insert(Bucket {
                    name,
                    wanted,
                    objects: BTreeMap::default(),
                });
            }
            drop(backend);
            if found {
                Ok(wire::DriverGetExistingBucketResponse { protocols: right_info(core, &id), bucket_id: id })
            } else {
                Err(Status::not_found(format!("there is no bucket {id}")))
            }
        })
        .await
    }

    async fn driver_delete_bucket(
        &self,
        request: Request<wire::DriverDeleteBucketRequest>,
    ) -> Reply<wire::DriverDeleteBucketResponse> {
        let (vice, request) = (self.vice(), request.into_inner());
        self.run(request.bucket_id.clone(), false, move |core| {
            if request.bucket_id.is_empty() && vice == Vice::EmptyIdIsNothingToDo {
                return Ok(wire::DriverDeleteBucketResponse {});
            }
            checked::id(vice, "bucket_id", &request.bucket_id)?;
            delete(core, &request.bucket_id, Status::not_found("there is no such bucket"))?;
            Ok(wire::DriverDeleteBucketResponse {})
        })
        .await
    }

    async fn driver_grant_bucket_access(
        &self,
        request: Request<wire::DriverGrantBucketAccessRequest>,
    ) -> Reply<wire::DriverGrantBucketAccessResponse> {
        let (vice, in_time, hurried) = (self.vice(), self.in_time(&request), hurried(&request));
        let request = request.into_inner();
        let key = format!("a-{}", request.account_name);
        if vice == Vice::DiesAtGrant {
            self.0.dead.store(true, Ordering::SeqCst);
        }
        self.run(key, vice == Vice::GrantLandsLate && hurried, move |core| {
            in_time?;
            checked::grant(vice, &request)?;
            grant(core, &request)
        })
        .await
    }

    async fn driver_revoke_bucket_access(
        &self,
        request: Request<wire::DriverRevokeBucketAccessRequest>,
    ) -> Reply<wire::DriverRevokeBucketAccessResponse> {
        let (vice, request) = (self.vice(), request.into_inner());
        self.run(request.account_id.clone(), false, move |core| {
            checked::id(Vice::None, "account_id", &request.account_id)?;
            let lost =
                request.buckets.iter().any(|bucket| !core.backend().buckets.contains_key(&bucket.bucket_id));
            if lost && vice == Vice::RevokeNeedsBucket {
                return Err(Status::internal("the bucket is not there"));
            }
            revoke(core, &request.account_id);
            Ok(wire::DriverRevokeBucketAccessResponse {})
        })
        .await
    }

    async fn driver_delete_bucket_by_name(
        &self,
        request: Request<wire::DriverDeleteBucketByNameRequest>,
    ) -> Reply<wire::DriverDeleteBucketByNameResponse> {
        let (vice, request) = (self.vice(), request.into_inner());
        if vice == Vice::NoByName {
            return Err(Status::unimplemented("there is no such call"));
        }
        self.run(format!("b-{}", request.name), false, move |core| {
            checked::name(Vice::None, "name", &request.name)?;
            let marked = core.backend().marks.remove(&request.name);
            if (vice == Vice::RaceLeavesBucket && !marked) || vice == Vice::DeleteByNameDoesNothing {
                return Ok(wire::DriverDeleteBucketByNameResponse {});
            }
            let wanted = wanted(&request.protocols, &request.parameters);
            let others = vice == Vice::DeleteByNameTakesOthers;
            let name = kept(vice, &request.name);
            let mut ids: Vec<String> = core
                .backend()
                .buckets
                .iter()
                .filter(|(_, bucket)| bucket.name == name && (bucket.wanted == wanted || others))
                .map(|(id, _)| id.clone())
                .collect();
            if vice == Vice::ForgetsOnRestart {
                ids.retain(|id| core.backend().known.values().any(|known| known == id));
            }
            for id in ids {
                delete(core, &id, Status::internal("gone"))?;
            }
            Ok(wire::DriverDeleteBucketByNameResponse {})
        })
        .await
    }

    async fn driver_revoke_bucket_access_by_name(
        &self,
        request: Request<wire::DriverRevokeBucketAccessByNameRequest>,
    ) -> Reply<wire::DriverRevokeBucketAccessByNameResponse> {
        let request = request.into_inner();
        if self.vice() == Vice::NoByName {
            return Err(Status::unimplemented("there is no such call"));
        }
        self.run(format!("a-{}", request.account_name), false, move |core| {
            checked::name(Vice::None, "account_name", &request.account_name)?;
            revoke_by_name(core, &request);
            Ok(wire::DriverRevokeBucketAccessByNameResponse {})
        })
        .await
    }
}
