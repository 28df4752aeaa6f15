//! The bearer token of the workload `secure`.

/// The HS256 secret.
pub const SECRET: &str = "a secret of thirty-two bytes, for benchmarks";

/// A token of 165 bytes with the claims `sub`, `role`, `iat` and `exp`, valid
/// until the year 2100.
pub const GOOD: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.\
    eyJzdWIiOiJhZGEiLCJyb2xlIjoiZWRpdG9yIiwiaWF0IjoxNzYwMDAwMDAwLCJleHAiOjQxMDI0NDQ4MDB9.\
    _zbksHaK-G2tnas4hmuiS1k_o7mLVIfbSDMosW0FrF8";

/// [`GOOD`] with an invalid signature. The first character is different,
/// because lenient readers ignore some bits of the last one.
pub const FORGED: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.\
    eyJzdWIiOiJhZGEiLCJyb2xlIjoiZWRpdG9yIiwiaWF0IjoxNzYwMDAwMDAwLCJleHAiOjQxMDI0NDQ4MDB9.\
    AzbksHaK-G2tnas4hmuiS1k_o7mLVIfbSDMosW0FrF8";
