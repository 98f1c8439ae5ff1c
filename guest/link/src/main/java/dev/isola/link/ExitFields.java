package dev.isola.link;

import dev.isola.spi.LimitKind;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Parses how a command ended. */
final class ExitFields {
  private ExitFields() {}

  /** Returns the limits that were reached; ignores names that this version does not know. */
  static Set<LimitKind> limitsMet(WireFields fields) {
    Set<LimitKind> met = EnumSet.noneOf(LimitKind.class);
    for (String name : fields.texts(FieldTag.LIMIT)) {
      for (LimitKind kind : LimitKind.values()) {
        if (kind.name().toLowerCase(Locale.ROOT).equals(name)) {
          met.add(kind);
        }
      }
    }
    return met;
  }

  /**
   * Parses the EXIT fields.
   *
   * @param timeout of the command, if known; otherwise its duration is used
   */
  static Exit exit(WireFields fields, Optional<Duration> timeout) {
    int kind = fields.range(FieldTag.EXIT_KIND, 0, 255);
    return switch (kind) {
      case Wire.EXIT_EXITED -> new Exit.Exited(fields.range(FieldTag.EXIT_CODE, 0, 255));
      case Wire.EXIT_SIGNALED ->
          new Exit.Signaled(new Signal(fields.range(FieldTag.SIGNAL, 1, 64)));
      case Wire.EXIT_TIMED_OUT ->
          new Exit.TimedOut(
              timeout.orElseGet(() -> Duration.ofNanos(fields.count(FieldTag.DURATION_NS, 0))));
      case Wire.EXIT_OUT_OF_MEMORY -> new Exit.OutOfMemory();
      default -> throw new ProtocolViolation("exit kind " + kind);
    };
  }
}
