-- A token contains the session of its user, and ends when the user gets another session:
-- after a new password, and if SQLite reuses the id of a deleted user.
ALTER TABLE users ADD COLUMN session TEXT NOT NULL DEFAULT '';
UPDATE users SET session = hex(randomblob(16));

-- The number of passwords that were tried for an email address since a time, in seconds
-- since 1970. The address may have no account.
CREATE TABLE guesses (
    email TEXT PRIMARY KEY COLLATE NOCASE,
    tried INTEGER NOT NULL,
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX guesses_by_since ON guesses (since);
