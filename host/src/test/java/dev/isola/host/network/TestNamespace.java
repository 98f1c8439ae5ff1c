package dev.isola.host.network;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A network namespace for a test, held by a process that exits with the test. */
final class TestNamespace implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final Process holder;

  private TestNamespace(Process holder) {
    this.holder = holder;
  }

  /**
   * Creates a namespace; {@code words} is the command that creates it and runs its arguments
   * inside.
   */
  static TestNamespace of(List<String> words) throws IOException {
    List<String> all = new ArrayList<>(words);
    all.addAll(List.of("sh", "-c", "echo ready; exec cat"));
    return new TestNamespace(start(all));
  }

  /** Starts a program that prints {@code ready}, and waits for that. */
  static Process start(List<String> words) throws IOException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    BufferedReader answer = process.inputReader(StandardCharsets.UTF_8);
    String first = answer.readLine();
    if (!"ready".equals(first)) {
      end(process);
      throw new IOException(String.join(" ", words) + ": " + first);
    }
    return process;
  }

  long pid() {
    return holder.pid();
  }

  /** Returns the command prefix that enters the namespace. */
  List<String> enterCommand() {
    return List.of("nsenter", "--net", "--mount", "--target", Long.toString(pid()), "--");
  }

  /** Runs a script in the namespace and returns its output. */
  String sh(String script) throws IOException, InterruptedException {
    return run(List.of("sh", "-ec", script));
  }

  String run(List<String> words) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(enterCommand());
    all.addAll(words);
    Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
    try {
      process.getOutputStream().close();
      String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException(String.join(" ", words) + ": " + answer);
      }
      return answer;
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
