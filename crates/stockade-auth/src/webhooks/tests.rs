//! Signatures of the public documentation, and forged ones.

use super::*;
use crate::UnixClock;

/// The headers of a request.
type Headers<'h> = &'h [(&'h str, &'h str)];

fn of<'h>(headers: Headers<'h>) -> impl FnMut(&'static str) -> Option<&'h str> {
    move |name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Source: GitHub Docs, "Validating webhook deliveries", "Testing the webhook
/// payload validation".
#[test]
fn verifies_the_example_of_github() {
    let keys = WebhookKeys::<GitHub>::new("It's a Secret to Everybody").unwrap();
    let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let headers = [("x-hub-signature-256", signature)];
    assert!(keys.verify(of(&headers), b"Hello, World!").is_ok());
    assert_eq!(keys.verify(of(&headers), b"Hello, World"), Err(WebhookError::Wrong));
    let signed = keys.sign("", b"Hello, World!");
    assert_eq!(signed, [("x-hub-signature-256", signature.to_owned())]);
}

/// Source: Standard Webhooks, tests of the reference libraries, and Svix Docs,
/// "Verifying webhooks manually".
#[test]
fn verifies_the_example_of_standard_webhooks() {
    let keys = WebhookKeys::<StandardWebhooks>::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .unwrap()
        .clock(UnixClock::at(1_614_265_330));
    let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    let check = |signature: &str, expected: Result<(), WebhookError>| {
        let headers = [
            ("webhook-id", id),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", signature),
        ];
        let verified = keys.verify(of(&headers), br#"{"test": 2432232314}"#);
        assert_eq!(verified.as_ref().map(|_| ()), expected.as_ref().map(|_| ()), "{signature}");
        if let Ok(head) = verified {
            assert_eq!((head.id(), head.unix_seconds()), (Some(id), Some(1_614_265_330)));
        }
    };
    let malformed = || Err(WebhookError::Malformed("webhook-signature"));
    check(signature, Ok(()));
    // Several signatures, also of an asymmetric version.
    let other = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    check(&format!("v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw== {other} {signature}"), Ok(()));
    check(other, Err(WebhookError::Wrong));
    // A part of the signature, another version, or no version.
    check("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1A==", malformed());
    check("v1,", malformed());
    check("", malformed());
    check(signature.strip_prefix("v1,").unwrap(), malformed());
    check(&signature.replace("v1", "v2"), malformed());
    let signed = keys.sign(id, br#"{"test": 2432232314}"#);
    assert_eq!(signed[2], ("webhook-signature", signature.to_owned()));
}

/// Source: the tests of the library async-stripe, with the secret `secret`, and
/// the header in Stripe Docs, "Verify webhook signatures manually".
#[test]
fn verifies_an_example_of_stripe() {
    let body = concat!(
        r#"{"account":"acct_123","api_version":"2017-05-25","created":1533204620,"#,
        r#""data":{"object":{"amount":1000,"currency":"usd","customer":"cus_123","#,
        r#""date":1533204620,"description":"Test Invoice Item","discountable":false,"#,
        r#""id":"ii_123","invoice":"in_123","livemode":false,"metadata":{},"#,
        r#""object":"invoiceitem","period":{"end":1533204620,"start":1533204620},"#,
        r#""proration":false,"quantity":3}},"id":"evt_123","livemode":false,"#,
        r#""object":"event","pending_webhooks":1,"request":{"id":"req_123","#,
        r#""idempotency_key":"idempotency-key-123"},"type":"invoiceitem.created"}"#,
    );
    let tag = "5a81ebe328da1df19581cbc6c7377920947ffd30b56eebcc7ba9a6938a090965";
    let keys = WebhookKeys::<Stripe>::of_bytes(b"secret").clock(UnixClock::at(1_533_204_620));
    let check = |header: &str, expected: Result<(), WebhookError>| {
        let verified = keys.verify(of(&[("stripe-signature", header)]), body.as_bytes());
        assert_eq!(verified.map(|_| ()), expected, "{header}");
    };
    let malformed = || Err(WebhookError::Malformed("stripe-signature"));
    let zeros = "0".repeat(64);
    check(&format!("t=1533204620,v1={tag}"), Ok(()));
    check(&format!("t=1533204620,v1={zeros},v1={tag},v0={zeros}"), Ok(()));
    check(&format!("t=1533204620,v1={zeros}"), Err(WebhookError::Wrong));
    // The signed time is another one.
    check(&format!("t=1533204621,v1={tag}"), Err(WebhookError::Wrong));
    // `v0` is not a secure signature.
    check(&format!("t=1533204620,v0={tag}"), malformed());
    check(&format!("v1={tag}"), malformed());
    check(&format!("t=1533204620,t=1533204620,v1={tag}"), malformed());
    check(&format!("t=+1533204620,v1={tag}"), malformed());
    check(&format!("t=1533204620,v1={}", &tag[..62]), malformed());
    check("t=1533204620", malformed());
    check("", malformed());
    let documented = "t=1492774577,\
        v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd,\
        v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39";
    let head = WebhookHead::read(WebhookFormat::Stripe, of(&[("stripe-signature", documented)]));
    let head = head.unwrap();
    assert_eq!((head.unix_seconds(), head.tags.len()), (Some(1_492_774_577), 1));
}

#[test]
fn the_time_must_be_near_the_clock() {
    let keys =
        |now| WebhookKeys::<Stripe>::new("whsec_0123456789").unwrap().clock(UnixClock::at(now));
    let signed = keys(1_000_000).sign("", b"{}");
    let headers = [("stripe-signature", signed[0].1.as_str())];
    for (now, expected) in [
        (1_000_000, Ok(())),
        (1_000_300, Ok(())),
        (1_000_301, Err(WebhookError::Time)),
        (999_700, Ok(())),
        (999_699, Err(WebhookError::Time)),
    ] {
        let verified = keys(now).verify(of(&headers), b"{}");
        assert_eq!(verified.map(|_| ()), expected, "{now}");
    }
}

#[test]
fn each_key_verifies_and_the_first_signs() {
    let (old, new) = ("the secret of last year", "the secret of this year");
    let signed_by = |secret| WebhookKeys::<GitHub>::new(secret).unwrap().sign("", b"{}");
    let both = WebhookKeys::<GitHub>::new(new).unwrap().or(old).unwrap();
    for secret in [old, new] {
        let signed = signed_by(secret);
        let headers = [(signed[0].0, signed[0].1.as_str())];
        assert!(both.verify(of(&headers), b"{}").is_ok(), "{secret}");
    }
    assert_eq!(both.sign("", b"{}"), signed_by(new));
    let third = signed_by("the secret of somebody else");
    let headers = [(third[0].0, third[0].1.as_str())];
    assert_eq!(both.verify(of(&headers), b"{}"), Err(WebhookError::Wrong));
}

#[test]
fn reports_missing_and_malformed_headers() {
    #[track_caller]
    fn check(headers: Headers<'_>, expected: WebhookError) {
        let keys = WebhookKeys::<StandardWebhooks>::new("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let keys = keys.unwrap().clock(UnixClock::at(1_614_265_330));
        assert_eq!(keys.verify(of(headers), b""), Err(expected));
    }
    let (id, time) = (("webhook-id", "msg_1"), ("webhook-timestamp", "1614265330"));
    let signature = ("webhook-signature", "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    check(&[], WebhookError::Missing("webhook-id"));
    check(&[id], WebhookError::Missing("webhook-timestamp"));
    check(&[id, time], WebhookError::Missing("webhook-signature"));
    check(&[id, time, signature], WebhookError::Wrong);
    let malformed_id = WebhookError::Malformed("webhook-id");
    check(&[("webhook-id", ""), time, signature], malformed_id);
    check(&[("webhook-id", "a.1614265330"), time, signature], malformed_id);
    let malformed_time = WebhookError::Malformed("webhook-timestamp");
    for text in ["", "-1", "1614265330.0", "now", "99999999999999999999"] {
        check(&[id, ("webhook-timestamp", text), signature], malformed_time);
    }
    let keys = WebhookKeys::<GitHub>::new("the secret of this year").unwrap();
    for text in ["", "sha256=", "sha1=757107ea0eb2509fc211", "757107ea", "sha256=zz"] {
        let verified = keys.verify(of(&[("x-hub-signature-256", text)]), b"");
        assert_eq!(verified, Err(WebhookError::Malformed("x-hub-signature-256")), "{text}");
    }
}

#[test]
fn rejects_secrets_that_can_be_guessed() {
    let message = |secret: &str| {
        let error = WebhookKeys::<GitHub>::new(secret).unwrap_err();
        assert_eq!(error.issues()[0].location().unwrap().file(), file!());
        error.issues()[0].message().to_owned()
    };
    assert_eq!(
        message(""),
        "the secret of the webhooks has 0 bytes and can be guessed: use at least 16"
    );
    assert!(message("fifteen bytes..").contains("15 bytes"));
    assert!(WebhookKeys::<GitHub>::new("sixteen bytes...").is_ok());
    for secret in ["", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64", "sixteen bytes..."] {
        assert!(WebhookKeys::<StandardWebhooks>::new(secret).is_err(), "{secret}");
    }
}

#[test]
fn debug_output_hides_signatures_and_secrets() {
    let keys = WebhookKeys::<Stripe>::new("whsec_0123456789").unwrap().clock(UnixClock::at(7));
    let signed = keys.sign("", b"{}");
    let head = keys.verify(of(&[("stripe-signature", signed[0].1.as_str())]), b"{}").unwrap();
    assert_eq!(format!("{head:?}"), "WebhookHead { id: None, unix_seconds: Some(7), .. }");
    assert_eq!(format!("{keys:?}"), "WebhookKeys(stripe, 1 keys)");
}

#[test]
fn formats_have_names_and_headers() {
    for format in [WebhookFormat::GitHub, WebhookFormat::Stripe, WebhookFormat::StandardWebhooks] {
        assert_eq!(WebhookFormat::by_name(format.name()), Some(format));
        let signed = format.sign(b"a key", 1, "msg_1", b"{}");
        let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, format.headers());
    }
    assert_eq!(WebhookFormat::by_name("other"), None);
}
