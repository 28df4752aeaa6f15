-- Triggers count the favorites. With many accounts, an attacker could otherwise make
-- counting them, for each article of a list, take longer than a request may.
ALTER TABLE articles ADD COLUMN favorites_count INTEGER NOT NULL DEFAULT 0;
UPDATE articles
SET favorites_count = (SELECT count(*) FROM favorites WHERE article_id = articles.id);
CREATE TRIGGER favorite_added AFTER INSERT ON favorites BEGIN
    UPDATE articles SET favorites_count = favorites_count + 1 WHERE id = NEW.article_id;
END;
CREATE TRIGGER favorite_removed AFTER DELETE ON favorites BEGIN
    UPDATE articles SET favorites_count = favorites_count - 1 WHERE id = OLD.article_id;
END;
