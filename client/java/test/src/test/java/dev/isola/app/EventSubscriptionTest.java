package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.client.ApiKeys;
import dev.isola.client.EventFilter;
import dev.isola.client.EventStream;
import dev.isola.client.EventSubscription;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.error.InvalidRequest;
import dev.isola.testing.server.TestServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** O10: handlers of events in the Java SDK, against a real server. */
@Timeout(120)
class EventSubscriptionTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  @TempDir static Path data;
  private static TestServer server;
  private static Isola isola;

  @BeforeAll
  static void start() {
    server = TestServer.start(data, "subprocess");
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void end() {
    isola.close();
    server.close();
  }

  private static String createAndDestroy() {
    try (Sandbox sandbox = isola.create()) {
      return sandbox.id();
    }
  }

  private static String summary(EventStream.Event event) {
    return event.type() + " " + event.sandbox().orElse("-");
  }

  @Test
  void handlerGetsTheEventsOfItsTypeAndSandbox() {
    List<String> ready = new CopyOnWriteArrayList<>();
    List<String> ended = new CopyOnWriteArrayList<>();
    EventSubscription all;
    try (Sandbox sandbox = isola.create();
        EventSubscription one = sandbox.on("terminate", event -> ended.add(summary(event)))) {
      all = isola.on("ready", event -> ready.add(summary(event)));
      String other = createAndDestroy();
      sandbox.destroy();
      await().atMost(SOON).until(() -> !ready.isEmpty() && !ended.isEmpty());
      assertThat(ready).containsExactly("ready " + other);
      assertThat(ended).containsExactly("terminate " + sandbox.id());
      assertThat(all.isOpen()).isTrue();
      all.close();
      assertThat(all.isOpen()).isFalse();
      assertThat(all.failure()).isEmpty();
      createAndDestroy();
      assertThat(one.isOpen()).isTrue();
    }
    assertThat(ready).hasSize(1);
    assertThatThrownBy(() -> isola.on("nap", event -> {})).isInstanceOf(InvalidRequest.class);
  }

  @Test
  void slowHandlerDelaysNoOther() throws InterruptedException {
    CountDownLatch release = new CountDownLatch(1);
    List<String> slow = new CopyOnWriteArrayList<>();
    List<String> fast = new CopyOnWriteArrayList<>();
    try (EventSubscription _ =
            isola.on(
                "terminate",
                event -> {
                  awaitUninterrupted(release);
                  slow.add(summary(event));
                });
        EventSubscription _ = isola.on("terminate", event -> fast.add(summary(event)))) {
      List<String> expected = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        expected.add("terminate " + createAndDestroy());
      }
      await().atMost(SOON).untilAsserted(() -> assertThat(fast).isEqualTo(expected));
      assertThat(slow).isEmpty();
      release.countDown();
      await().atMost(SOON).untilAsserted(() -> assertThat(slow).isEqualTo(expected));
    }
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void handlerThatThrowsGetsTheNextEvent() {
    List<String> seen = new CopyOnWriteArrayList<>();
    List<Throwable> uncaught = new CopyOnWriteArrayList<>();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
    try (EventSubscription subscription =
        isola.on(
            "terminate",
            event -> {
              seen.add(summary(event));
              throw new IllegalStateException("planted");
            })) {
      createAndDestroy();
      createAndDestroy();
      await()
          .dontCatchUncaughtExceptions() // which would replace the handler of this test
          .atMost(SOON)
          .until(() -> seen.size() == 2 && uncaught.size() == 2);
      assertThat(subscription.isOpen()).isTrue();
      assertThat(uncaught).allSatisfy(one -> assertThat(one).hasMessage("planted"));
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  /** The second break hits a stream that has seen an event, the first one a stream without. */
  @Test
  void brokenConnectionLosesAndRepeatsNoEvent() throws IOException {
    List<String> seen = new CopyOnWriteArrayList<>();
    List<String> expected = new ArrayList<>();
    try (BreakableProxy proxy = new BreakableProxy(URI.create(server.url()).getPort());
        Isola throughProxy = Isola.connect(proxy.url(), server.key());
        EventSubscription subscription =
            throughProxy.on("terminate", event -> seen.add(summary(event)))) {
      for (int i = 0; i < 3; i++) {
        await().atMost(SOON).until(() -> proxy.bytesToClient() > 0);
        proxy.breakAll();
        expected.add("terminate " + createAndDestroy()); // while the stream is down or reconnects
        await().atMost(SOON).untilAsserted(() -> assertThat(seen).isEqualTo(expected));
      }
      assertThat(subscription.isOpen()).isTrue();
    }
  }

  @Test
  void revokedKeyEndsTheSubscriptionWithAReason() throws IOException {
    ApiKeys.CreatedKey key = isola.keys().create("subscriber", "read");
    try (BreakableProxy proxy = new BreakableProxy(URI.create(server.url()).getPort());
        Isola reader = Isola.connect(proxy.url(), key.key());
        EventSubscription subscription = reader.on(EventFilter.ALL, event -> {})) {
      isola.keys().revoke("subscriber");
      proxy.breakAll();
      await().atMost(SOON).until(() -> !subscription.isOpen());
      assertThat(subscription.failure())
          .hasValueSatisfying(e -> assertThat(e.code()).isEqualTo("UNAUTHENTICATED"));
    }
  }

  @Test
  void closingTheClientEndsItsSubscriptions() {
    EventSubscription subscription;
    try (Isola other = Isola.connect(server.url(), server.key())) {
      subscription = other.on(EventFilter.ALL, event -> {});
      assertThat(subscription.isOpen()).isTrue();
    }
    assertThat(subscription.isOpen()).isFalse();
    assertThat(subscription.failure()).isEmpty();
  }

  /** Forwards connections to a port of this machine until they are broken. */
  private static final class BreakableProxy implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> open = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong bytesToClient = new AtomicLong();

    BreakableProxy(int port) throws IOException {
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  while (true) {
                    Socket client = listener.accept();
                    Socket target = new Socket(InetAddress.getLoopbackAddress(), port);
                    open.addAll(List.of(client, target));
                    Thread.ofVirtual().start(() -> copy(client, target, false));
                    Thread.ofVirtual().start(() -> copy(target, client, true));
                  }
                } catch (IOException e) {
                  // The proxy was closed.
                }
              });
    }

    private void copy(Socket from, Socket to, boolean counted) {
      byte[] buffer = new byte[8192];
      try (from;
          to) {
        InputStream in = from.getInputStream();
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
          to.getOutputStream().write(buffer, 0, read);
          bytesToClient.addAndGet(counted ? read : 0);
        }
      } catch (IOException e) {
        // The connection was broken.
      }
    }

    String url() {
      return "http://127.0.0.1:" + listener.getLocalPort();
    }

    /** Returns the bytes since the last break. */
    long bytesToClient() {
      return bytesToClient.get();
    }

    void breakAll() throws IOException {
      synchronized (open) {
        for (Socket socket : open) {
          socket.close();
        }
        open.clear();
        bytesToClient.set(0);
      }
    }

    @Override
    public void close() throws IOException {
      listener.close();
      breakAll();
    }
  }
}
