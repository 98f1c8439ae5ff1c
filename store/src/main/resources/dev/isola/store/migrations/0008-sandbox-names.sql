-- The name that a client gave a sandbox; null for none.
alter table sandbox add column name text;

-- A name belongs to one sandbox of a tenant until that sandbox is destroyed.
create unique index sandbox_by_name on sandbox (tenant, name)
where name is not null and state <> 'DESTROYED';
