package dev.isola.host.launch;

import dev.isola.codec.process.ProgramRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A program of the host that isolates sandboxes or answers short queries. */
public record HostProgram(Path path) {
  /** Includes folders that are not on the PATH of services and ordinary users. */
  private static final String DEFAULT_PATH =
      "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

  private static final int MAX_OUTPUT_LENGTH = 2048;

  /** A busy machine may take seconds to start a program, which says nothing about the program. */
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /**
   * The result of a run.
   *
   * @param code the exit code, 128 plus the signal if one ended it, or -1 if it did not run or
   *     timed out
   */
  public record Result(int code, String text) {
    public boolean ok() {
      return code == 0;
    }
  }

  /** Returns the folders of programs: those of the server's PATH, then the usual ones. */
  static String searchPath() {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("") + ":" + DEFAULT_PATH;
    return Stream.of(path.split(":"))
        .filter(folder -> folder.startsWith("/"))
        .distinct()
        .collect(Collectors.joining(":"));
  }

  /** Finds a program by name on the PATH, or by absolute path. */
  public static Optional<HostProgram> find(String name) {
    Stream<Path> places =
        name.startsWith("/")
            ? Stream.of(Path.of(name))
            : Stream.of(searchPath().split(":")).map(folder -> Path.of(folder, name));
    return places
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .findFirst()
        .map(HostProgram::new);
  }

  /** Returns a text that changes when the program or the host's kernel is replaced. */
  public String identity() {
    try {
      return String.join(
          " ",
          path.toString(),
          Long.toString(Files.size(path)),
          Files.getLastModifiedTime(path).toString(),
          Files.readString(Path.of("/proc/sys/kernel/osrelease")).strip());
    } catch (IOException gone) {
      return path + " which cannot be read";
    }
  }

  /** Runs the program without input and returns the start of its output. */
  public Result run(String... arguments) {
    List<String> commandLine = new ArrayList<>(List.of(path.toString()));
    commandLine.addAll(List.of(arguments));
    try {
      ProgramRun.Result result =
          ProgramRun.of(commandLine).folder(Path.of("/")).maxOutput(MAX_OUTPUT_LENGTH).run(TIMEOUT);
      return new Result(result.code(), result.output().strip());
    } catch (IOException e) {
      return new Result(-1, String.valueOf(e.getMessage()));
    }
  }
}
