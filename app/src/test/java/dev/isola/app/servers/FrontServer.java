package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.LiveServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A process of {@code isola serve} that can be killed and started again at the same address. */
final class FrontServer implements AutoCloseable {
  final String name;
  final int port;
  private final Path folder;
  private final List<String> settings;
  private volatile String classPath = System.getProperty("java.class.path");
  private volatile Process process;

  private FrontServer(String name, int port, Path folder, List<String> settings)
      throws IOException {
    this.name = name;
    this.port = port;
    this.folder = folder;
    this.settings = settings;
    process = launch();
  }

  static FrontServer start(String name, int port, Path folder, List<String> settings)
      throws IOException {
    Files.createDirectories(folder);
    return new FrontServer(name, port, folder, List.copyOf(settings));
  }

  String url() {
    return "http://127.0.0.1:" + port;
  }

  Path log() {
    return folder.resolve("log");
  }

  private Process launch() throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dslf4j.internal.verbosity=ERROR",
                "-cp",
                classPath,
                "dev.isola.app.Main",
                "serve",
                "--port",
                Integer.toString(port),
                "--data",
                folder.resolve("data").toString()));
    settings.stream().flatMap(one -> Stream.of("--set", one)).forEach(words::add);
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().put("ISOLA_API_KEY", LiveServer.KEY);
    builder.environment().put("XDG_CONFIG_HOME", folder.toString());
    builder
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
    return builder.start();
  }

  boolean isRunning() {
    return process.isAlive();
  }

  /** Asks the process to end, as an upgrade does. */
  void terminate() {
    process.destroy();
  }

  /** Waits until the process has ended, and returns its exit code. */
  int awaitEnd(Duration timeout) throws InterruptedException {
    assertThat(process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS))
        .as(name + " ends within " + timeout)
        .isTrue();
    return process.exitValue();
  }

  /** Returns the number of open files and connections of the process. */
  int descriptors() throws IOException {
    return count("fd");
  }

  /** Returns the number of threads of the process that the kernel schedules. */
  int threads() throws IOException {
    return count("task");
  }

  private int count(String kind) throws IOException {
    Path listing = Path.of("/proc", Long.toString(process.pid()), kind);
    try (Stream<Path> entries = Files.list(listing)) {
      return (int) entries.count();
    }
  }

  /** Kills the process as a crash would. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  void restart() throws IOException {
    process = launch();
  }

  /** Starts the process again with other classes, as an upgrade does. */
  void restart(String otherClassPath) throws IOException {
    classPath = otherClassPath;
    restart();
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
