-- For lists of articles by tag, author and favorites, for the comments of an article, and
-- for deleting a user.
CREATE INDEX article_tags_by_tag ON article_tags (tag);
CREATE INDEX articles_by_author ON articles (author_id);
CREATE INDEX favorites_by_user ON favorites (user_id);
CREATE INDEX comments_by_article ON comments (article_id);
CREATE INDEX comments_by_author ON comments (author_id);
CREATE INDEX follows_by_followed ON follows (followed_id);
