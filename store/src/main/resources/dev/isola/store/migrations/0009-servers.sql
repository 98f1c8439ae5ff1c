-- The servers that share this ledger. A lease ends by the clock of the database.
create table server (
  name        text   not null primary key,
  -- Distinguishes two processes with one name.
  incarnation text   not null,
  url         text   not null,
  version     text   not null,
  started_at  bigint not null,
  lease_until bigint not null,
  -- What the server has reserved, which the ledger does not interpret.
  reserved    text   not null
);

-- The server that holds the connection to the sandbox; empty if one server has the ledger to itself.
alter table sandbox add column owner text not null default '';
-- Increases with every change of the owner.
alter table sandbox add column fence bigint not null default 0;

create index sandbox_by_owner on sandbox (owner, id) where state <> 'DESTROYED';
create index sandbox_due_by_owner on sandbox (owner, due_at) where due_at is not null;

-- Recurring tasks that one server carries out for all, until the time that it claimed.
create table task (
  name          text   not null primary key,
  claimed_until bigint not null
);
