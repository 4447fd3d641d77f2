//! Who the driver is, and what else is on its socket and beside it.

use std::future::ready;
use std::os::unix::fs::PermissionsExt as _;

use cosi_proto::v1alpha2 as wire;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::{Check, Severity};
use crate::bench::{Bench, Stop, Tried};
use crate::driver::rpc::Info;
use crate::reflection;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "the-driver-says-who-it-is",
        severity: Severity::Must,
        requirements: &["COSI-INFO-3", "COSI-INFO-4", "COSI-GEN-1"],
        description: "DriverGetInfo answers a valid name, and at least one protocol, none of them twice or unknown.",
        needs: &[],
        run: |bench| Box::pin(says_who_it_is(bench)),
    },
    Check {
        id: "the-driver-stays-who-it-is",
        severity: Severity::Must,
        requirements: &["COSI-INFO-2"],
        description: "DriverGetInfo gives the same answer again and again.",
        needs: &["the-driver-says-who-it-is"],
        run: |bench| Box::pin(stays_who_it_is(bench)),
    },
    Check {
        id: "health-is-served",
        severity: Severity::Should,
        requirements: &["COSI-SOCK-2"],
        description: "grpc.health.v1.Health answers SERVING.",
        needs: &[],
        run: |bench| Box::pin(health(bench)),
    },
    Check {
        id: "reflection-is-served",
        severity: Severity::Should,
        requirements: &["COSI-SOCK-3"],
        description: "Server reflection, v1 and v1alpha, lists both services of COSI.",
        needs: &[],
        run: |bench| Box::pin(reflects(bench)),
    },
    Check {
        id: "nothing-lies-beside-the-socket",
        severity: Severity::Must,
        requirements: &["COSI-GEN-1"],
        description: "The folder of the socket holds nothing else.",
        needs: &[],
        run: |bench| Box::pin(ready(beside(bench))),
    },
    Check {
        id: "the-socket-is-not-open-to-everybody",
        severity: Severity::Should,
        requirements: &["COSI-SOCK-1"],
        description: "The socket file may be used by its owner and group only.",
        needs: &[],
        run: |bench| Box::pin(ready(mode(bench))),
    },
];

async fn says_who_it_is(bench: &Bench) -> Tried {
    match bench.ask(Info {}).await {
        Err(failure) => bench.wrong(failure.to_string()),
        Ok(info) => {
            if let Some(why) = wrong_name(&info.name) {
                bench.wrong(format!("the driver's name is {:?}: {why}", info.name));
            }
            for text in wrong_protocols(&info) {
                bench.wrong(text);
            }
        }
    }
    Ok(())
}

async fn stays_who_it_is(bench: &Bench) -> Tried {
    for _ in 0..bench.settings().repeat {
        match bench.ask(Info {}).await {
            Ok(info) if bench.shared.info.as_ref() == Some(&info) => {}
            Ok(info) => bench.wrong(format!("at another time the answer was {info:?}")),
            Err(failure) => bench.wrong(failure.to_string()),
        }
    }
    Ok(())
}

fn wrong_name(name: &str) -> Option<&'static str> {
    let label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_lowercase())
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    match name {
        "" => Some("it is empty"),
        long if long.len() > 63 => Some("it has more than 63 characters"),
        name if !name.split('.').all(label) => Some("it must be lower-case RFC 1035 labels joined by dots"),
        _ => None,
    }
}

fn wrong_protocols(info: &wire::DriverGetInfoResponse) -> Vec<String> {
    let protocols: Vec<i32> = info.supported_protocols.iter().map(|protocol| protocol.r#type).collect();
    let mut wrong = Vec::new();
    if protocols.is_empty() {
        wrong.push("supported_protocols is empty: such a driver can serve no bucket".to_owned());
    }
    for (place, protocol) in protocols.iter().enumerate() {
        if !(1..=3).contains(protocol) {
            wrong.push(format!("supported_protocols names the unknown protocol {protocol}"));
        } else if protocols.iter().take(place).any(|earlier| earlier == protocol) {
            wrong.push(format!("supported_protocols names protocol {protocol} twice"));
        }
    }
    wrong
}

async fn health(bench: &Bench) -> Tried {
    let mut client = HealthClient::new(bench.driver().channel());
    let asked = client.check(HealthCheckRequest::default());
    match tokio::time::timeout(bench.driver().timeout(), asked).await {
        Ok(Ok(answer)) if answer.get_ref().status() == ServingStatus::Serving => {}
        Ok(Ok(answer)) => {
            let status = answer.get_ref().status().as_str_name();
            bench.wrong(format!("grpc.health.v1.Health says {status} while the driver serves"));
        }
        Ok(Err(_)) => bench.wrong(
            "grpc.health.v1.Health is not served: what probes the pod can't tell whether the driver works",
        ),
        Err(_) => bench.wrong("grpc.health.v1.Health does not answer"),
    }
    Ok(())
}

async fn reflects(bench: &Bench) -> Tried {
    let wanted = ["sigs.k8s.io.cosi.v1alpha2.Identity", "sigs.k8s.io.cosi.v1alpha2.Provisioner"];
    let (channel, limit) = (bench.driver().channel(), bench.driver().timeout());
    let versions = [
        ("v1", reflection::v1(channel.clone(), limit).await),
        ("v1alpha", reflection::v1alpha(channel, limit).await),
    ];
    for (version, listed) in versions {
        match listed {
            None => bench.wrong(format!(
                "server reflection {version} is not served: grpcurl needs the proto file to talk to this driver"
            )),
            Some(services) => {
                for missing in wanted.iter().filter(|name| !services.iter().any(|listed| listed == *name)) {
                    bench.wrong(format!("server reflection {version} does not list {missing}"));
                }
            }
        }
    }
    Ok(())
}

fn beside(bench: &Bench) -> Tried {
    let socket = bench.settings().endpoint.path();
    let folder = socket.parent().unwrap_or(socket);
    if folder.metadata().is_ok_and(|folder| folder.permissions().mode() & 0o002 != 0) {
        let why = format!("anybody may write to {}: give the socket a folder of its own", folder.display());
        return Err(Stop::Skip(why));
    }
    let entries = folder.read_dir().map_err(|error| {
        Stop::Skip(format!("the folder {} can't be read from here: {error}", folder.display()))
    })?;
    for entry in entries.filter_map(Result::ok).filter(|entry| entry.path() != socket) {
        bench.wrong(format!(
            "{} lies beside the socket in {}; if it is not the driver's, give the socket a folder of its own",
            entry.file_name().display(),
            folder.display()
        ));
    }
    Ok(())
}

fn mode(bench: &Bench) -> Tried {
    let socket = bench.settings().endpoint.path();
    let found = socket.metadata().map_err(|error| {
        Stop::Skip(format!("the socket file {} can't be looked at from here: {error}", socket.display()))
    })?;
    let bits = found.permissions().mode() & 0o777;
    if bits & 0o007 != 0 {
        bench.wrong(format!(
            "the socket file has mode {bits:03o}: any user of the machine may call the driver"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drivers_name_is_made_of_lower_case_labels() {
        for name in ["sample.objectstorage.local", "a", "a-1.b"] {
            assert_eq!(wrong_name(name), None, "{name}");
        }
        for name in ["", "A", "1a", "a..b", "a-", "a_b", &"a".repeat(64)] {
            assert!(wrong_name(name).is_some(), "{name}");
        }
    }

    #[test]
    fn each_fault_in_the_list_of_protocols_is_named() {
        let wrong = |types: &[i32]| {
            let supported_protocols =
                types.iter().map(|r#type| wire::ObjectProtocol { r#type: *r#type }).collect();
            wrong_protocols(&wire::DriverGetInfoResponse { name: String::new(), supported_protocols }).len()
        };
        assert_eq!([wrong(&[1, 3]), wrong(&[]), wrong(&[1, 1]), wrong(&[0, 1, 9])], [0, 1, 1, 2]);
    }
}
