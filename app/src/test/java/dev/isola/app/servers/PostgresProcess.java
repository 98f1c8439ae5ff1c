package dev.isola.app.servers;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A PostgreSQL of a test, which can be stopped for a while and restarted. */
final class PostgresProcess implements AutoCloseable {
  private final Path data;
  private EmbeddedPostgres running;

  private PostgresProcess(Path data) throws IOException {
    this.data = data;
    running = builder().start();
  }

  /** Starts PostgreSQL with its data below a folder. */
  static PostgresProcess start(Path folder) throws IOException {
    return new PostgresProcess(folder.resolve("postgres"));
  }

  private EmbeddedPostgres.Builder builder() {
    return EmbeddedPostgres.builder()
        .setDataDirectory(data)
        .setCleanDataDirectory(false)
        .setPGStartupWait(Duration.ofSeconds(60));
  }

  int port() {
    return running.getPort();
  }

  /** Returns the URL of a ledger in the database. */
  String url() {
    return url(port());
  }

  /** Returns the URL of a ledger in a database at this port of the loopback interface. */
  static String url(int port) {
    return "postgresql://postgres:postgres@localhost:" + port + "/postgres";
  }

  Connection connect() throws SQLException {
    return running.getPostgresDatabase().getConnection();
  }

  private ProcessHandle main() throws IOException {
    String pid = Files.readAllLines(data.resolve("postmaster.pid")).getFirst();
    return ProcessHandle.of(Long.parseLong(pid.strip())).orElseThrow();
  }

  /** Stops all processes for a while, as a machine without processor time would. */
  void stall(Duration time) throws IOException, InterruptedException {
    List<Long> all = new ArrayList<>();
    ProcessHandle main = main();
    all.add(main.pid());
    main.descendants().forEach(one -> all.add(one.pid()));
    signal("STOP", all);
    try {
      Thread.sleep(time);
    } finally {
      signal("CONT", all);
    }
  }

  /** Restarts it at the same port with the same data, after an immediate shutdown. */
  void restart() throws Exception {
    int port = port();
    ProcessHandle main = main();
    signal("QUIT", List.of(main.pid()));
    main.onExit().get(30, TimeUnit.SECONDS);
    running.close();
    running = builder().setPort(port).start();
  }

  private static void signal(String signal, List<Long> processes)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("kill", "-" + signal));
    processes.forEach(one -> words.add(Long.toString(one)));
    new ProcessBuilder(words).start().waitFor();
  }

  @Override
  public void close() throws IOException {
    running.close();
  }
}
