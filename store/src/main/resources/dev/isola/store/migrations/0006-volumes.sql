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
