//! Password hashes.
// Spec: Authentication › Password functions.

use stockade_auth::{
    PasswordCost, PasswordHasher, hash_password, hash_password_with, needs_rehash, verify_password,
};

#[test]
fn the_format_matches_the_specification() {
    let stored = hash_password("correct horse").unwrap();
    let (salt, hash) = stored.split_once(':').unwrap();
    assert_eq!((salt.len(), hash.len()), (32, 128));
    assert!(stored.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b':')));
    assert_ne!(stored, hash_password("correct horse").unwrap());
    assert!(verify_password("correct horse", &stored));
    for wrong in ["", "correct hors", "correct horse ", "Correct horse", "correct horse x"] {
        assert!(!verify_password(wrong, &stored), "{wrong:?}");
    }
}

/// A property of HMAC (RFC 2104): keys are padded with zero bytes to the block
/// size.
#[test]
fn ignores_trailing_zero_bytes() {
    let stored = hash_password("correct horse").unwrap();
    assert!(verify_password("correct horse\0", &stored));
    assert!(!verify_password("\0correct horse", &stored));
}

#[test]
fn every_text_is_a_password() {
    for password in ["", "\0", "pässwörd", "\u{1f600}", &"x".repeat(10_000)] {
        let stored = hash_password(password).unwrap();
        assert!(verify_password(password, &stored));
        assert!(!verify_password(&format!("{password}x"), &stored));
    }
}

/// Computed with Python's `hashlib.pbkdf2_hmac('sha512', …, 10000)`.
#[test]
fn verifies_hashes_from_other_programs() {
    // The salt is the 16 bytes that the characters encode.
    assert!(verify_password("correct horse", OF_BYTES));
    assert!(verify_password("correct horse", &OF_BYTES.to_uppercase()));
    assert!(!verify_password("wrong horse", OF_BYTES));
    // The salt is the 32 characters themselves.
    assert!(verify_password("correct horse", OF_TEXT));
    assert!(!verify_password("wrong horse", OF_TEXT));
    // The case of this salt matters, because its characters were hashed. The
    // case of the hash does not matter.
    let (salt, hash) = OF_TEXT.split_once(':').unwrap();
    assert!(verify_password("correct horse", &format!("{salt}:{}", hash.to_uppercase())));
    assert!(!verify_password("correct horse", &OF_TEXT.to_uppercase()));
    // PHC format, 1,000 iterations.
    assert!(verify_password("correct horse", PHC));
    assert!(!verify_password("wrong horse", PHC));
}

const OF_BYTES: &str = "\
     f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff:a54530b3f272d179af22242adfee5ecd32ee20352accd81\
     fbfd6fc38ffcf310c84d750d36417576dbfc1a2c3f67c874e49b9ddfdbd4971dcd5619a3b3566f25\
     4";
const OF_TEXT: &str = "\
     f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff:356d82e8ba0f97f339a0e739b33bfe27f7dbe5d01afaa0d\
     1ffb797dc3aa6a4d5445e0c899583bad812437cedc0e4109e3bb5e6b86ad82c973127e23144ce4a3\
     3";
const PHC: &str = "\
     $pbkdf2-sha512$i=1000$8PHy8/T19vf4+fr7/P3+/w$xqu1f3FSdHbs02z9AocIk0UpBf6S9uqlRTf\
     cS56zkPqTxPMhm+kj4D+e8E9DRlH/uXf/Pe1g59vHIM0MwcvtiA";

#[test]
fn malformed_stored_values_never_verify() {
    let stored = hash_password("").unwrap();
    let (salt, hash) = stored.split_once(':').unwrap();
    for malformed in [
        String::new(),
        ":".to_owned(),
        salt.to_owned(),
        format!("{salt}:"),
        format!(":{hash}"),
        format!("{salt}{hash}"),
        format!("{salt}::{hash}"),
        format!("{salt}:{hash}:"),
        format!("{salt}:{hash}\n"),
        format!(" {salt}:{hash}"),
        format!("{salt}:{}", &hash[..126]),
        format!("{salt}:{}", &hash[..127]),
        format!("{salt}:{hash}00"),
        format!("{}:{hash}", &salt[..30]),
        format!("{salt}00:{hash}"),
        format!("{salt}:{}g", &hash[..127]),
        format!("{salt}:{}é", &hash[..126]),
        format!("{hash}:{salt}"),
        "x".repeat(1_000_000),
    ] {
        assert!(!verify_password("", &malformed), "{malformed:?}");
        assert!(needs_rehash(&malformed, PasswordCost::pbkdf2(10_000).unwrap()));
    }
}

#[test]
fn malformed_phc_strings_never_verify() {
    let (salt, hash) = ("AAAAAAAAAAAAAAAAAAAAAA", "A".repeat(86));
    assert!(!verify_password("", &format!("$pbkdf2-sha512$i=1000${salt}${hash}")));
    for malformed in [
        "$".to_owned(),
        "$pbkdf2-sha512".to_owned(),
        "$pbkdf2-sha512$i=1000".to_owned(),
        format!("$pbkdf2-sha512$i=1000${salt}"),
        format!("$pbkdf2-sha512$i=1000${salt}$"),
        format!("$pbkdf2-sha512$i=1000$${hash}"),
        format!("$pbkdf2-sha512$i=1000${salt}$AAAA"),
        format!("$pbkdf2-sha512$i=0${salt}${hash}"),
        format!("$pbkdf2-sha512$i=-1${salt}${hash}"),
        format!("$pbkdf2-sha512$i=4294967295${salt}${hash}"),
        format!("$pbkdf2-sha512$i=10000001${salt}${hash}"),
        format!("$pbkdf2-sha512$i=99999999999999999999${salt}${hash}"),
        format!("$pbkdf2-sha512$i=1000${salt}${hash}$"),
        format!("$pbkdf2-sha512$i=1000${salt}=${hash}"),
        format!("$pbkdf2-sha512$v=1$i=1000${salt}${hash}"),
        format!("$pbkdf2-sha1$i=1000${salt}${hash}"),
        format!("$pbkdf2$i=1000${salt}${hash}"),
        format!("$2b$10${salt}${hash}"),
        format!("$argon2i$v=19$m=64,t=1,p=1${salt}${hash}"),
        format!("$argon2id$m=64,t=1,p=1${salt}${hash}"),
        format!("$argon2id$v=16$m=64,t=1,p=1${salt}${hash}"),
        format!("$argon2id$v=19$t=1,m=64,p=1${salt}${hash}"),
        format!("$argon2id$v=19$m=4294967295,t=1,p=1${salt}${hash}"),
        format!("$argon2id$v=19$m=64,t=4294967295,p=1${salt}${hash}"),
        format!("$argon2id$v=19$m=64,t=1,p=0${salt}${hash}"),
    ] {
        assert!(!verify_password("", &malformed), "{malformed:?}");
        assert!(needs_rehash(&malformed, PasswordCost::default()), "{malformed:?}");
    }
}

#[test]
fn the_hash_contains_a_higher_cost() {
    let cost = PasswordCost::pbkdf2(10_001).unwrap();
    let stored = hash_password_with("correct horse", cost).unwrap();
    assert!(stored.starts_with("$pbkdf2-sha512$i=10001$"), "{stored}");
    assert!(verify_password("correct horse", &stored));
    assert!(!verify_password("wrong horse", &stored));
    // The cost affects the hash.
    assert!(!verify_password("correct horse", &stored.replace("10001", "10000")));

    assert!(!needs_rehash(&stored, cost));
    assert!(!needs_rehash(&stored, PasswordCost::pbkdf2(10_000).unwrap()));
    assert!(needs_rehash(&stored, PasswordCost::default()));
    assert!(needs_rehash(OF_BYTES, cost));
    assert!(!needs_rehash(OF_BYTES, PasswordCost::pbkdf2(10_000).unwrap()));
    assert!(PasswordCost::pbkdf2(10_000_001).is_err());
}

/// Features do not change the recommended hasher, and every hasher verifies all
/// formats.
#[test]
fn every_hasher_verifies_all_formats() {
    let recommended = PasswordHasher::recommended();
    let own = PasswordHasher::from(PasswordCost::pbkdf2(20_000).unwrap());
    assert_eq!(recommended, PasswordHasher::default());
    assert_eq!(recommended.cost(), PasswordCost::pbkdf2(210_000).unwrap());
    let stored = own.hash("correct horse").unwrap();
    assert!(stored.starts_with("$pbkdf2-sha512$i=20000$"), "{stored}");
    assert!(recommended.verify("correct horse", &stored));
    assert!(!own.verify("wrong horse", &stored));
    assert!(recommended.needs_rehash(&stored) && !own.needs_rehash(&stored));
    for old in [OF_BYTES, PHC] {
        assert!(own.verify("correct horse", old) && own.needs_rehash(old), "{old}");
    }
    #[cfg(feature = "argon2")]
    {
        let argon2id = PasswordHasher::argon2id();
        assert_eq!(argon2id.cost(), PasswordCost::argon2id(19_456, 2, 1).unwrap());
        let better = argon2id.hash("correct horse").unwrap();
        assert!(better.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{better}");
        assert!(own.verify("correct horse", &better));
        assert!(!argon2id.needs_rehash(&better) && !recommended.needs_rehash(&better));
        assert!(argon2id.needs_rehash(&stored) && argon2id.needs_rehash(OF_BYTES));
    }
}

/// From the tests of the reference implementation (phc-winner-argon2, test.c).
#[cfg(feature = "argon2")]
#[test]
fn argon2id() {
    const REFERENCE: &str =
        "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
    assert!(verify_password("password", REFERENCE));
    assert!(!verify_password("Password", REFERENCE));

    let cost = PasswordCost::argon2id(64, 2, 2).unwrap();
    let stored = hash_password_with("correct horse", cost).unwrap();
    assert!(stored.starts_with("$argon2id$v=19$m=64,t=2,p=2$"), "{stored}");
    assert!(verify_password("correct horse", &stored));
    assert!(!verify_password("wrong horse", &stored));

    assert!(!needs_rehash(&stored, cost));
    assert!(needs_rehash(&stored, PasswordCost::argon2id(65, 2, 2).unwrap()));
    assert!(needs_rehash(&stored, PasswordCost::argon2id(64, 3, 2).unwrap()));
    assert!(needs_rehash(OF_BYTES, cost));
    assert!(PasswordCost::argon2id(7, 1, 1).is_err());
}

/// An Argon2id hash may still be too weak.
#[test]
fn a_cheap_argon2id_hash_needs_rehashing() {
    let (salt, hash) = ("A".repeat(22), "A".repeat(43));
    let check = |parameters: &str, expected: bool| {
        let stored = format!("$argon2id$v=19${parameters}${salt}${hash}");
        for cost in [PasswordCost::default(), PasswordCost::pbkdf2(10_000).unwrap()] {
            assert_eq!(needs_rehash(&stored, cost), expected, "{stored}");
        }
    };
    check("m=8,t=1,p=1", true);
    check("m=19455,t=2,p=1", true);
    check("m=19456,t=1,p=1", true);
    check("m=19456,t=2,p=1", false);
    check("m=47104,t=1,p=1", false);
    check("m=65536,t=3,p=4", false);
}

/// Such a hash does not verify if the feature is off, and should be replaced.
#[cfg(not(feature = "argon2"))]
#[test]
fn argon2id_without_the_feature_never_verifies() {
    const REFERENCE: &str =
        "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
    assert!(!verify_password("password", REFERENCE));
}
