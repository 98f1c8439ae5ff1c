create table event (
  number      bigint not null primary key,
  sandbox_id  text,
  type        text   not null,
  data        text   not null,
  happened_at bigint not null
);

-- Not a sequence: who takes a number holds the row until the transaction ends, so that numbers
-- become visible in order and without gaps.
create table counter (
  name  text   not null primary key,
  value bigint not null
);

insert into counter (name, value) values ('event', 0);
