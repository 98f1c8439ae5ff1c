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
