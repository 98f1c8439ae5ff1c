package dev.isola.store;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Maps a {@link SandboxEntry} to a row of the table {@code sandbox}. */
final class SandboxRow {
  /** The columns that an update writes, in the order of {@link #values}. */
  static final List<String> MUTABLE_COLUMNS =
      List.of(
          "tenant",
          "spec",
          "spec_hash",
          "provider",
          "isolation",
          "state",
          "revision",
          "updated_at",
          "expires_at",
          "idle_timeout",
          "last_activity",
          "due_at",
          "warm",
          "pooled",
          "cause",
          "attempts",
          "labels",
          "when_idle",
          "when_expired",
          "suspended",
          "suspended_idle_timeout",
          "suspended_snapshot",
          "base_image",
          "name",
          "owner",
          "fence");

  private SandboxRow() {}

  static Object[] values(SandboxEntry entry) {
    return new Object[] {
      entry.tenant(),
      entry.spec(),
      entry.specHash(),
      entry.provider(),
      entry.isolation(),
      entry.state(),
      entry.revision(),
      entry.updatedAt(),
      entry.expiresAt(),
      entry.idleTimeout(),
      entry.lastActivity(),
      entry.dueAt(),
      entry.warm(),
      entry.pooled(),
      entry.cause(),
      attempts(entry.attempts()),
      labels(entry.labels()),
      entry.whenIdle(),
      entry.whenExpired(),
      entry.suspension().map(Suspension::reason),
      entry.suspension().flatMap(Suspension::idleTimeout),
      entry.suspension().flatMap(Suspension::snapshot),
      entry.baseImage(),
      entry.name(),
      entry.owner(),
      entry.fence()
    };
  }

  /**
   * Reads an entry. A row that cannot be read becomes an entry in state {@code ERROR} with {@link
   * SandboxEntry#damage()}, so that listing the other sandboxes still works. A row without a valid
   * id is omitted.
   */
  static Optional<SandboxEntry> read(Row row) throws SQLException {
    String id = row.text("id");
    if (!SandboxId.isValid(id)) {
      return Optional.empty();
    }
    try {
      return Optional.of(readable(row, new SandboxId(id)));
    } catch (IllegalArgumentException
        | IndexOutOfBoundsException
        | NullPointerException
        | ArithmeticException
        | DateTimeException e) {
      return Optional.of(damaged(row, new SandboxId(id), e));
    }
  }

  private static SandboxEntry readable(Row row, SandboxId id) throws SQLException {
    return new SandboxEntry(
        id,
        row.text("tenant"),
        row.text("spec"),
        row.text("spec_hash"),
        row.text("provider"),
        Isolation.valueOf(row.text("isolation")),
        SandboxState.valueOf(row.text("state")),
        row.number("revision"),
        row.time("created_at"),
        row.time("updated_at"),
        row.optionalTime("expires_at"),
        row.optionalDuration("idle_timeout"),
        row.time("last_activity"),
        row.flag("warm"),
        row.flag("pooled"),
        row.optionalText("cause"),
        attempts(row.text("attempts")),
        labels(row.text("labels")),
        ExpiryAction.valueOf(row.text("when_idle")),
        ExpiryAction.valueOf(row.text("when_expired")),
        suspension(row),
        row.optionalText("base_image"),
        row.optionalText("name"),
        row.text("owner"),
        row.number("fence"),
        Optional.empty());
  }

  private static SandboxEntry damaged(Row row, SandboxId id, RuntimeException why)
      throws SQLException {
    String reason = "the ledger record is unreadable: " + why;
    return new SandboxEntry(
        id,
        row.optionalText("tenant").orElse(""),
        row.optionalText("spec").orElse("{}"),
        row.optionalText("spec_hash").orElse(""),
        row.optionalText("provider").orElse(""),
        Isolation.PROCESS,
        SandboxState.ERROR,
        row.number("revision"),
        Micros.instant(row.number("created_at")),
        Micros.instant(row.number("updated_at")),
        Optional.empty(),
        Optional.empty(),
        Micros.instant(row.number("updated_at")),
        false,
        false,
        Optional.of(reason),
        List.of(),
        Map.of(),
        ExpiryAction.DESTROY,
        ExpiryAction.DESTROY,
        Optional.empty(),
        Optional.empty(),
        row.optionalText("name"),
        row.optionalText("owner").orElse(""),
        row.number("fence"),
        Optional.of(reason));
  }

  private static Optional<Suspension> suspension(Row row) throws SQLException {
    Optional<String> reason = row.optionalText("suspended");
    return reason.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Suspension(
                Suspension.Reason.valueOf(reason.get()),
                row.optionalDuration("suspended_idle_timeout"),
                row.optionalText("suspended_snapshot")));
  }

  static String labels(Map<String, String> labels) {
    return TabSeparatedText.write(
        new TreeMap<>(labels)
            .entrySet().stream().map(e -> List.of(e.getKey(), e.getValue())).toList());
  }

  private static Map<String, String> labels(String text) {
    Map<String, String> labels = new TreeMap<>();
    TabSeparatedText.read(text).forEach(line -> labels.put(line.get(0), line.get(1)));
    return labels;
  }

  private static String attempts(List<FailedAttempt> attempts) {
    return TabSeparatedText.write(
        attempts.stream()
            .map(a -> List.of(a.provider(), Long.toString(Micros.of(a.at())), a.reason()))
            .toList());
  }

  private static List<FailedAttempt> attempts(String text) {
    return TabSeparatedText.read(text).stream()
        .map(
            line ->
                new FailedAttempt(
                    line.get(0), line.get(2), Micros.instant(Long.parseLong(line.get(1)))))
        .toList();
  }
}
