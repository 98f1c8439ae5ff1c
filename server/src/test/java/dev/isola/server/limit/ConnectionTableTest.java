package dev.isola.server.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConnectionTableTest {
  private final ConnectionTable<String> table =
      new ConnectionTable<>(new ConnectionLimits(6, 4, 3));

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
    table.requestStarted("s0");
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
  void connectionIsRefusedOnlyIfAllOthersHaveACredential() {
    for (int i = 0; i < 6; i++) {
      add("k" + i, "n" + i);
      table.authenticated("k" + i);
    }
    assertThat(table.add("late", "x")).contains("late");
    table.remove("k0");
    add("later", "x");
  }

  @Test
  void requestsInProgressEndOnlyIfEveryConnectionHasOne() {
    for (int i = 0; i < 4; i++) {
      add("s" + i, "n" + i);
      table.requestStarted("s" + i);
    }
    assertThat(table.add("s4", "n4")).contains("s0");
  }

  @Test
  void trustedProxyHasNoLimitOfItsOwn() {
    IntStream.range(0, 4).forEach(i -> add("p" + i, ""));
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
