package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * C22, C23, C29: three servers on one PostgreSQL, behind a balancer, with sandboxes on another
 * machine. Servers are killed and stopped, and PostgreSQL is restarted and stopped, while clients
 * work.
 *
 * <p>{@code -Disola.servers.kills=200} is the long run.
 */
@Timeout(value = 3, unit = TimeUnit.HOURS)
@Tag("all")
class SeveralServersTest {
  private static final int KILLS = Integer.getInteger("isola.servers.kills", 3);

  /** So long that a hand-over which waits for the end of a lease is noticed. */
  private static final Duration LONG_LEASE = Duration.ofSeconds(15);

  /** What open files and threads of a server may vary by, with clients that come and go. */
  private static final int GROWTH = 60;

  @TempDir Path folder;
  private PostgresProcess postgres;

  @BeforeEach
  void startPostgres() throws IOException {
    postgres = PostgresProcess.start(folder);
  }

  @AfterEach
  void stopPostgres() throws IOException {
    postgres.close();
  }

  private ServersInstallation start(String... more) throws IOException {
    return ServersInstallation.start(folder, postgres.url(), more);
  }

  @Test
  void killedServersLoseDoubleLeakAndResurrectNothing() throws Exception {
    List<Long> recoveries = new ArrayList<>();
    try (ServersInstallation servers = start()) {
      int alone = ServersInstallation.SERVERS;
      Observations seen =
          servers.workDuring(
              () -> {
                List<String> probes = servers.createProbes();
                for (int kill = 0; kill < KILLS; kill++) {
                  servers.client.awaitSuccesses(1 + servers.random(50));
                  FrontServer victim = servers.fronts.get(servers.random(alone));
                  long killed = System.nanoTime();
                  servers.client.countHits();
                  victim.kill();
                  if (alone == 1) {
                    victim.restart();
                  }
                  recoveries.add(servers.awaitRecovery(probes, victim, killed));
                  if (alone > 1) {
                    victim.restart();
                  }
                  servers.awaitReady(victim);
                }
                servers.destroy(probes);
              });
      servers.report(KILLS + " kills of " + alone + " servers", seen);
      Collections.sort(recoveries);
      System.out.println("in progress at kills: " + servers.client.hits);
      System.out.println(
          "recovery after a kill, ms: p50 "
              + ServersInstallation.percentile(recoveries, 50)
              + ", p99 "
              + ServersInstallation.percentile(recoveries, 99)
              + ", max "
              + ServersInstallation.percentile(recoveries, 100));
      servers.verify(seen);
    }
  }

  @Test
  void survivingServerKeepsNoConnectionsOfKilledOnes() throws Exception {
    ServersInstallation.requireLong();
    try (ServersInstallation servers = start()) {
      FrontServer survivor = servers.fronts.getFirst();
      List<FrontServer> others = servers.fronts.subList(1, servers.fronts.size());
      Observations seen =
          servers.workDuring(
              () -> {
                List<String> probes = servers.createProbes();
                ResourceCount before = ResourceCount.of(survivor);
                for (int kill = 0; kill < KILLS; kill++) {
                  FrontServer victim = others.get(servers.random(others.size()));
                  long killed = System.nanoTime();
                  victim.kill();
                  long _ = servers.awaitRecovery(probes, victim, killed);
                  victim.restart();
                  servers.awaitReady(victim);
                }
                ResourceCount after = before.awaitAtMost(survivor, GROWTH, Duration.ofMinutes(1));
                System.out.println("surviving server: " + before + ", then " + after);
                servers.destroy(probes);
              });
      servers.verify(seen);
    }
  }

  @Test
  void openConnectionsOfAServerAreCounted() throws Exception {
    ServersInstallation.requireLong();
    try (ServersInstallation servers = start();
        OpenConnections leaked = new OpenConnections()) {
      FrontServer server = servers.fronts.getFirst();
      ResourceCount before = ResourceCount.of(server);
      leaked.open(server.port, 2 * GROWTH);
      assertThat(before.isExceededBy(server, GROWTH)).isTrue();
    }
  }

  @Test
  void rollingRestartIsNotNoticed() throws Exception {
    ServersInstallation.requireLong();
    List<Long> gaps = new ArrayList<>();
    try (ServersInstallation servers = start("server.lease=" + LONG_LEASE.toSeconds() + "s")) {
      Observations seen =
          servers.workDuring(
              () -> {
                List<String> probes = servers.createProbes();
                for (FrontServer front : servers.fronts) {
                  gaps.add(new RollingRestart(servers, probes).restart(front));
                }
                servers.destroy(probes);
              });
      servers.report("rolling restart of " + servers.fronts.size() + " servers", seen);
      Collections.sort(gaps);
      System.out.println("longest time without an answer of a sandbox, by restart, ms: " + gaps);
      servers.verify(seen);
    }
    assertThat(gaps.getLast()).as("ms without an answer").isLessThan(LONG_LEASE.toMillis() / 3);
  }

  @Test
  void postgresMayRestartAndStall() throws Exception {
    try (ServersInstallation servers = start()) {
      Observations seen =
          servers.workDuring(
              () -> {
                servers.client.awaitSuccesses(50);
                postgres.stall(Duration.ofSeconds(4));
                servers.client.awaitSuccesses(50);
                postgres.restart();
                servers.client.awaitSuccesses(50);
              });
      servers.report("PostgreSQL stalled and restarted", seen);
      servers.verify(seen);
      assertThat(servers.client.temporary).as("the disturbance was noticed").isNotEmpty();
    }
  }
}
