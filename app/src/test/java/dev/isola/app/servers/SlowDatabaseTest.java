package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.servers.DatabaseProxy.Network;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * C30: servers whose connections to PostgreSQL are slow, narrow, or break in the middle of a
 * commit, and that are without a database for longer than their lease, while clients work.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class SlowDatabaseTest {
  /** Longer than a lease of 5 s. */
  private static final Duration LONG_OUTAGE = Duration.ofSeconds(12);

  private static final int ENOUGH_LOST_COMMITS = 5;

  @TempDir Path folder;
  private PostgresProcess postgres;
  private DatabaseProxy proxy;

  @BeforeEach
  void startPostgres() throws IOException {
    postgres = PostgresProcess.start(folder);
    proxy = new DatabaseProxy(postgres.port(), ServersInstallation.SEED);
  }

  @AfterEach
  void stopPostgres() throws IOException {
    proxy.close();
    postgres.close();
  }

  @Test
  void slowNarrowAndBreakingConnectionsLoseNothing() throws Exception {
    ServersInstallation.requireLong();
    try (ServersInstallation servers =
        ServersInstallation.start(folder, PostgresProcess.url(proxy.port()))) {
      Observations seen =
          servers.workDuring(
              () -> {
                step(servers, "slow", Network.slow(50, 300), Duration.ofSeconds(12));
                step(servers, "narrow", Network.narrow(20_000), Duration.ofSeconds(8));
                proxy.set(Network.losingCommits(20));
                await()
                    .atMost(Duration.ofMinutes(2))
                    .until(() -> proxy.lostCommits.get() >= ENOUGH_LOST_COMMITS);
                System.out.println("lost commits: " + servers.client.temporary);
                step(servers, "cut", Network.CUT, LONG_OUTAGE);
                step(servers, "good", Network.GOOD, Duration.ofSeconds(3));
              });
      servers.report(
          "PostgreSQL slow, narrow, " + proxy.lostCommits + " commits unanswered, then cut off",
          seen);
      servers.verify(seen);
      assertThat(servers.client.temporary).as("the disturbance was noticed").isNotEmpty();
    }
  }

  private void step(ServersInstallation servers, String name, Network network, Duration time)
      throws InterruptedException {
    proxy.set(network);
    Thread.sleep(time);
    System.out.println(
        name + ": " + servers.client.requests + " requests, " + servers.client.temporary);
  }
}
