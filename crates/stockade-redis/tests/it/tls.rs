//! Tests encrypted connections.

use std::fs;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use stockade_redis::{Health, Redis, RedisOptions};
use stockade_stages::rate_limit::{ChargeOutcome, HOUR, RateKey, RateLimitPolicy, RateStore as _};
use tempfile::TempDir;

use crate::engine::{Engine, free_port, until};

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

/// Cluster nodes are announced by host name, and their certificates must match
/// these names.
#[tokio::test]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn cluster_nodes_use_tls() {
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
    let engine = Engine::start_with(&settings);
    assert_eq!(engine.admin(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]), "+OK");

    let options = RedisOptions::new().prefix("shop").connect_timeout(Duration::from_secs(30));
    let address = format!("rediss://shop:secret@localhost:{port}");
    let redis = Redis::cluster([address], options.root_certificates(made.cert.pem())).unwrap();
    let store = redis.rate_limits().deadline(Duration::from_secs(10));
    let (key, policy) = (RateKey::shared(), RateLimitPolicy::new("default", 5 / HOUR).unwrap());
    let begin = Instant::now();
    // Retry until the node reports that it has all slots.
    let decision = loop {
        let ChargeOutcome::Pending(decision) = store.charge(&key, &policy, Duration::ZERO) else {
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

/// A server certificate for this machine and its CA, as files.
struct Signed {
    folder: TempDir,
    authority: String,
}

impl Signed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // With the name of the server certificate, the CA would make it look
        // self-signed.
        params.distinguished_name.push(DnType::CommonName, "an authority of a test");
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let (params, key) = (CertificateParams::new(names), KeyPair::generate().unwrap());
        let certificate = params.unwrap().signed_by(&key, &issuer).unwrap();
        fs::write(folder.path().join("authority.pem"), &authority).unwrap();
        fs::write(folder.path().join("certificate.pem"), certificate.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
        Self { folder, authority }
    }

    /// Returns the settings of a server that encrypts all connections.
    fn settings(&self, port: u16) -> Vec<(&'static str, String)> {
        let file = |name: &str| self.folder.path().join(name).to_str().unwrap().to_owned();
        vec![
            ("tls-port", port.to_string()),
            ("tls-cert-file", file("certificate.pem")),
            ("tls-key-file", file("key.pem")),
            ("tls-ca-cert-file", file("authority.pem")),
            ("tls-auth-clients", "no".to_owned()),
            ("tls-replication", "yes".to_owned()),
        ]
    }

    /// Starts a server on a separate TLS port, with extra settings.
    fn engine(&self, port: u16, more: &[&str]) -> Engine {
        let settings = self.settings(port);
        let words = settings.iter().map(|(name, value)| (format!("--{name}"), value));
        let words: Vec<_> = words.flat_map(|(name, value)| [name, value.clone()]).collect();
        let words: Vec<&str> =
            words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        Engine::start_with(&words)
    }

    fn sentinel(&self, port: u16, more: &str) -> Engine {
        let settings = self.settings(port);
        let lines = settings.iter().map(|(name, value)| format!("{name} {value}\n"));
        Engine::start_sentinel(&format!("{}{more}", lines.collect::<String>()))
    }
}

/// Connections to Sentinel and to its servers use TLS, also after a failover.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn sentinels_and_their_servers_use_tls() {
    let signed = Signed::new();
    let ports = [free_port(), free_port()];
    let master = signed.engine(ports[0], &[]);
    let first = ports[0].to_string();
    let replica = signed.engine(ports[1], &["--replicaof", "127.0.0.1", &first]);
    let asked = free_port();
    let monitor = format!(
        "sentinel monitor shop 127.0.0.1 {first} 1\nsentinel down-after-milliseconds shop 60000\n"
    );
    let sentinel = signed.sentinel(asked, &monitor);
    let state = || replica.admin(&["INFO", "replication"]);
    until("a replica", || state().contains("master_link_status:up")).await;
    until("a group", || sentinel.admin(&["INFO", "sentinel"]).contains("slaves=1")).await;

    let options = RedisOptions::new().prefix("shop").connect_timeout(Duration::from_secs(30));
    let options = options.engine_login("shop", "secret");
    let open = |authority: &str| {
        let options = options.clone().root_certificates(authority);
        Redis::sentinel([format!("rediss://127.0.0.1:{asked}")], "shop", options).unwrap()
    };
    let redis = open(&signed.authority);
    assert_eq!(health_after(&redis, Health::is_up).await, Health::Up);
    // The connection uses TLS: the other port does not have our login.
    assert!(master.admin(&["CLIENT", "LIST"]).contains("user=shop"));
    // Sentinel does not immediately know how far the replica has replicated.
    until("an order", || sentinel.admin(&["SENTINEL", "FAILOVER", "shop"]) == "+OK").await;
    until("a failover", || state().contains("role:master")).await;
    let store = redis.rate_limits().deadline(Duration::from_secs(10));
    // A command detects that the first server is no longer the master.
    let (key, policy) = (RateKey::shared(), RateLimitPolicy::new("default", 1_000 / HOUR).unwrap());
    let begin = Instant::now();
    while !replica.admin(&["CLIENT", "LIST"]).contains("user=shop") {
        assert!(begin.elapsed() < Duration::from_secs(60), "{redis:?}");
        if let ChargeOutcome::Pending(decision) = store.charge(&key, &policy, Duration::ZERO) {
            // Fails during the failover.
            let _ = decision.await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    let told = |health: &Health| matches!(health, Health::Down { error, .. } if error.contains("certificate"));
    let distrusting = open(&Signed::new().authority);
    assert!(told(&health_after(&distrusting, told).await), "{distrusting:?}");
}

#[tokio::test]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn accepts_or_rejects_certificates() {
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
    let _engine = Engine::start_with(&settings);

    let options = RedisOptions::new().prefix("shop").connect_timeout(Duration::from_secs(30));
    let trusting = options.clone().root_certificates(made.cert.pem());
    let url = |host: &str| format!("rediss://shop:secret@{host}:{port}");
    let redis = Redis::open(&url("localhost"), trusting.clone()).unwrap();
    assert_eq!(health_after(&redis, Health::is_up).await, Health::Up);

    let told = |health: &Health| matches!(health, Health::Down { error, .. } if error.contains("certificate"));
    // Another host name, and another CA.
    let other = Redis::open(&url("127.0.0.1"), trusting).unwrap();
    assert!(told(&health_after(&other, told).await), "{other:?}");
    let stranger = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let distrusting = options.root_certificates(stranger.cert.pem());
    let other = Redis::open(&url("localhost"), distrusting.clone()).unwrap();
    assert!(told(&health_after(&other, told).await), "{other:?}");
    // Configuration errors that are found without a network.
    assert!(Redis::open(&url("localhost"), distrusting.root_certificates("none")).is_err());
}
