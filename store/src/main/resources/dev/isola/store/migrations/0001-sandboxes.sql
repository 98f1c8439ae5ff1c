-- Runs on SQLite and on PostgreSQL. Times and durations are microseconds, flags are 0 and 1.

create table sandbox (
  id            text     not null primary key,
  tenant        text     not null,
  spec          text     not null,
  spec_hash     text     not null,
  provider      text     not null,
  isolation     text     not null,
  state         text     not null,
  revision      bigint   not null,
  created_at    bigint   not null,
  updated_at    bigint   not null,
  expires_at    bigint,
  idle_timeout  bigint,
  last_activity bigint   not null,
  -- The smaller of expires_at and last_activity + idle_timeout while it is alive, for the sweep.
  due_at        bigint,
  warm          smallint not null,
  pooled        smallint not null,
  cause         text,
  -- Lines of provider, time, reason.
  attempts      text     not null,
  -- Lines of name, value; the table label has them for filters.
  labels        text     not null
);

create index sandbox_by_creation on sandbox (created_at, id);
create index sandbox_by_tenant on sandbox (tenant, created_at, id);
create index sandbox_not_destroyed on sandbox (created_at, id) where state <> 'DESTROYED';
create index sandbox_due on sandbox (due_at) where due_at is not null;
create index sandbox_pool on sandbox (spec_hash, provider, created_at, id) where pooled = 1;

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
