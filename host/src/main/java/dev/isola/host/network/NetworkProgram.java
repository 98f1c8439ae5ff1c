package dev.isola.host.network;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A program of the host, run with a timeout and an empty environment.
 *
 * @param starter the command line of the program that starts it; may be empty
 * @param words the start of its command line
 * @param environment variables in addition to PATH
 */
record NetworkProgram(List<String> starter, List<String> words, Map<String, String> environment) {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final int MAX_OUTPUT_LENGTH = 16 << 20;
  private static final int MAX_ERROR_LENGTH = 300;

  /** Includes folders that are not on the PATH of ordinary users. */
  private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

  NetworkProgram {
    starter = List.copyOf(starter);
    words = List.copyOf(words);
    environment = Map.copyOf(environment);
  }

  static NetworkProgram of(String... words) {
    return new NetworkProgram(List.of(), List.of(words), Map.of());
  }

  /** Returns the names of programs that are not installed. */
  static List<String> missing(String... names) {
    return List.of(names).stream().filter(name -> find(name).isEmpty()).toList();
  }

  private static Optional<Path> find(String name) {
    return List.of(PATH.split(":")).stream()
        .map(folder -> Path.of(folder, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Returns a copy that is started by another program. */
  NetworkProgram startedBy(NetworkProgram other) {
    return new NetworkProgram(other.words, words, environment);
  }

  NetworkProgram withEnvironment(Map<String, String> more) {
    return new NetworkProgram(starter, words, more);
  }

  /**
   * Runs the program and returns its output.
   *
   * @param input written with one call: if it fits a pipe, the program receives all or nothing of
   *     it, even if this process is killed
   * @throws IOException with the program's output if it fails
   */
  String run(String input, String... arguments) throws IOException {
    List<String> commandLine = new ArrayList<>(words);
    commandLine.addAll(List.of(arguments));
    String name = String.join(" ", commandLine);
    Process process = start(commandLine);
    FutureTask<byte[]> output = new FutureTask<>(() -> drain(process));
    Thread.startVirtualThread(output);
    try {
      try (OutputStream in = process.getOutputStream()) {
        in.write(input.getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        // The program ended without reading; its output tells why.
      }
      String answer =
          new String(
              output.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS), StandardCharsets.UTF_8);
      if (!process.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new TimeoutException();
      }
      if (process.exitValue() != 0) {
        throw new IOException(name + " failed: " + shortened(answer));
      }
      return answer;
    } catch (TimeoutException e) {
      throw new IOException(name + " timed out after " + DEADLINE, e);
    } catch (ExecutionException e) {
      throw new IOException(name + " produced unreadable output", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(name + " was interrupted", e);
    } finally {
      process.destroyForcibly();
      process.getInputStream().close();
    }
  }

  private Process start(List<String> commandLine) throws IOException {
    List<String> all = new ArrayList<>(starter);
    all.addAll(commandLine);
    ProcessBuilder builder = new ProcessBuilder(all);
    builder.command().set(0, find(all.getFirst()).map(Path::toString).orElse(all.getFirst()));
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.environment().put("PATH", PATH);
    builder.environment().put("LC_ALL", "C");
    builder.directory(Path.of("/").toFile());
    builder.redirectErrorStream(true);
    return builder.start();
  }

  private static byte[] drain(Process process) throws IOException {
    return process.getInputStream().readNBytes(MAX_OUTPUT_LENGTH);
  }

  private static String shortened(String answer) {
    String commandLine = answer.strip().replaceAll("\\s+", " ");
    return commandLine.length() > MAX_ERROR_LENGTH
        ? commandLine.substring(0, MAX_ERROR_LENGTH) + "…"
        : commandLine;
  }
}
