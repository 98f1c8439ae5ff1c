package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.SandboxException;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The schema of an empty database, a later migration, and refusals that change nothing. */
abstract class MigrationsContract extends LedgerContract {

  MigrationsContract(TestDatabase database) {
    super(database);
  }

  private static Migrations andThen(String sql) {
    List<Migration> steps = new ArrayList<>(Migrations.all().steps());
    steps.add(new Migration(steps.getLast().version() + 1, "next", sql));
    return new Migrations(steps);
  }

  private List<Long> versions() {
    return ((SqlLedger) ledger)
        .database()
        .read(
            c ->
                Sql.list(
                    c,
                    "select version from schema_version order by version",
                    row -> row.number("version")));
  }

  @Test
  void emptyDatabaseGetsEveryMigrationOnce() {
    List<Long> all = Migrations.all().steps().stream().map(s -> (long) s.version()).toList();
    assertThat(versions()).isEqualTo(all);
    reopen();
    assertThat(versions()).isEqualTo(all);
  }

  @Test
  void migrationsAreNumberedWithoutGaps() {
    List<Integer> versions = Migrations.all().steps().stream().map(Migration::version).toList();
    for (int i = 0; i < versions.size(); i++) {
      assertThat(versions.get(i)).isEqualTo(i + 1);
    }
  }

  @Test
  void sandboxTableHasExactlyTheColumnsThatAreWritten() {
    List<String> columns =
        ((SqlLedger) ledger)
            .database()
            .read(
                c -> {
                  try (Statement statement = c.createStatement();
                      ResultSet none =
                          statement.executeQuery("select * from sandbox where 1 = 0")) {
                    List<String> names = new ArrayList<>();
                    for (int i = 1; i <= none.getMetaData().getColumnCount(); i++) {
                      names.add(none.getMetaData().getColumnName(i));
                    }
                    return names;
                  }
                });

    List<String> written = new ArrayList<>(SandboxRow.MUTABLE_COLUMNS);
    written.addAll(List.of("id", "created_at"));
    assertThat(columns).containsExactlyInAnyOrderElementsOf(written);
  }

  @Test
  void unreadableRowIsMarkedAndHidesNoOther() {
    SandboxEntry good = running("good", one -> one);
    running("bad", one -> one.expiresAt(NOW.minusSeconds(5)));
    int _ =
        ((SqlLedger) ledger)
            .database()
            .write(c -> Sql.update(c, "update sandbox set state = 'ASLEEP' where id = 'bad'"));
    SandboxEntry bad = ledger.sandboxes().find(id("bad")).orElseThrow();
    assertThat(bad.state()).isEqualTo(SandboxState.ERROR);
    assertThat(bad.damage()).hasValueSatisfying(why -> assertThat(why).contains("ASLEEP"));
    assertThat(ledger.sandboxes().list(EntryFilter.ALL.notDestroyed(), "", 10).entries())
        .contains(good, bad);
    assertThat(ledger.sandboxes().findExpired(NOW, 10)).contains(bad);
    assertThat(ledger.sandboxes().countByState())
        .contains(new EntryCount("memory", SandboxState.ERROR, false, 1));
    // It can still be destroyed, and is readable afterwards.
    SandboxEntry ending =
        written(ledger.sandboxes().update(bad.withState(SandboxState.TERMINATING, NOW)));
    assertThat(ledger.sandboxes().find(ending.id()).orElseThrow().damage()).isEmpty();
  }

  @Test
  void newerSchemaIsRefusedUnchanged() {
    ledger.sandboxes().insert(intent("kept").build());
    ledger.close();
    Ledgers.open(config, andThen("create table later (a text);\n")).close();

    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(config))
        .withMessageContaining("newer version of Isola");

    ledger = Ledgers.open(config, andThen("create table later (a text);\n"));
    assertThat(ledger.sandboxes().find(id("kept"))).isPresent();
  }

  @Test
  void editedMigrationIsRefused() {
    ledger.close();
    Ledgers.open(config, andThen("create table later (a text);\n")).close();

    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(config, andThen("create table later (b text);\n")))
        .withMessageContaining("different migration");
  }

  @Test
  void failedMigrationIsRolledBack() {
    ledger.sandboxes().insert(intent("kept").build());
    ledger.close();

    assertThatExceptionOfType(SandboxException.class)
        .isThrownBy(
            () ->
                Ledgers.open(
                    config,
                    andThen("create table half (a text);\ninsert into nowhere (a) values (1);\n")));

    ledger = Ledgers.open(config);
    assertThat(ledger.sandboxes().find(id("kept"))).isPresent();
    Ledger reopened = ledger;
    assertThatExceptionOfType(SandboxException.class)
        .isThrownBy(
            () ->
                ((SqlLedger) reopened)
                    .database()
                    .read(c -> Sql.list(c, "select a from half", row -> row.text("a"))));
  }
}
