package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** From nothing, from the schema before, and refusals that change nothing. */
abstract class MigrationsContract extends LedgerContract {

  MigrationsContract(TestDatabase database) {
    super(database);
  }

  private static Migrations upTo(int version) {
    return new Migrations(
        Migrations.all().steps().stream().filter(step -> step.version() <= version).toList());
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
  void anEmptyOneGetsEveryStepOnce() {
    List<Long> all = Migrations.all().steps().stream().map(s -> (long) s.version()).toList();
    assertThat(versions()).isEqualTo(all);
    reopen();
    assertThat(versions()).isEqualTo(all);
  }

  @Test
  void stepsAreNumberedWithoutGaps() {
    List<Integer> versions = Migrations.all().steps().stream().map(Migration::version).toList();
    for (int i = 0; i < versions.size(); i++) {
      assertThat(versions.get(i)).isEqualTo(i + 1);
    }
  }

  @Test
  void everyEarlierSchemaIsBroughtUpToDateWithWhatIsInIt() {
    int last = Migrations.all().steps().getLast().version();
    for (int version = 1; version < last; version++) {
      LedgerConfig older = database.fresh();
      SandboxEntry entry;
      try (SqlLedger before = Ledgers.open(older, upTo(version))) {
        entry = running(before, intent("old").label("a", "b").build());
        if (version >= 2) {
          before.events().append(event("old", "running"));
        }
      }
      try (Ledger now = Ledgers.open(older)) {
        assertThat(now.sandboxes().find(id("old"))).contains(entry);
        assertThat(now.sandboxes().transitions(id("old"))).hasSize(2);
        assertThat(now.events().last()).isEqualTo(version >= 2 ? 1 : 0);
        now.settings().put("s", "n", "v");
        assertThat(now.events().append(event("old", "x")).number()).isPositive();
      }
      database.remove(older);
    }
  }

  @Test
  void aNewerSchemaIsRefusedAndLeft() {
    ledger.sandboxes().insert(intent("kept").build());
    ledger.close();
    Ledgers.open(config, andThen("create table later (a text);\n")).close();

    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(config))
        .withMessageContaining("newer Isola");

    ledger = Ledgers.open(config, andThen("create table later (a text);\n"));
    assertThat(ledger.sandboxes().find(id("kept"))).isPresent();
  }

  @Test
  void anEditedStepIsRefused() {
    ledger.close();
    Ledgers.open(config, andThen("create table later (a text);\n")).close();

    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(config, andThen("create table later (b text);\n")))
        .withMessageContaining("another step");
  }

  @Test
  void aStepThatFailsLeavesTheSchemaBefore() {
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
