package dev.isola.provider.docker;

import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.provider.docker.http.EngineHttp.Cancellation;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Follows the engine's events for the containers of this instance, starting with the first sandbox,
 * so that the removal of a container outside Isola is noticed at once. If the engine becomes
 * unreachable, reconnects when it is back and checks what happened in the meantime.
 */
final class EngineEvents implements AutoCloseable {
  private static final int MAX_EVENT = 4 << 20; // A label has the boot record, up to 1 MiB.
  private static final Duration NO_TIMEOUT = Duration.ofDays(365);
  private static final long PAUSE = Duration.ofMillis(500).toNanos();

  /** Called when the container of a sandbox has ended. */
  interface Listener {
    void ended(SandboxId id, String name, String why);
  }

  private final EngineApi engine;
  private final InstanceId instance;
  private final Listener listener;
  private final Runnable onReconnect;
  private final AtomicBoolean following = new AtomicBoolean();
  private volatile @Nullable Cancellation current;
  private volatile boolean closed;

  /**
   * @param onReconnect called each time the engine is reachable, before following its events
   */
  EngineEvents(EngineApi engine, InstanceId instance, Listener listener, Runnable onReconnect) {
    this.engine = engine;
    this.instance = instance;
    this.listener = listener;
    this.onReconnect = onReconnect;
  }

  /** Starts following unless already started. */
  void follow() {
    if (!closed && following.compareAndSet(false, true)) {
      Thread.ofVirtual().name("engine-events").start(this::run);
    }
  }

  private void run() {
    boolean again = false;
    while (!closed) {
      try (Cancellation cancel = new Cancellation()) {
        current = cancel;
        if (closed) {
          return;
        }
        if (again) {
          onReconnect.run();
        }
        again = true;
        engine.http().stream(request(), Deadline.in(NO_TIMEOUT), cancel, this::read);
      } catch (SandboxException away) {
        // The loop retries; calls that need the engine report the error themselves.
      }
      if (!closed) {
        LockSupport.parkNanos(PAUSE);
      }
    }
  }

  private HttpRequest request() {
    return HttpRequest.get(
        "/events?filters="
            + EngineApi.encoded(
                Json.text(
                    Map.of(
                        "type",
                        List.of("container"),
                        "event",
                        List.of("die", "destroy"),
                        "label",
                        List.of(ContainerLabels.INSTANCE + "=" + instance)))));
  }

  /** Reads events, one per line. */
  private void read(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    byte[] piece = new byte[8192];
    for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
      for (int i = 0; i < count; i++) {
        if (piece[i] != '\n') {
          line.write(piece[i]);
        } else if (line.size() > 0) {
          dispatch(JsonValue.parse(line.toByteArray()));
          line.reset();
        }
      }
      if (line.size() > MAX_EVENT) {
        throw new IOException("an event longer than " + MAX_EVENT + " bytes");
      }
    }
  }

  private void dispatch(JsonValue event) {
    JsonValue about = event.at("Actor", "Attributes");
    String id = about.text(ContainerLabels.SANDBOX);
    if (SandboxId.isValid(id) && about.text(ContainerLabels.INSTANCE).equals(instance.value())) {
      boolean removed = event.text("Action").equals("destroy");
      listener.ended(
          new SandboxId(id),
          about.text("name"),
          removed ? "its container was removed" : "its container ended");
    }
  }

  @Override
  public void close() {
    closed = true;
    Cancellation listening = current;
    if (listening != null) {
      listening.close();
    }
  }
}
