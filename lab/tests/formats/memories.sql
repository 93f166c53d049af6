-- 1
CREATE TABLE bases ( number INTEGER NOT NULL, base INTEGER NOT NULL, PRIMARY KEY (base, number) ) WITHOUT ROWID
CREATE TABLE embedding (model TEXT NOT NULL)
CREATE TABLE memories ( number INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER UNIQUE, text TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, trust TEXT NOT NULL, at INTEGER NOT NULL, run TEXT NOT NULL, seq INTEGER NOT NULL, by TEXT NOT NULL, superseded INTEGER NOT NULL DEFAULT 0 )
CREATE INDEX memories_by_key ON memories (key, superseded)
CREATE INDEX memories_by_next ON memories (superseded) WHERE superseded != 0
CREATE INDEX memories_by_run ON memories (run)
CREATE TABLE tombstones ( number INTEGER PRIMARY KEY, at INTEGER NOT NULL, swept INTEGER NOT NULL DEFAULT 0 )
CREATE TABLE vectors ( number INTEGER PRIMARY KEY, place INTEGER NOT NULL, vector BLOB NOT NULL )
CREATE INDEX vectors_by_place ON vectors (place)
CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')
