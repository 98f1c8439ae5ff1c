package dev.isola.server.e2b.envd;

import dev.isola.spi.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;

/**
 * Lets {@code sudo} work where set-user-id programs do not: a part of the guest agent, run as root
 * in the sandbox, does what members of the group sudo ask it for. Where they do, or where the
 * sandbox has no agent, this does nothing.
 */
final class Sudo {
  /** Of the process that serves; it is not shown to clients, who did not start it. */
  static final String TAG = "isola-sudo";

  private static final Command SERVE =
      Command.argv("/.isola/agent", "--sudo").withUser("root").withTag(TAG);

  private Sudo() {}

  /** Returns when it works; also when somebody did this before. */
  static void offer(Sandbox sandbox) {
    try (Execution serving = sandbox.start(SERVE)) {
      serving.read(); // it says that it is ready, or ends
    } catch (SandboxException e) {
      // Then there is no sudo but that of the image.
    }
  }
}
