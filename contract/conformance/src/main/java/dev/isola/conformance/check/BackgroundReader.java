package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Reads an execution in the background and waits for text to appear, as a user at a terminal would.
 */
final class BackgroundReader implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(15);

  private final Execution execution;
  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
  private final Set<Channel> channels = new ConcurrentSkipListSet<>();
  private final Thread reader;

  BackgroundReader(Execution execution) {
    this.execution = execution;
    this.reader = Thread.ofVirtual().name("screen").start(this::readAll);
  }

  private void readAll() {
    try {
      for (var piece = execution.read(); piece.isPresent(); piece = execution.read()) {
        if (piece.get() instanceof Output.Data data) {
          channels.add(data.channel());
          shown.writeBytes(data.bytes().toArray());
        }
      }
    } catch (SandboxException over) {
      Thread.currentThread().interrupt(); // the check ended before the command
    }
  }

  String text() {
    return shown.toString(UTF_8);
  }

  Set<Channel> channels() {
    return channels.isEmpty() ? EnumSet.noneOf(Channel.class) : EnumSet.copyOf(channels);
  }

  BackgroundReader type(String text) {
    try {
      execution.stdin().write(text.getBytes(UTF_8));
      execution.stdin().flush();
      return this;
    } catch (IOException e) {
      throw new CheckFailed("typing failed: " + e.getMessage());
    }
  }

  /** Waits until {@code text} has appeared. */
  BackgroundReader awaitText(String text) {
    try {
      Expect.eventually(TIMEOUT, "'" + text + "' is shown", () -> text().contains(text));
    } catch (CheckFailed e) {
      throw new CheckFailed(e.getMessage() + ", but '" + text() + "'");
    }
    return this;
  }

  /** Waits for the end of the command and of its output. */
  Exit awaitExit() {
    try {
      if (!reader.join(TIMEOUT)) {
        throw new CheckFailed("the command does not end; so far '" + text() + "'");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CheckFailed("interrupted while waiting for the command's end");
    }
    Optional<Exit> exit = execution.await(TIMEOUT);
    return exit.orElseThrow(() -> new CheckFailed("the command's output ended, but it did not"));
  }

  @Override
  public void close() {
    execution.kill();
    reader.interrupt();
    execution.close();
  }
}
