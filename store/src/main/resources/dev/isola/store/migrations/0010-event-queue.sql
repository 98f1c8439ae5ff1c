-- Events of PostgreSQL that have no number yet, in the order in which they were appended. A reader
-- numbers them once their transactions have ended, so that appending does not wait for others.
create table event_queue (
  position    bigint not null primary key,
  sandbox_id  text,
  type        text   not null,
  data        text   not null,
  happened_at bigint not null
);
