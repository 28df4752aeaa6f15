//! Encrypted connections.

use std::fs;
use std::time::{Duration, Instant};

use stockade_middleware::rate_limit::{Charge, HOUR, Policy, RateKey, RateStore as _};
use stockade_redis::{Health, Redis, RedisOptions};

use crate::engine::{Engine, free_port};

async fn health_after(redis: &Redis, is_settled: impl Fn(&Health) -> bool) -> Health {
    let begin = Instant::now();
    loop {
        let health = redis.health();
        if is_settled(&health) || begin.elapsed() > Duration::from_secs(60) {
            return health;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The nodes of a cluster are named by it, and are asked for certificates of these names.
#[tokio::test]
async fn the_nodes_of_a_cluster_are_encrypted_too() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (port, bus) = (free_port(), free_port().to_string());
    let files = [certificate.to_str().unwrap(), key.to_str().unwrap()];
    let own = port.to_string();
    let mut settings = vec!["--tls-port", &own, "--tls-cert-file", files[0]];
    settings.extend(["--tls-key-file", files[1], "--tls-ca-cert-file", files[0]]);
    settings.extend(["--tls-auth-clients", "no", "--tls-cluster", "yes"]);
    settings.extend(["--cluster-enabled", "yes", "--cluster-port", &bus]);
    settings.extend(["--cluster-announce-hostname", "localhost"]);
    settings.extend(["--cluster-preferred-endpoint-type", "hostname"]);
    let Some(engine) = Engine::start_with(&settings) else { return };
    assert_eq!(engine.admin(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]), "+OK");

    let options = RedisOptions::new().prefix("shop").connect_timeout(Duration::from_secs(30));
    let address = format!("rediss://shop:secret@localhost:{port}");
    let redis = Redis::cluster([address], options.root_certificates(made.cert.pem())).unwrap();
    let store = redis.rate_limits().deadline(Duration::from_secs(10));
    let (key, policy) = (RateKey::shared(), Policy::new("default", 5 / HOUR).unwrap());
    let begin = Instant::now();
    // Until it knows of itself that it has all slots.
    let decision = loop {
        let Charge::Later(decision) = store.charge(&key, &policy, Duration::ZERO) else {
            panic!("the engine is asked");
        };
        match decision.await {
            Ok(decision) => break decision,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(60), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!((decision.allowed, decision.remaining), (true, 4));
    assert_eq!(redis.health(), Health::Up);
}

#[tokio::test]
async fn a_certificate_is_trusted_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let port = free_port();
    let settings = [
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        certificate.to_str().unwrap(),
        "--tls-key-file",
        key.to_str().unwrap(),
        "--tls-auth-clients",
        "no",
    ];
    let Some(_engine) = Engine::start_with(&settings) else { return };

    let options = RedisOptions::new().prefix("shop").connect_timeout(Duration::from_secs(30));
    let trusting = options.clone().root_certificates(made.cert.pem());
    let url = |host: &str| format!("rediss://shop:secret@{host}:{port}");
    let redis = Redis::open(&url("localhost"), trusting.clone()).unwrap();
    assert_eq!(health_after(&redis, Health::is_up).await, Health::Up);

    let told = |health: &Health| matches!(health, Health::Down { error, .. } if error.contains("certificate"));
    // Another name, and another authority.
    let other = Redis::open(&url("127.0.0.1"), trusting).unwrap();
    assert!(told(&health_after(&other, told).await), "{other:?}");
    let stranger = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let distrusting = options.root_certificates(stranger.cert.pem());
    let other = Redis::open(&url("localhost"), distrusting.clone()).unwrap();
    assert!(told(&health_after(&other, told).await), "{other:?}");
    // Mistakes that are seen without a network.
    assert!(Redis::open(&url("localhost"), distrusting.root_certificates("none")).is_err());
}
