-- A token names the session of its user, and is over when that is another one:
-- after a new password, and where the number of a user who is gone is given again.
ALTER TABLE users ADD COLUMN session TEXT NOT NULL DEFAULT '';
UPDATE users SET session = hex(randomblob(16));

-- The passwords that were tried for an address since a time, in seconds of 1970:
-- also for addresses that nobody has.
CREATE TABLE guesses (
    email TEXT PRIMARY KEY COLLATE NOCASE,
    tried INTEGER NOT NULL,
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX guesses_by_since ON guesses (since);
