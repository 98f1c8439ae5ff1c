package dev.isola.testing.server;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@code isola serve} as a process of its own, on a free port. */
public final class TestServer implements AutoCloseable {
  private static final String KEY = "isk_5f0c9a7e3b1d2468ace013579bdf8642";
  private static final String READY = "Isola listening on ";

  /** All that a server has unless its configuration disables them. */
  private static final List<String> PROVIDERS =
      List.of(
          "bubblewrap",
          "crun",
          "docker",
          "docker-gvisor",
          "e2b",
          "firecracker",
          "gvisor",
          "http",
          "kata",
          "kubernetes",
          "microvmctl",
          "podman",
          "proot",
          "qemu",
          "runc",
          "subprocess",
          "worktree");

  private static final class Shared {
    static final TestServer SERVER = start();

    static {
      Runtime.getRuntime().addShutdownHook(new Thread(SERVER::close));
    }
  }

  private final Process process;
  private final Path folder;
  private final String url;

  private TestServer(Process process, Path folder, String url) {
    this.process = process;
    this.folder = folder;
    this.url = url;
  }

  /** Returns the server that all tests of this JVM share. It ends with the JVM. */
  public static TestServer shared() {
    return Shared.SERVER;
  }

  /**
   * Starts a server. Its default provider is bubblewrap where that is installed and subprocess
   * elsewhere; both are available by name. The caller closes it.
   */
  public static TestServer start() {
    List<String> providers =
        isInstalled("bwrap")
            ? List.of("bubblewrap", "subprocess")
            : List.of("subprocess", "bubblewrap");
    Path folder = createFolder();
    return start(folder, folder.resolve("data"), providers, List.of());
  }

  /**
   * Starts a server with one provider. The caller closes it.
   *
   * @param data the data folder, which stays when the server ends
   * @param settings values of the configuration, as {@code KEY=VALUE}
   */
  public static TestServer start(Path data, String provider, String... settings) {
    return start(createFolder(), data, List.of(provider), List.of(settings));
  }

  private static Path createFolder() {
    try {
      return Files.createTempDirectory("isola-test-server");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static TestServer start(
      Path folder, Path data, List<String> providers, List<String> settings) {
    try {
      Process process = process(folder, data, config(folder, providers), settings).start();
      try {
        return new TestServer(process, folder, readUrl(process, folder));
      } catch (IOException | RuntimeException e) {
        end(process, folder);
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ProcessBuilder process(Path folder, Path data, Path config, List<String> settings)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dslf4j.internal.verbosity=ERROR",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath(),
                "dev.isola.app.Main",
                "serve",
                "--config",
                config.toString(),
                "--data",
                data.toString(),
                "--port",
                "0")
            .redirectError(folder.resolve("server.log").toFile());
    settings.forEach(setting -> builder.command().addAll(List.of("--set", setting)));
    builder.environment().keySet().removeIf(name -> name.startsWith("ISOLA_"));
    builder.environment().put("ISOLA_API_KEY", KEY);
    return builder;
  }

  /**
   * Writes the configuration. The first health checks of all providers would keep this machine busy
   * for seconds.
   */
  private static Path config(Path folder, List<String> providers) throws IOException {
    String disabled =
        PROVIDERS.stream()
            .filter(name -> !providers.contains(name))
            .map(name -> "  " + name + ": {enabled: false}\n")
            .collect(Collectors.joining());
    return Files.writeString(
        folder.resolve("isola.yaml"),
        "provider: "
            + providers.getFirst()
            + "\nfloor: process\nsandbox:\n  ttl: 5m\nproviders:\n"
            + disabled);
  }

  /**
   * Returns the class path of the app, with which tests run the command line. The build of this
   * module has written it.
   */
  public static String classPath() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            TestServer.class.getResourceAsStream("/server.classpath"),
            "the build of testing/server writes server.classpath")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    }
  }

  private static boolean isInstalled(String program) {
    return Stream.of(
            Objects.requireNonNullElse(System.getenv("PATH"), "").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  /** Reads the line that the server prints when it is ready, or at the latest when it ends. */
  private static String readUrl(Process process, Path folder) throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    if (line == null || !line.startsWith(READY)) {
      throw new IllegalStateException(
          "the server did not start: "
              + line
              + "\n"
              + Files.readString(folder.resolve("server.log")));
    }
    return line.substring(READY.length()).split(" ", 2)[0];
  }

  public String url() {
    return url;
  }

  /** Returns a key with scope admin. */
  public String key() {
    return KEY;
  }

  /** Ends the server. Its sandboxes continue, until their TTL at the latest. */
  @Override
  public void close() {
    try {
      end(process, folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void end(Process process, Path folder) throws IOException {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
      for (Path file : deepestFirst) {
        Files.deleteIfExists(file);
      }
    }
  }
}
