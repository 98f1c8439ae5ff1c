-- Runs on SQLite and on PostgreSQL. Times and durations are microseconds, flags are 0 and 1.

create table sandbox (
  id                     text     not null primary key,
  tenant                 text     not null,
  -- The name that a client gave it; null for none.
  name                   text,
  spec                   text     not null,
  spec_hash              text     not null,
  provider               text     not null,
  isolation              text     not null,
  state                  text     not null,
  revision               bigint   not null,
  created_at             bigint   not null,
  updated_at             bigint   not null,
  expires_at             bigint,
  idle_timeout           bigint,
  last_activity          bigint   not null,
  -- The smaller of expires_at and last_activity + idle_timeout while it is alive, for the sweep.
  due_at                 bigint,
  -- What the engine does with it when it is idle too long or has expired: DESTROY, PAUSE, STOP or SNAPSHOT.
  when_idle              text     not null,
  when_expired           text     not null,
  -- IDLE or EXPIRED while it is suspended.
  suspended              text,
  suspended_idle_timeout bigint,
  -- The snapshot that has its files when it is not at its provider.
  suspended_snapshot     text,
  -- The image below the snapshot that it was created from; empty for no image.
  base_image             text,
  warm                   smallint not null,
  pooled                 smallint not null,
  cause                  text,
  -- Lines of provider, time, reason.
  attempts               text     not null,
  -- Lines of name, value; the table label has them for filters.
  labels                 text     not null,
  -- The server that holds the connection to it; empty if one server has the ledger to itself.
  owner                  text     not null,
  -- Increases with every change of the owner.
  fence                  bigint   not null
);

create index sandbox_by_creation on sandbox (created_at, id);
create index sandbox_by_tenant on sandbox (tenant, created_at, id);
create index sandbox_not_destroyed on sandbox (created_at, id) where state <> 'DESTROYED';
create index sandbox_due on sandbox (due_at) where due_at is not null;
create index sandbox_pool on sandbox (spec_hash, provider, created_at, id) where pooled = 1;
create index sandbox_by_owner on sandbox (owner, id) where state <> 'DESTROYED';
create index sandbox_due_by_owner on sandbox (owner, due_at) where due_at is not null;

-- A name belongs to one sandbox of a tenant until that sandbox is destroyed.
create unique index sandbox_by_name on sandbox (tenant, name)
where name is not null and state <> 'DESTROYED';

create table label (
  sandbox_id text not null,
  name       text not null,
  value      text not null,
  primary key (sandbox_id, name)
);

create index label_by_value on label (name, value, sandbox_id);

create table transition (
  sandbox_id  text   not null,
  revision    bigint not null,
  from_state  text,
  to_state    text   not null,
  happened_at bigint not null,
  cause       text,
  primary key (sandbox_id, revision)
);

create table event (
  number      bigint not null primary key,
  sandbox_id  text,
  type        text   not null,
  data        text   not null,
  happened_at bigint not null
);

-- Events of PostgreSQL that have no number yet, in the order in which they were appended. A reader
-- numbers them once their transactions have ended, so that appending does not wait for others.
create table event_queue (
  position    bigint not null primary key,
  sandbox_id  text,
  type        text   not null,
  data        text   not null,
  happened_at bigint not null
);

-- Not a sequence: a transaction that takes a number holds the row until it ends, so that numbers
-- become visible in order and without gaps.
create table counter (
  name  text   not null primary key,
  value bigint not null
);

insert into counter (name, value) values ('event', 0);

create table idempotency_key (
  tenant       text   not null,
  name         text   not null,
  request_hash text   not null,
  sandbox_id   text   not null,
  bound_at     bigint not null,
  primary key (tenant, name)
);

create index idempotency_key_by_age on idempotency_key (bound_at);

create table setting (
  scope text not null,
  name  text not null,
  value text not null,
  primary key (scope, name)
);

-- Volumes that clients named. Backends know no tenants, so a name is one volume for all of them.
create table volume (
  id         text   not null primary key,
  tenant     text   not null,
  name       text   not null unique,
  -- Empty until it is known where its files are.
  provider   text   not null,
  -- CREATING, AVAILABLE or REMOVING.
  state      text   not null,
  created_at bigint not null,
  updated_at bigint not null
);

-- Templates of the operator: all tenants see them.
create table template (
  id         text   not null primary key,
  -- A line for each, its own name first.
  names      text   not null,
  -- As a spec names it; empty until a build has succeeded.
  image      text   not null,
  -- What sandboxes begin with: env, user, cwd, start and ready.
  document   text   not null,
  cpus       bigint,
  memory_mb  bigint,
  -- The newest build, which may not have been begun.
  build      text   not null,
  -- AVAILABLE or REMOVING.
  state      text   not null,
  created_at bigint not null,
  updated_at bigint not null
);

create table template_build (
  id          text   not null primary key,
  template_id text   not null,
  -- WAITING, RUNNING, READY or FAILED.
  state       text   not null,
  -- The image that it makes; empty once that is removed.
  image       text   not null,
  reason      text   not null,
  failed_step bigint,
  created_at  bigint not null,
  updated_at  bigint not null
);

create index template_build_of on template_build (template_id, created_at);

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

-- Recurring tasks that one server carries out for all, until the time that it claimed.
create table task (
  name          text   not null primary key,
  claimed_until bigint not null
);
