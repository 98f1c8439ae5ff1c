package dev.isola.engine.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.Json;
import dev.isola.egress.ConnectionView;
import dev.isola.egress.Denial;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.metrics.MetricsRecorder;
import dev.isola.spi.SandboxId;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** G5, G8: the traffic of a sandbox as events. */
class EgressEventsTest {
  private static final SandboxId ID = new SandboxId("one");
  private static final Instant AT = Instant.parse("2026-01-31T12:00:00Z");

  @TempDir Path folder;
  private Ledger ledger;
  private EventLog log;
  private long now = 1;

  @BeforeEach
  void open() {
    ledger = Ledgers.open(LedgerConfig.sqlite(folder));
    log = new EventLog(ledger);
  }

  @AfterEach
  void close() {
    ledger.close();
  }

  private EgressEvents events(boolean connections) {
    return new EgressEvents(ID, "test", log, MetricsRecorder.NOOP, () -> connections, () -> now);
  }

  private static Denial denial(String host, String request) {
    return new Denial(AT, true, host, 443, request, "no rule allows it", "allow it");
  }

  private static ConnectionView connection(long id) {
    return new ConnectionView(
        id,
        "ok.example",
        443,
        "192.0.2.1",
        "allow ok.example",
        5,
        7,
        AT,
        Optional.of(AT.plusMillis(30)));
  }

  private List<EventView> flushed(EgressEvents events) {
    events.flush();
    return log.after(0, 1000);
  }

  @Test
  void equalDenialsAreOneEventWithTheirCount() {
    EgressEvents events = events(false);
    for (int i = 0; i < 5; i++) {
      events.denied(denial("a.example", ""));
    }
    events.denied(denial("b.example", "GET /x"));

    List<EventView> found = flushed(events);

    assertThat(found).hasSize(2);
    assertThat(found.getFirst().type()).isEqualTo("egressDenied");
    Map<String, Object> first = Json.parseObject(found.getFirst().data());
    assertThat(first)
        .containsEntry("host", "a.example")
        .containsEntry("reason", "no rule allows it")
        .containsEntry("remedy", "allow it")
        .doesNotContainKey("request");
    assertThat(String.valueOf(first.get("count"))).isEqualTo("5");
    assertThat(Json.parseObject(found.getLast().data())).containsEntry("request", "GET /x");
  }

  @Test
  void connectionsAreEventsOnlyOnRequest() {
    EgressEvents quiet = events(false);
    quiet.closed(connection(1));
    assertThat(flushed(quiet)).isEmpty();

    EgressEvents verbose = events(true);
    verbose.closed(connection(2));
    List<EventView> found = flushed(verbose);

    assertThat(found).singleElement().extracting(EventView::type).isEqualTo("egressConnection");
    assertThat(Json.parseObject(found.getFirst().data()))
        .containsEntry("address", "192.0.2.1")
        .containsEntry("rule", "allow ok.example");
  }

  @Test
  void sandboxCannotFillTheLedger() {
    EgressEvents events = events(true);
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < 1000; i++) {
        events.denied(denial("host" + i + "-" + round + ".example", ""));
        events.closed(connection(i));
      }
      events.flush();
    }

    assertThat(log.after(0, 10_000)).as("120 of each kind").hasSizeLessThanOrEqualTo(2 * 120);
  }

  @Test
  void deniedNamesOfADayAreFewEvents() {
    EgressEvents events = events(false);
    for (int second = 0; second < 86_400; second++) {
      for (int i = 0; i < 4; i++) {
        events.denied(denial("host" + (second * 4 + i) % 1_000 + ".example", ""));
      }
      events.flush();
      now += 1_000_000_000L;
    }

    assertThat(log.after(0, 1_000_000)).hasSizeLessThanOrEqualTo(120 + 24 * 60);
  }

  @Test
  void equalDenialsOfAMinuteAreOneEvent() {
    EgressEvents events = events(false);
    for (int second = 0; second < 180; second++) {
      events.denied(denial("a.example", ""));
      events.flush();
      now += 1_000_000_000L;
    }
    events.close();

    List<String> counts =
        log.after(0, 1000).stream()
            .map(event -> String.valueOf(Json.parseObject(event.data()).get("count")))
            .toList();
    assertThat(counts).containsExactly("1", "60", "60", "59");
  }

  @Test
  void omittedEventsAreCountedInTheNextOne() {
    EgressEvents events = events(false);
    for (int i = 0; i < 100; i++) {
      events.denied(denial("host" + i + ".example", ""));
    }

    List<EventView> found = flushed(events);

    assertThat(found).hasSize(64);
    assertThat(String.valueOf(Json.parseObject(found.getFirst().data()).get("omitted")))
        .isEqualTo("36");
  }

  @Test
  void omittedConnectionsAreCountedInTheNextEvent() {
    EgressEvents events = events(true);
    for (int i = 0; i < 100; i++) {
      events.closed(connection(i));
    }

    List<EventView> found = flushed(events);

    assertThat(found).hasSize(64);
    assertThat(String.valueOf(Json.parseObject(found.getFirst().data()).get("omitted")))
        .isEqualTo("36");
  }
}
