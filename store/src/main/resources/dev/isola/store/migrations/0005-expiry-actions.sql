-- What becomes of a sandbox that was idle too long, or whose time is up: DESTROY, PAUSE, STOP or
-- SNAPSHOT. Until here only the document of its spec said so.
alter table sandbox add column when_idle text not null default 'DESTROY';
alter table sandbox add column when_expired text not null default 'DESTROY';

-- The keys of a stored document are sorted: these two come right behind the list of volumes. Text
-- of a client has its quotation marks escaped, and maps of a client have only text as values, so
-- that neither can look like the end of a list and one of these keys.
update sandbox set when_expired = 'PAUSE' where spec like '%],"whenExpired":"pause",%';
update sandbox set when_expired = 'STOP' where spec like '%],"whenExpired":"stop",%';
update sandbox set when_expired = 'SNAPSHOT' where spec like '%],"whenExpired":"snapshot",%';

-- Documents that are older than whenExpired have whenIdle alone.
update sandbox set when_idle = 'PAUSE'
where spec like '%],"whenExpired":"' || lower(when_expired) || '","whenIdle":"pause",%'
  or spec like '%],"whenIdle":"pause",%';
update sandbox set when_idle = 'STOP'
where spec like '%],"whenExpired":"' || lower(when_expired) || '","whenIdle":"stop",%'
  or spec like '%],"whenIdle":"stop",%';
update sandbox set when_idle = 'SNAPSHOT'
where spec like '%],"whenExpired":"' || lower(when_expired) || '","whenIdle":"snapshot",%'
  or spec like '%],"whenIdle":"snapshot",%';
