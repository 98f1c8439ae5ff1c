package dev.isola.app.cli;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Copies standard input to a command until either side closes. */
public final class StdinPump {
  private final InputStream from;
  private final OutputStream to;

  private StdinPump(InputStream from, OutputStream to) {
    this.from = from;
    this.to = to;
  }

  public static void start(InputStream from, Execution execution) {
    start(from, execution.stdin());
  }

  /** Starts copying on a daemon thread, because a read from a terminal cannot be interrupted. */
  public static void start(InputStream from, OutputStream to) {
    StdinPump pump = new StdinPump(from, to);
    Thread.ofPlatform().daemon().name("isola-stdin").start(pump::pump);
  }

  private void pump() {
    byte[] buffer = new byte[64 * 1024];
    try (to) {
      for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
        to.write(buffer, 0, count);
        to.flush();
      }
    } catch (IOException | SandboxException e) {
      // The command has exited or closed its standard input.
    }
  }
}
