package dev.isola.host.network;

import dev.isola.codec.process.ProgramRun;
import dev.isola.codec.process.ProgramTimeoutException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
    ProgramRun.Result result;
    try {
      result = prepare(commandLine).input(input).run(DEADLINE);
    } catch (ProgramTimeoutException e) {
      throw timedOut(name);
    } catch (InterruptedIOException e) {
      throw new IOException(name + " was interrupted", e);
    }
    if (!result.complete()) {
      throw timedOut(name);
    }
    if (!result.succeeded()) {
      throw new IOException(name + " failed: " + shortened(result.output()));
    }
    return result.output();
  }

  private static IOException timedOut(String name) {
    return new IOException(name + " timed out after " + DEADLINE);
  }

  private ProgramRun prepare(List<String> commandLine) {
    List<String> all = new ArrayList<>(starter);
    all.addAll(commandLine);
    all.set(0, find(all.getFirst()).map(Path::toString).orElse(all.getFirst()));
    return ProgramRun.of(all)
        .environment(
            variables -> {
              variables.clear();
              variables.putAll(environment);
              variables.put("PATH", PATH);
              variables.put("LC_ALL", "C");
            })
        .folder(Path.of("/"))
        .maxOutput(MAX_OUTPUT_LENGTH);
  }

  private static String shortened(String answer) {
    String commandLine = answer.strip().replaceAll("\\s+", " ");
    return commandLine.length() > MAX_ERROR_LENGTH
        ? commandLine.substring(0, MAX_ERROR_LENGTH) + "…"
        : commandLine;
  }
}
