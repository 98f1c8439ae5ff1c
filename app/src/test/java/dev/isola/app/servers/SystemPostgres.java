package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.conformance.UniqueResources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A server of the PostgreSQL that is installed on this machine, whose {@code pg_dump} and {@code
 * pg_restore} fit it. Data and socket are in a folder; it listens on a free port of 127.0.0.1.
 */
final class SystemPostgres implements AutoCloseable {
  private static final Path INSTALLED = Path.of("/usr/lib/postgresql");
  private static final List<String> PROGRAMS =
      List.of("initdb", "postgres", "pg_ctl", "pg_dump", "pg_restore", "psql");

  private final Path programs;
  private final Path folder;
  private final int port;

  private SystemPostgres(Path programs, Path folder, int port) {
    this.programs = programs;
    this.folder = folder;
    this.port = port;
  }

  /** Starts a server, or ends the test as not run if PostgreSQL is not installed. */
  static SystemPostgres start(Path folder) throws IOException, InterruptedException {
    Optional<Path> programs = programs();
    assumeTrue(programs.isPresent(), "NOT RUN: PostgreSQL is not installed in " + INSTALLED);
    Files.createDirectories(folder);
    SystemPostgres postgres =
        new SystemPostgres(programs.get(), folder, UniqueResources.reservePort());
    String _ =
        postgres.unprivileged(
            "initdb", "--no-sync", "--auth=trust", "--username=isola", postgres.data());
    String _ =
        postgres.unprivileged(
            "pg_ctl",
            "--pgdata=" + postgres.data(),
            "--log=" + folder.resolve("server.log"),
            "--timeout=60",
            "--wait",
            "--options=-h 127.0.0.1 -p " + postgres.port + " -k " + folder + " -c fsync=off",
            "start");
    return postgres;
  }

  /** Returns the folder of the newest version that is complete. */
  private static Optional<Path> programs() throws IOException {
    if (!Files.isDirectory(INSTALLED)) {
      return Optional.empty();
    }
    try (Stream<Path> versions = Files.list(INSTALLED)) {
      return versions
          .filter(version -> isComplete(version.resolve("bin")))
          .max(Comparator.comparingInt(SystemPostgres::number))
          .map(version -> version.resolve("bin"));
    }
  }

  private static boolean isComplete(Path bin) {
    return PROGRAMS.stream().allMatch(one -> Files.isExecutable(bin.resolve(one)));
  }

  private static int number(Path version) {
    return Integer.parseInt(String.valueOf(version.getFileName()).replaceFirst("[^0-9].*", ""));
  }

  /** Returns the URL of the database, for the configuration of servers and for its programs. */
  String url() {
    return "postgresql://isola@127.0.0.1:" + port + "/postgres";
  }

  private String data() {
    return folder.resolve("data").toString();
  }

  /** Runs a program of PostgreSQL and returns its output. */
  String run(String program, String... arguments) throws IOException, InterruptedException {
    return run(List.of(), program, arguments);
  }

  /** PostgreSQL refuses to be started by root; in a user namespace it is not. */
  private String unprivileged(String program, String... arguments)
      throws IOException, InterruptedException {
    boolean root = "root".equals(System.getProperty("user.name"));
    return run(root ? List.of("unshare", "--user") : List.of(), program, arguments);
  }

  private String run(List<String> before, String program, String... arguments)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(before);
    words.add(programs.resolve(program).toString());
    words.addAll(List.of(arguments));
    Path output = Files.createTempFile(folder, program, ".out");
    Process process =
        new ProcessBuilder(words)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile()) // the server that pg_ctl starts keeps it open
            .start();
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).as(program + " ends").isTrue();
    String text = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(process.exitValue()).as(words + ": " + text).isZero();
    return text;
  }

  @Override
  public void close() {
    try {
      String _ = unprivileged("pg_ctl", "--pgdata=" + data(), "--mode=immediate", "--wait", "stop");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
