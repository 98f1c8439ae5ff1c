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
                proxy.set(Network.slow(50, 300));
                servers.client.awaitSuccesses(30);
                report(servers, "slow");
                proxy.set(Network.narrow(20_000));
                servers.client.awaitSuccesses(30);
                report(servers, "narrow");
                proxy.set(Network.losingCommits(20));
                await()
                    .atMost(Duration.ofMinutes(2))
                    .until(() -> proxy.lostCommits.get() >= ENOUGH_LOST_COMMITS);
                report(servers, "lost commits");
                proxy.set(Network.CUT);
                outage();
                report(servers, "cut");
                proxy.set(Network.GOOD);
                servers.client.awaitSuccesses(30);
                report(servers, "good");
              });
      servers.report(
          "PostgreSQL slow, narrow, " + proxy.lostCommits + " commits unanswered, then cut off",
          seen);
      servers.verify(seen);
      assertThat(servers.client.temporary).as("the disturbance was noticed").isNotEmpty();
    }
  }

  private static void outage() throws InterruptedException {
    Thread.sleep(LONG_OUTAGE);
  }

  private static void report(ServersInstallation servers, String name) {
    System.out.println(
        name + ": " + servers.client.requests + " requests, " + servers.client.temporary);
  }
}
