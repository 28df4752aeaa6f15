//! PBKDF2 and Argon2id, which hash a password with a salt.

use std::num::NonZeroU32;

use ring::pbkdf2;
use subtle::ConstantTimeEq;

use super::PasswordError;
use super::cost::Work;

/// Fills `hash` with the hash of a password.
///
/// # Errors
/// Fails if this build does not include the function, or if the function
/// rejects the password.
pub(super) fn derive(
    work: Work,
    password: &[u8],
    salt: &[u8],
    hash: &mut [u8],
) -> Result<(), PasswordError> {
    match work {
        Work::Pbkdf2 { iterations } => {
            let iterations = NonZeroU32::new(iterations).ok_or(PasswordError::Function)?;
            pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA512, iterations, salt, password, hash);
            Ok(())
        }
        Work::Argon2id { memory_kib, passes, lanes } => {
            argon2id(memory_kib, passes, lanes, password, salt, hash)
        }
    }
}

/// Returns true if the password has this hash. Every wrong password takes the
/// same time.
pub(super) fn is_hash_of(work: Work, password: &[u8], salt: &[u8], expected: &[u8]) -> bool {
    let mut hash = vec![0; expected.len()];
    derive(work, password, salt, &mut hash).is_ok() && bool::from(hash.ct_eq(expected))
}

#[cfg(feature = "argon2")]
fn argon2id(
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    password: &[u8],
    salt: &[u8],
    hash: &mut [u8],
) -> Result<(), PasswordError> {
    use argon2::{Algorithm, Argon2, Params, Version};

    let params = Params::new(memory_kib, passes, lanes, Some(hash.len()));
    let params = params.map_err(|_| PasswordError::Function)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon2.hash_password_into(password, salt, hash).map_err(|_| PasswordError::Function)
}

#[cfg(not(feature = "argon2"))]
fn argon2id(_: u32, _: u32, _: u32, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<(), PasswordError> {
    log::warn!(
        target: crate::LOG_TARGET,
        "a stored password hash is Argon2id, but the feature `argon2` is disabled, so it is \
         rejected",
    );
    Err(PasswordError::Function)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// C2SP/wycheproof, PBKDF2-HMAC-SHA512: 58 cases.
    #[test]
    fn wycheproof_pbkdf2() {
        let file = include_str!("../../../../tests/vectors/wycheproof/pbkdf2_hmacsha512_test.json");
        let file: Value = serde_json::from_str(file).unwrap();
        let bytes = |case: &Value, name: &str| hex::decode(case[name].as_str().unwrap()).unwrap();
        let mut cases = 0;
        for case in file["testGroups"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["tests"].as_array().unwrap())
        {
            let iterations = u32::try_from(case["iterationCount"].as_u64().unwrap()).unwrap();
            let expected = bytes(case, "dk");
            let work = Work::Pbkdf2 { iterations };
            let (password, salt) = (bytes(case, "password"), bytes(case, "salt"));
            assert_eq!(case["result"], "valid");
            assert!(is_hash_of(work, &password, &salt, &expected), "{}", case["tcId"]);
            let mut other = expected;
            other[0] ^= 1;
            assert!(!is_hash_of(work, &password, &salt, &other), "{}", case["tcId"]);
            cases += 1;
        }
        assert_eq!(cases, 58);
    }
}
