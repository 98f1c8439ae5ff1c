package dev.isola.host.network;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A network namespace for a test, held by a process that waits for the end of its input: it ends
 * with the test, however the test ends.
 */
final class TestNamespace implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final Process holder;

  private TestNamespace(Process holder) {
    this.holder = holder;
  }

  /** Makes one; {@code words} say how, and run what comes after them. */
  static TestNamespace of(List<String> words) throws IOException {
    List<String> all = new ArrayList<>(words);
    all.addAll(List.of("sh", "-c", "echo ready; exec cat"));
    return new TestNamespace(start(all));
  }

  /** Starts something that says {@code ready} when it is. */
  static Process start(List<String> words) throws IOException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
    String first = said.readLine();
    if (!"ready".equals(first)) {
      end(process);
      throw new IOException(String.join(" ", words) + ": " + first);
    }
    return process;
  }

  long pid() {
    return holder.pid();
  }

  /** Returns how a command gets into it. */
  List<String> enterCommand() {
    return List.of("nsenter", "--net", "--mount", "--target", Long.toString(pid()), "--");
  }

  /** Runs a script in it and returns what it said. */
  String sh(String script) throws IOException, InterruptedException {
    return run(List.of("sh", "-ec", script));
  }

  String run(List<String> words) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(enterCommand());
    all.addAll(words);
    Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
    try {
      process.getOutputStream().close();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException(String.join(" ", words) + ": " + said);
      }
      return said;
    } finally {
      end(process);
    }
  }

  static void end(Process process) throws IOException {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.getOutputStream().close();
    process.getInputStream().close();
  }

  @Override
  public void close() throws IOException {
    end(holder);
  }
}
