package dev.isola.server.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConnectionTableTest {
  private final AtomicLong seconds = new AtomicLong();
  private final ConnectionTable<String> table =
      new ConnectionTable<>(
          new ConnectionLimits(6, 4, 3), () -> TimeUnit.SECONDS.toNanos(seconds.get()));

  private void add(String name, String network) {
    assertThat(table.add(name, network)).isEmpty();
  }

  @Test
  void connectionBeyondTheLimitOfItsClientReplacesTheOldestOfThatClient() {
    add("other", "b");
    IntStream.range(0, 3).forEach(i -> add("a" + i, "a"));
    assertThat(table.add("a3", "a")).contains("a0");
    assertThat(table.add("a4", "a")).contains("a1");
  }

  @Test
  void newConnectionReplacesTheOneThatHasWaitedLongestForARequest() {
    IntStream.range(0, 4).forEach(i -> add("s" + i, "n" + i));
    assertThat(table.requestStarted("s0", "")).isEmpty();
    seconds.addAndGet(2);
    assertThat(table.add("s4", "n4")).as("s0 has a request").contains("s1");
    table.requestEnded("s0");
    assertThat(table.add("s5", "n5")).contains("s2");
    assertThat(table.add("s6", "n6")).contains("s3");
    assertThat(table.add("s7", "n7")).as("opened before s0 was idle").contains("s4");
  }

  @Test
  void connectionsWithACredentialHaveRoomOfTheirOwn() {
    IntStream.range(0, 4).forEach(i -> add("s" + i, "n" + i));
    table.authenticated("s0");
    add("s4", "n4");
    table.authenticated("s1");
    add("s5", "n5");
    assertThat(table.add("s6", "n6")).as("the server is full").contains("s2");
    table.authenticated("s6");
    assertThat(table.add("s7", "n7")).contains("s3");
  }

  @Test
  void connectionIsRefusedOnlyIfAllOthersHaveACredentialAndARequest() {
    for (int i = 0; i < 6; i++) {
      add("k" + i, "n" + i);
      table.authenticated("k" + i);
      assertThat(table.requestStarted("k" + i, "")).isEmpty();
    }
    assertThat(table.add("late", "x")).contains("late");
    table.remove("k0");
    add("later", "x");
  }

  /** A client with a key could otherwise keep all others out. */
  @Test
  void idleConnectionWithACredentialMakesRoomIfThereIsNoOther() {
    for (int i = 0; i < 6; i++) {
      add("k" + i, "n" + i);
      table.authenticated("k" + i);
    }
    assertThat(table.requestStarted("k0", "")).isEmpty();
    assertThat(table.add("first", "x")).contains("k1");
    assertThat(table.add("second", "y")).as("one without a credential").contains("first");
    assertThat(table.add("third", "n2")).contains("second");
    table.authenticated("third");
    assertThat(table.add("fourth", "z")).contains("k2");
  }

  @Test
  void idleConnectionWithACredentialMakesRoomForItsClient() {
    for (int i = 0; i < 3; i++) {
      add("a" + i, "a");
      table.authenticated("a" + i);
    }
    add("b", "b");
    assertThat(table.add("a3", "a")).contains("a0");
  }

  @Test
  void requestsInProgressEndOnlyIfEveryConnectionHasOne() {
    for (int i = 0; i < 4; i++) {
      add("s" + i, "n" + i);
      assertThat(table.requestStarted("s" + i, "")).isEmpty();
    }
    assertThat(table.add("s4", "n4")).contains("s0");
  }

  /** Its client may have sent a request that the server has not read yet. */
  @Test
  void newConnectionIsNotClosedWhileOlderOnesHaveRequests() {
    for (int i = 0; i < 3; i++) {
      add("s" + i, "n" + i);
      assertThat(table.requestStarted("s" + i, "")).isEmpty();
    }
    add("new", "n3");
    assertThat(table.add("s4", "n4")).contains("s0");
    assertThat(table.add("s5", "n5")).contains("s1");
    seconds.addAndGet(2);
    assertThat(table.add("s6", "n6")).as("has sent no request for long").contains("new");
  }

  @Test
  void trustedProxyHasNoLimitOfItsOwn() {
    IntStream.range(0, 4).forEach(i -> add("p" + i, ""));
  }

  @Test
  void clientOfATrustedProxyIsCountedAsLongAsItsRequest() {
    IntStream.range(0, 4).forEach(i -> add("p" + i, ""));
    IntStream.range(0, 3).forEach(i -> assertThat(table.requestStarted("p" + i, "a")).isEmpty());
    assertThat(table.requestStarted("p3", "b")).as("another client").isEmpty();
    table.requestEnded("p3");
    assertThat(table.requestStarted("p3", "a")).as("its oldest").contains("p0");
    table.requestEnded("p1");
    add("p4", "");
    assertThat(table.requestStarted("p4", "a")).isEmpty();
  }

  @Test
  void requestWithACredentialBehindATrustedProxyIsNotEnded() {
    IntStream.range(0, 4).forEach(i -> add("p" + i, ""));
    for (int i = 0; i < 3; i++) {
      assertThat(table.requestStarted("p" + i, "a")).isEmpty();
      table.authenticated("p" + i);
    }
    assertThat(table.requestStarted("p3", "a")).isEmpty();
    add("p4", "");
    assertThat(table.requestStarted("p4", "a")).as("the one without").contains("p3");
  }

  /** A proxy sends the requests of many clients on one connection. */
  @Test
  void credentialBehindATrustedProxyCountsForOneRequest() {
    add("p", "");
    assertThat(table.requestStarted("p", "a")).isEmpty();
    table.authenticated("p");
    IntStream.range(0, 4).forEach(i -> add("s" + i, "n" + i));
    table.requestEnded("p");
    IntStream.range(0, 4).forEach(i -> table.remove("s" + i));
    IntStream.range(4, 7).forEach(i -> add("s" + i, "n" + i));
    assertThat(table.add("s7", "n7")).contains("p");
  }

  @Test
  void limitsFollowTheDescriptorsOfTheProcess() {
    assertThat(ConnectionLimits.of(1 << 20, 5)).isEqualTo(new ConnectionLimits(10_000, 8_000, 5));
    assertThat(ConnectionLimits.of(1024, 5)).isEqualTo(new ConnectionLimits(512, 408, 5));
  }

  @Test
  void endedConnectionsLeaveNothing() {
    add("a0", "a");
    table.remove("a0");
    table.remove("a0");
    table.requestEnded("a0");
    table.authenticated("a0");
    IntStream.range(0, 3).forEach(i -> add("b" + i, "a"));
  }
}
