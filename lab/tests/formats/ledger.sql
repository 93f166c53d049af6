-- 1
CREATE TABLE batches ( id integer primary key, scope text not null, model text not null, mark text not null unique, remote text not null default '', total integer not null, done integer not null default 0, begun real not null, sending real, ended real, failed text not null default '' )
CREATE TABLE requests ( id integer primary key, batch integer not null references batches, scope text not null, run text not null, digest text not null, number integer not null, kind text, status integer, body blob, spent integer not null default 0, unique (scope, run, digest, number) )
CREATE INDEX requests_of on requests (batch)
-- 2
CREATE TABLE batches ( id integer primary key, scope text not null, account text not null, model text not null, mark text not null unique, remote text not null default '', total integer not null, done integer not null default 0, begun real not null, sending real, ended real, failed text not null default '' )
CREATE TABLE canceled (mark text primary key, at real not null)
CREATE TABLE requests ( id integer primary key, batch integer not null references batches, scope text not null, run text not null, digest text not null, number integer not null, kind text, status integer, body blob, spent integer not null default 0, unique (scope, run, digest, number) )
CREATE INDEX requests_of on requests (batch)
