//! Response headers in full mode.

/// The security headers.
pub const SECURITY: [(&str, &str); 8] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("x-xss-protection", "0"),
    ("strict-transport-security", "max-age=31536000; includeSubDomains"),
    (
        "content-security-policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// The origins that CORS allows.
pub const ORIGINS: [&str; 2] = ["https://app.example", "https://admin.example"];

/// The CORS headers for a request from [`ORIGINS`]`[0]`.
pub const CORS: [(&str, &str); 4] = [
    ("access-control-allow-origin", ORIGINS[0]),
    ("access-control-allow-credentials", "true"),
    ("access-control-expose-headers", "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"),
    ("vary", "Origin"),
];
