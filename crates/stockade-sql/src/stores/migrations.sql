CREATE TABLE IF NOT EXISTS stockade_sessions (
    id text NOT NULL PRIMARY KEY,
    subject_id text,
    subject text,
    data text NOT NULL,
    version bigint NOT NULL,
    ends bigint NOT NULL,
    lifetime_ends bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS stockade_sessions_subject
    ON stockade_sessions (subject_id, lifetime_ends);
CREATE INDEX IF NOT EXISTS stockade_sessions_ends ON stockade_sessions (ends);

CREATE TABLE IF NOT EXISTS stockade_idempotency_keys (
    id text NOT NULL PRIMARY KEY,
    owner text NOT NULL,
    fingerprint text NOT NULL,
    nonce text NOT NULL,
    leased_until bigint NOT NULL,
    ends bigint NOT NULL,
    record text
);
CREATE INDEX IF NOT EXISTS stockade_idempotency_keys_owner
    ON stockade_idempotency_keys (owner, ends);
CREATE INDEX IF NOT EXISTS stockade_idempotency_keys_ends
    ON stockade_idempotency_keys (ends);

CREATE TABLE IF NOT EXISTS stockade_revocations (
    number bigint NOT NULL PRIMARY KEY,
    entry text NOT NULL UNIQUE,
    ends bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS stockade_revocations_ends ON stockade_revocations (ends);

CREATE TABLE IF NOT EXISTS stockade_revocation_counter (
    id integer NOT NULL PRIMARY KEY,
    last bigint NOT NULL
);
INSERT INTO stockade_revocation_counter (id, last) VALUES (1, 0) ON CONFLICT (id) DO NOTHING;
