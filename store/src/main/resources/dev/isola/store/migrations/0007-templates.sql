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
