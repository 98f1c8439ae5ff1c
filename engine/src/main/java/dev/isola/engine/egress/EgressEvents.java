package dev.isola.engine.egress;

import dev.isola.codec.json.Json;
import dev.isola.egress.ConnectionView;
import dev.isola.egress.Denial;
import dev.isola.egress.EgressObserver;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.metrics.ByteCategory;
import dev.isola.engine.metrics.Direction;
import dev.isola.engine.metrics.MetricsRecorder;
import dev.isola.spi.SandboxId;
import dev.isola.store.NewEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Turns the traffic of one sandbox into metrics and events. Equal denials of a minute are one event
 * with their count, and the events of a sandbox are bounded, so that it cannot fill the ledger: so
 * many at once, and then few in a minute. A denial that exceeds that waits for its event, and is
 * counted in it; what exceeds the memory is counted in the next event.
 */
final class EgressEvents implements EgressObserver {
  static final String DENIED = "egressDenied";
  static final String CONNECTION = "egressConnection";

  private static final int MAX_PENDING = 64;
  private static final int EVENTS_AT_ONCE = 120;
  private static final int DENIALS_PER_MINUTE = 1;
  private static final int CONNECTIONS_PER_MINUTE = 10;
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  private record Key(String host, int port, String request, String reason) {}

  /** Equal denials since their last event. */
  private static final class Counted {
    private Denial first;
    private Denial last;
    private long count;

    /** When the next event is due, at the earliest. */
    private long dueAt;

    Counted(Denial first, long now) {
      this.first = first;
      this.last = first;
      this.dueAt = now;
    }

    void add(Denial denial) {
      if (count++ == 0) {
        first = denial;
      }
      last = denial;
    }
  }

  /** How many events may be appended now. */
  private static final class Allowance {
    private final int perMinute;
    private double events = EVENTS_AT_ONCE;
    private long countedAt;

    Allowance(int perMinute, long now) {
      this.perMinute = perMinute;
      this.countedAt = now;
    }

    boolean take(long now) {
      double earned = (double) (now - countedAt) / MINUTE * perMinute;
      events = Math.min(EVENTS_AT_ONCE, events + earned);
      countedAt = now;
      if (events < 1) {
        return false;
      }
      events--;
      return true;
    }
  }

  private final SandboxId id;
  private final String provider;
  private final EventLog events;
  private final MetricsRecorder metrics;
  private final BooleanSupplier logsConnections;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Key, Counted> denials = new LinkedHashMap<>();
  private final Map<Long, ConnectionView> connections = new LinkedHashMap<>();
  private final Allowance denialEvents;
  private final Allowance connectionEvents;
  private long omitted;

  /**
   * @param logsConnections whether ended connections are events, too
   * @param nanoTime as {@link System#nanoTime}
   */
  EgressEvents(
      SandboxId id,
      String provider,
      EventLog events,
      MetricsRecorder metrics,
      BooleanSupplier logsConnections,
      LongSupplier nanoTime) {
    this.id = id;
    this.provider = provider;
    this.events = events;
    this.metrics = metrics;
    this.logsConnections = logsConnections;
    this.nanoTime = nanoTime;
    this.denialEvents = new Allowance(DENIALS_PER_MINUTE, nanoTime.getAsLong());
    this.connectionEvents = new Allowance(CONNECTIONS_PER_MINUTE, nanoTime.getAsLong());
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
      denials.computeIfAbsent(key, _ -> new Counted(denial, nanoTime.getAsLong())).add(denial);
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
    append(due(false));
  }

  /** Appends what is left, since the sandbox is not carried any more. */
  void close() {
    append(due(true));
  }

  private void append(List<NewEvent> due) {
    due.forEach(events::append);
  }

  private List<NewEvent> due(boolean last) {
    List<NewEvent> due = new ArrayList<>();
    long now = nanoTime.getAsLong();
    lock.lock();
    try {
      for (Counted counted : List.copyOf(denials.values())) {
        boolean waits = !last && now - counted.dueAt < 0;
        if (counted.count > 0 && !waits && denialEvents.take(now)) {
          due.add(event(DENIED, denied(counted), counted.first.at()));
          counted.count = 0;
          counted.dueAt = now + MINUTE;
        }
      }
      denials.values().removeIf(counted -> counted.count == 0 && now - counted.dueAt >= 0);
      for (ConnectionView one : connections.values()) {
        if (connectionEvents.take(now)) {
          due.add(event(CONNECTION, connection(one), one.closedAt().orElse(one.openedAt())));
        } else {
          omitted++;
        }
      }
      connections.clear();
    } finally {
      lock.unlock();
    }
    return due;
  }

  private NewEvent event(String type, Map<String, Object> data, Instant at) {
    if (omitted > 0) {
      data.put("omitted", omitted);
      omitted = 0;
    }
    return NewEvent.of(id, type, Json.text(data), at);
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
    data.put("lastAt", counted.last.at());
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
