-- The engine's own state of a sandbox, which was in labels that a caller could set as well.

-- IDLE or EXPIRED while it is suspended.
alter table sandbox add column suspended text;
alter table sandbox add column suspended_idle_timeout bigint;
-- The snapshot that has its files when it is not at its provider.
alter table sandbox add column suspended_snapshot text;
-- What a sandbox that was made from a snapshot is based on; empty for no image.
alter table sandbox add column base_image text;

-- A value that the engine cannot have written is a caller's, and is dropped.
update sandbox set
  suspended = 'IDLE',
  suspended_idle_timeout = (
    select cast(value as bigint) * 1000 from label
    where sandbox_id = sandbox.id and name = 'isola.rests-after-ms')
where state in ('PAUSED', 'STOPPED') and exists (
  select 1 from label
  where sandbox_id = sandbox.id and name = 'isola.rests-after-ms'
    and length(value) between 1 and 14 and ltrim(value, '0123456789') = '');

update sandbox set suspended = 'EXPIRED'
where state in ('PAUSED', 'STOPPED') and exists (
  select 1 from label
  where sandbox_id = sandbox.id and name = 'isola.rests-beyond-its-time' and value = 'yes');

update sandbox set suspended_snapshot = (
  select value from label where sandbox_id = sandbox.id and name = 'isola.rests-in')
where state = 'STOPPED' and suspended is not null and exists (
  select 1 from label
  where sandbox_id = sandbox.id and name = 'isola.rests-in'
    and length(value) = 17 and substr(value, 1, 1) = 's'
    and ltrim(substr(value, 2), '0123456789abcdef') = '');

update sandbox set base_image = (
  select case when value = '-' then '' else value end from label
  where sandbox_id = sandbox.id and name = 'isola.stands-on')
where spec like '%"image":"snapshot:%' and exists (
  select 1 from label where sandbox_id = sandbox.id and name = 'isola.stands-on');

delete from label where name in (
  'isola.rests-after-ms', 'isola.rests-beyond-its-time', 'isola.rests-in', 'isola.stands-on');
