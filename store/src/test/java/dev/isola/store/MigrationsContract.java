package dev.isola.store;

import static java.util.Locale.ROOT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Migrations of empty and earlier schemas, and refusals that change nothing. */
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
  void everyEarlierSchemaIsMigratedWithItsData() {
    int last = Migrations.all().steps().getLast().version();
    for (int version = 1; version < last; version++) {
      LedgerConfig older = database.fresh();
      try (SqlLedger before = Ledgers.open(older, upTo(version))) {
        insert(before, "old", SandboxState.RUNNING, Map.of("a", "b"));
        if (version >= 2) {
          before
              .database()
              .write(
                  c -> {
                    Sql.update(c, "update counter set value = 1 where name = 'event'");
                    return Sql.update(
                        c,
                        "insert into event (number, sandbox_id, type, data, happened_at)"
                            + " values (1, 'old', 'running', '{}', 0)");
                  });
        }
      }
      try (Ledger now = Ledgers.open(older)) {
        assertThat(now.sandboxes().find(id("old")))
            .hasValueSatisfying(
                entry -> {
                  assertThat(entry.state()).isEqualTo(SandboxState.RUNNING);
                  assertThat(entry.labels()).isEqualTo(Map.of("a", "b"));
                  assertThat(entry.damage()).isEmpty();
                });
        assertThat(now.events().last()).isEqualTo(version >= 2 ? 1 : 0);
        now.settings().put("s", "n", "v");
        assertThat(now.volumes().all()).isEmpty();
        assertThat(now.templates().all()).isEmpty();
        assertThat(now.templates().builds()).isEmpty();
        now.events().append(event("old", "x"));
        assertThat(now.events().last()).isEqualTo(version >= 2 ? 2 : 1);
      }
      database.remove(older);
    }
  }

  /** Inserts a row with the columns that every schema version has. */
  private static void insert(
      SqlLedger ledger, String name, SandboxState state, Map<String, String> labels) {
    insert(ledger, name, state, labels, "{\"id\":\"" + name + "\"}");
  }

  private static void insert(
      SqlLedger ledger, String name, SandboxState state, Map<String, String> labels, String spec) {
    int _ =
        ledger
            .database()
            .write(
                c -> {
                  Sql.update(
                      c,
                      "insert into sandbox (id, tenant, spec, spec_hash, provider, isolation,"
                          + " state, revision, created_at, updated_at, last_activity, warm,"
                          + " pooled, attempts, labels)"
                          + " values (?, '', ?, 'h', 'memory', 'PROCESS', ?, 1, ?, ?, ?, 0, 0,"
                          + " '', ?)",
                      name,
                      spec,
                      state,
                      NOW,
                      NOW,
                      NOW,
                      SandboxRow.labels(labels));
                  for (Map.Entry<String, String> label : labels.entrySet()) {
                    Sql.update(
                        c,
                        "insert into label (sandbox_id, name, value) values (?, ?, ?)",
                        name,
                        label.getKey(),
                        label.getValue());
                  }
                  return 1;
                });
  }

  private static final String IDLE = "isola.rests-after-ms";
  private static final String EXPIRED = "isola.rests-beyond-its-time";
  private static final String KEPT = "isola.rests-in";
  private static final String BASE = "isola.stands-on";
  private static final String SNAPSHOT = "s0123456789abcdef";
  private static final String OF_SNAPSHOT = "{\"image\":\"snapshot:s1\"}";

  @Test
  void engineStateMovesFromLabelsToColumns() {
    LedgerConfig older = database.fresh();
    try (SqlLedger before = Ledgers.open(older, upTo(3))) {
      insert(before, "idle", SandboxState.PAUSED, Map.of(IDLE, "1500", "mine", "1"));
      insert(
          before,
          "kept",
          SandboxState.STOPPED,
          Map.of(IDLE, "1500", EXPIRED, "yes", KEPT, SNAPSHOT));
      insert(before, "based", SandboxState.RUNNING, Map.of(BASE, "base"), OF_SNAPSHOT);
      insert(before, "bare", SandboxState.RUNNING, Map.of(BASE, "-"), OF_SNAPSHOT);
    }
    try (Ledger now = Ledgers.open(older)) {
      SandboxEntry idle = now.sandboxes().find(id("idle")).orElseThrow();
      assertThat(idle.suspension())
          .contains(
              new Suspension(
                  Suspension.Reason.IDLE, Optional.of(Duration.ofMillis(1500)), Optional.empty()));
      assertThat(idle.labels()).isEqualTo(Map.of("mine", "1"));
      assertThat(now.sandboxes().find(id("kept")).orElseThrow().suspension())
          .contains(
              new Suspension(
                  Suspension.Reason.EXPIRED,
                  Optional.of(Duration.ofMillis(1500)),
                  Optional.of(SNAPSHOT)));
      assertThat(now.sandboxes().find(id("based")).orElseThrow().baseImage()).contains("base");
      assertThat(now.sandboxes().find(id("bare")).orElseThrow().baseImage()).contains("");
      assertThat(now.sandboxes().list(EntryFilter.ALL.label(IDLE, "1500"), "", 10).entries())
          .isEmpty();
    }
    database.remove(older);
  }

  @Test
  void clientValuesInRetiredLabelsAreDropped() {
    LedgerConfig older = database.fresh();
    List<Map<String, String>> planted =
        List.of(
            Map.of(IDLE, "x"),
            Map.of(IDLE, ""),
            Map.of(IDLE, "-5"),
            Map.of(IDLE, "99999999999999999999999"),
            Map.of(KEPT, SNAPSHOT),
            Map.of(BASE, "base"));
    try (SqlLedger before = Ledgers.open(older, upTo(3))) {
      for (int i = 0; i < planted.size(); i++) {
        insert(before, "p" + i, SandboxState.PAUSED, planted.get(i));
      }
      insert(before, "runs", SandboxState.RUNNING, Map.of(IDLE, "1000", KEPT, SNAPSHOT));
    }
    try (Ledger now = Ledgers.open(older)) {
      assertThat(now.sandboxes().list(EntryFilter.ALL, "", 100).entries())
          .hasSize(planted.size() + 1)
          .allSatisfy(
              entry -> {
                assertThat(entry.suspension()).isEmpty();
                assertThat(entry.baseImage()).isEmpty();
                assertThat(entry.labels()).isEmpty();
                assertThat(entry.damage()).isEmpty();
              });
    }
    database.remove(older);
  }

  /** Returns a spec document as stored before migration 5, with sorted keys. */
  private static String document(String env, String actions) {
    return "{\"apiVersion\":\"v2\",\"autoResume\":false,\"env\":{"
        + env
        + "},\"id\":\"old\",\"tags\":{"
        + env
        + "},\"volumes\":[]"
        + actions
        + ",\"workspaceMount\":\"/workspace\"}";
  }

  private static String actions(String expired, String idle) {
    return ",\"whenExpired\":\"" + expired + "\",\"whenIdle\":\"" + idle + "\"";
  }

  @Test
  void expiryActionsMoveFromTheSpecToColumns() {
    LedgerConfig older = database.fresh();
    List<ExpiryAction> all = List.of(ExpiryAction.values());
    try (SqlLedger before = Ledgers.open(older, upTo(4))) {
      for (ExpiryAction expired : all) {
        for (ExpiryAction idle : all) {
          String spec =
              document(
                  "", actions(expired.name().toLowerCase(ROOT), idle.name().toLowerCase(ROOT)));
          insert(before, name(expired, idle), SandboxState.RUNNING, Map.of(), spec);
        }
      }
      insert(
          before,
          "idleonly",
          SandboxState.RUNNING,
          Map.of(),
          document("", ",\"whenIdle\":\"stop\""));
    }
    try (Ledger now = Ledgers.open(older)) {
      for (ExpiryAction expired : all) {
        for (ExpiryAction idle : all) {
          SandboxEntry entry = now.sandboxes().find(id(name(expired, idle))).orElseThrow();
          assertThat(entry.whenExpired()).isEqualTo(expired);
          assertThat(entry.whenIdle()).isEqualTo(idle);
        }
      }
      assertThat(now.sandboxes().find(id("idleonly")).orElseThrow().whenIdle())
          .isEqualTo(ExpiryAction.STOP);
    }
    database.remove(older);
  }

  private static String name(ExpiryAction expired, ExpiryAction idle) {
    return (expired.name() + idle.name()).toLowerCase(ROOT);
  }

  @Test
  void clientTextDoesNotBecomeAnExpiryAction() {
    LedgerConfig older = database.fresh();
    List<String> specs =
        List.of(
            document(
                "\"a\":\"1\",\"whenExpired\":\"pause\",\"whenIdle\":\"pause\",\"z\":\"1\"",
                actions("destroy", "destroy")),
            document(
                "\"a\":\"],\\\"whenExpired\\\":\\\"pause\\\",\\\"whenIdle\\\":\\\"pause\\\",\"",
                actions("destroy", "destroy")),
            "no document at all",
            "{}");
    try (SqlLedger before = Ledgers.open(older, upTo(4))) {
      for (int i = 0; i < specs.size(); i++) {
        insert(before, "p" + i, SandboxState.RUNNING, Map.of(), specs.get(i));
      }
    }
    try (Ledger now = Ledgers.open(older)) {
      assertThat(now.sandboxes().list(EntryFilter.ALL, "", 100).entries())
          .hasSize(specs.size())
          .allSatisfy(
              entry -> {
                assertThat(entry.whenExpired()).isEqualTo(ExpiryAction.DESTROY);
                assertThat(entry.whenIdle()).isEqualTo(ExpiryAction.DESTROY);
              });
    }
    database.remove(older);
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
