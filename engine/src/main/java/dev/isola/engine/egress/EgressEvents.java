package dev.isola.engine.egress;

import dev.isola.codec.json.Json;
import dev.isola.egress.ConnectionView;
import dev.isola.egress.Denial;
import dev.isola.egress.EgressObserver;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.metrics.ByteCategory;
import dev.isola.engine.metrics.Direction;
import dev.isola.engine.metrics.MetricsRecorder;
import dev.isola.spi.SandboxId;
import dev.isola.store.NewEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Turns the traffic of one sandbox into metrics and events. Equal denials are one event with their
 * count, and a sandbox gets a bounded number of events in a minute, so that it cannot fill the
 * ledger; what exceeds that is counted in the next event.
 */
final class EgressEvents implements EgressObserver {
  static final String DENIED = "egressDenied";
  static final String CONNECTION = "egressConnection";

  private static final int MAX_PENDING = 64;
  private static final int EVENTS_PER_MINUTE = 120;
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  private record Key(String host, int port, String request, String reason) {}

  private static final class Counted {
    final Denial first;
    long count;

    Counted(Denial first) {
      this.first = first;
    }
  }

  private final SandboxId id;
  private final String provider;
  private final EventLog events;
  private final MetricsRecorder metrics;
  private final BooleanSupplier logsConnections;
  private final ReentrantLock lock = new ReentrantLock();
  private Map<Key, Counted> denials = new LinkedHashMap<>();
  private Map<Long, ConnectionView> connections = new LinkedHashMap<>();
  private long omitted;
  private long windowStart = System.nanoTime();
  private int inWindow;

  /**
   * @param logsConnections whether ended connections are events, too
   */
  EgressEvents(
      SandboxId id,
      String provider,
      EventLog events,
      MetricsRecorder metrics,
      BooleanSupplier logsConnections) {
    this.id = id;
    this.provider = provider;
    this.events = events;
    this.metrics = metrics;
    this.logsConnections = logsConnections;
  }

  @Override
  public void denied(Denial denial) {
    metrics.recordEgress(provider, false);
    lock.lock();
    try {
      Key key = new Key(denial.host(), denial.port(), denial.request(), denial.reason());
      Counted counted = denials.get(key);
      if (counted == null && denials.size() >= MAX_PENDING) {
        omitted++;
        return;
      }
      denials.computeIfAbsent(key, _ -> new Counted(denial)).count++;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void opened(ConnectionView connection) {
    metrics.recordEgress(provider, true);
  }

  @Override
  public void closed(ConnectionView connection) {
    metrics.recordBytes(provider, ByteCategory.EGRESS, Direction.OUT, connection.sentBytes());
    metrics.recordBytes(provider, ByteCategory.EGRESS, Direction.IN, connection.receivedBytes());
    if (!logsConnections.getAsBoolean()) {
      return;
    }
    lock.lock();
    try {
      if (connections.size() < MAX_PENDING) {
        connections.put(connection.id(), connection);
      } else {
        omitted++;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Appends the events that are due. Called about once a second. */
  void flush() {
    Map<Key, Counted> dueDenials;
    Map<Long, ConnectionView> dueConnections;
    lock.lock();
    try {
      dueDenials = denials;
      dueConnections = connections;
      denials = new LinkedHashMap<>();
      connections = new LinkedHashMap<>();
    } finally {
      lock.unlock();
    }
    dueDenials.values().forEach(counted -> append(DENIED, denied(counted), counted.first.at()));
    dueConnections
        .values()
        .forEach(one -> append(CONNECTION, connection(one), one.closedAt().orElse(one.openedAt())));
  }

  private void append(String type, Map<String, Object> data, Instant at) {
    Optional<Long> before = admit();
    if (before.isPresent()) {
      if (before.get() > 0) {
        data.put("omitted", before.get());
      }
      events.append(NewEvent.of(id, type, Json.text(data), at));
    }
  }

  /** Returns how many events were omitted before this one; empty if this one is omitted, too. */
  private Optional<Long> admit() {
    lock.lock();
    try {
      long now = System.nanoTime();
      if (now - windowStart > MINUTE) {
        windowStart = now;
        inWindow = 0;
      }
      if (inWindow >= EVENTS_PER_MINUTE) {
        omitted++;
        return Optional.empty();
      }
      inWindow++;
      long before = omitted;
      omitted = 0;
      return Optional.of(before);
    } finally {
      lock.unlock();
    }
  }

  private static Map<String, Object> denied(Counted counted) {
    Denial denial = counted.first;
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("host", denial.host());
    data.put("port", denial.port());
    if (!denial.request().isEmpty()) {
      data.put("request", denial.request());
    }
    data.put("reason", denial.reason());
    if (!denial.remedy().isEmpty()) {
      data.put("remedy", denial.remedy());
    }
    data.put("count", counted.count);
    return data;
  }

  private static Map<String, Object> connection(ConnectionView one) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("host", one.host());
    data.put("port", one.port());
    data.put("address", one.address());
    data.put("rule", one.rule());
    data.put("sentBytes", one.sentBytes());
    data.put("receivedBytes", one.receivedBytes());
    one.closedAt()
        .ifPresent(at -> data.put("durationMs", Duration.between(one.openedAt(), at).toMillis()));
    return data;
  }
}
