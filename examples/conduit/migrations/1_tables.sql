CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    username TEXT NOT NULL UNIQUE COLLATE NOCASE,
    email TEXT NOT NULL UNIQUE COLLATE NOCASE,
    password_hash TEXT NOT NULL,
    bio TEXT,
    image TEXT
) STRICT;

CREATE TABLE follows (
    follower_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    followed_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    PRIMARY KEY (follower_id, followed_id)
) STRICT, WITHOUT ROWID;

-- Times are UTC with milliseconds, as the API sends them. Sorting them as text sorts them
-- by time.
CREATE TABLE articles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    author_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE TABLE article_tags (
    article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (article_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE favorites (
    article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE,
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    PRIMARY KEY (article_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE,
    author_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
