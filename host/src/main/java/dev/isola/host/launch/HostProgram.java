package dev.isola.host.launch;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A program of the host's that isolates sandboxes, and that can be asked small things. */
public record HostProgram(Path path) {
  /** Also where the path of a service or of an ordinary user does not look. */
  private static final String USUAL =
      "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

  private static final int LONGEST_ANSWER = 2048;
  private static final int TIMEOUT_SECONDS = 5;

  /**
   * What it said.
   *
   * @param code what it ended with, 128 more than the signal that ended it; -1 when it did not run
   *     or did not end in time
   */
  public record Result(int code, String text) {
    public boolean ok() {
      return code == 0;
    }
  }

  /** Looks for a program by its name on the path, or takes the absolute path of one. */
  public static Optional<HostProgram> find(String name) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("") + ":" + USUAL;
    Stream<Path> places =
        name.startsWith("/")
            ? Stream.of(Path.of(name))
            : Stream.of(path.split(":"))
                .filter(folder -> folder.startsWith("/"))
                .map(folder -> Path.of(folder, name));
    return places
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .findFirst()
        .map(HostProgram::new);
  }

  /** Returns a text that changes when the program, or the kernel it runs on, is replaced. */
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

  /** Runs it to its end, with no input, and returns the beginning of what it says. */
  public Result run(String... words) {
    List<String> all = new ArrayList<>(List.of(path.toString()));
    all.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(all).redirectErrorStream(true);
    builder.directory(Path.of("/").toFile());
    builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    try {
      Process process = builder.start();
      try {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
          return new Result(-1, "it did not answer within " + TIMEOUT_SECONDS + " s");
        }
        byte[] text = process.getInputStream().readNBytes(LONGEST_ANSWER);
        return new Result(process.exitValue(), new String(text, UTF_8).strip());
      } finally {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } catch (IOException e) {
      return new Result(-1, String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Result(-1, "interrupted");
    }
  }
}
