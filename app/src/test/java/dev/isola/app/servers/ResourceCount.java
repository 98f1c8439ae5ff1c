package dev.isola.app.servers;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;

/** The open files, connections and threads of a server process. */
record ResourceCount(int descriptors, int threads) {

  static ResourceCount of(FrontServer server) throws IOException {
    return new ResourceCount(server.descriptors(), server.threads());
  }

  /** Returns whether a server has more than {@code growth} above this count. */
  boolean isExceededBy(FrontServer server, int growth) throws IOException {
    ResourceCount now = of(server);
    return now.descriptors > descriptors + growth || now.threads > threads + growth;
  }

  /** Waits until a server has at most {@code growth} above this count, and returns what it has. */
  ResourceCount awaitAtMost(FrontServer server, int growth, Duration timeout) throws IOException {
    await()
        .alias("the server has kept what it opened; before: " + this)
        .atMost(timeout)
        .until(() -> !isExceededBy(server, growth));
    return of(server);
  }
}
