package dev.isola.conformance.check;

import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import java.time.Duration;

/** Checks processes from inside their sandbox. */
final class Processes {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private Processes() {}

  static boolean alive(Sandbox sandbox, String pid) {
    return sandbox.run(Command.shell("kill -0 " + pid)).succeeded();
  }

  static void expectAlive(Sandbox sandbox, String pid, String whose) {
    Expect.that(!pid.isBlank(), whose + " says its process id");
    Expect.that(alive(sandbox, pid), whose + " (" + pid + ") is alive");
  }

  /** Waits, because a killed process may not be reaped immediately. */
  static void expectDead(Sandbox sandbox, String pid, String whose) {
    Expect.that(!pid.isBlank(), whose + " says its process id");
    Expect.eventually(TIMEOUT, whose + " (" + pid + ") is dead", () -> !alive(sandbox, pid));
  }
}
