-- 1
CREATE TABLE about (folder TEXT NOT NULL)
CREATE TABLE files ( id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime INTEGER NOT NULL, seen INTEGER NOT NULL, digest BLOB NOT NULL, reason TEXT NOT NULL, note TEXT NOT NULL )
CREATE TRIGGER passage_in AFTER INSERT ON passages BEGIN INSERT INTO words (rowid, title, text, grams) VALUES (new.id, new.title, new.text, new.grams); END
CREATE TRIGGER passage_out AFTER DELETE ON passages BEGIN INSERT INTO words (words, rowid, title, text, grams) VALUES ('delete', old.id, old.title, old.text, old.grams); END
CREATE TABLE passages ( id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, place INTEGER NOT NULL, title TEXT NOT NULL, offset INTEGER NOT NULL, text TEXT NOT NULL, grams TEXT NOT NULL, UNIQUE (file, place) )
CREATE VIRTUAL TABLE words USING fts5( title, text, grams, content='passages', content_rowid='id', tokenize='porter unicode61' )
-- 2
CREATE TABLE about (folder TEXT NOT NULL)
CREATE TABLE files ( id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime INTEGER NOT NULL, seen INTEGER NOT NULL, digest BLOB NOT NULL, reason TEXT NOT NULL, note TEXT NOT NULL )
CREATE TRIGGER passage_in AFTER INSERT ON passages BEGIN INSERT INTO words (rowid, title, text, grams) VALUES (new.id, new.title, new.text, new.grams); END
CREATE TRIGGER passage_out AFTER DELETE ON passages BEGIN INSERT INTO words (words, rowid, title, text, grams) VALUES ('delete', old.id, old.title, old.text, old.grams); END
CREATE TABLE passages ( id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, place INTEGER NOT NULL, title TEXT NOT NULL, offset INTEGER NOT NULL, text TEXT NOT NULL, grams TEXT NOT NULL, UNIQUE (file, place) )
CREATE VIRTUAL TABLE words USING fts5( title, text, grams, content='passages', content_rowid='id', tokenize='porter unicode61' )
