package dev.isola.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Servers in the table {@code server}, and their tasks in the table {@code task}. */
record SqlServers(Database database) implements ServerEntries {

  @Override
  public void register(
      String name, String incarnation, String url, String version, Duration lease) {
    database.write(
        c ->
            Sql.update(
                c,
                "insert into server (name, incarnation, url, version, started_at, lease_until,"
                    + (" reserved) values (?, ?, ?, ?, " + now() + ", " + now() + " + ?, '')")
                    + " on conflict (name) do update set incarnation = excluded.incarnation,"
                    + " url = excluded.url, version = excluded.version,"
                    + " started_at = excluded.started_at, lease_until = excluded.lease_until",
                name,
                incarnation,
                url,
                version,
                lease));
  }

  @Override
  public LeaseRenewal renew(String name, String incarnation, Duration lease, String reserved) {
    return database.write(
        c -> {
          int renewed =
              extend(c, name, incarnation, lease, reserved, " and lease_until >= " + now());
          if (renewed > 0) {
            return LeaseRenewal.RENEWED;
          }
          return extend(c, name, incarnation, lease, reserved, "") > 0
              ? LeaseRenewal.LAPSED
              : LeaseRenewal.REPLACED;
        });
  }

  private int extend(
      Connection c,
      String name,
      String incarnation,
      Duration lease,
      String reserved,
      String condition)
      throws SQLException {
    return Sql.update(
        c,
        "update server set lease_until = "
            + now()
            + " + ?, reserved = ? where name = ? and incarnation = ?"
            + condition,
        lease,
        reserved,
        name,
        incarnation);
  }

  @Override
  public void release(String name, String incarnation) {
    database.write(
        c ->
            Sql.update(
                c,
                "update server set lease_until = 0 where name = ? and incarnation = ?",
                name,
                incarnation));
  }

  @Override
  public List<ServerEntry> all() {
    return database.read(
        c ->
            Sql.list(
                c,
                "select server.*, case when lease_until >= "
                    + now()
                    + " then 1 else 0 end as alive from server order by name",
                row ->
                    new ServerEntry(
                        row.text("name"),
                        row.text("incarnation"),
                        row.text("url"),
                        row.text("version"),
                        row.time("started_at"),
                        row.time("lease_until"),
                        row.text("reserved"),
                        row.flag("alive"))));
  }

  @Override
  public int forget(Duration age) {
    return database.write(
        c ->
            Sql.update(
                c,
                "delete from server where lease_until < "
                    + now()
                    + " - ? and not exists (select 1 from sandbox where owner = server.name"
                    + " and state <> 'DESTROYED')",
                age));
  }

  @Override
  public boolean claimTask(String name, Duration interval) {
    return database.write(
        c -> {
          Sql.update(
              c,
              "insert into task (name, claimed_until) values (?, 0) on conflict do nothing",
              name);
          return Sql.update(
                  c,
                  "update task set claimed_until = "
                      + now()
                      + " + ? where name = ? and claimed_until <= "
                      + now(),
                  interval,
                  name)
              > 0;
        });
  }

  private String now() {
    return database.dialect().now();
  }
}
