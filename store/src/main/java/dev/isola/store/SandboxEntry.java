package dev.isola.store;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The ledger's record of one sandbox. Times are truncated to microseconds.
 *
 * @param tenant the owner; empty when there are no tenants
 * @param spec the spec as a JSON document, which the ledger does not interpret
 * @param specHash the hash of everything that makes two sandboxes interchangeable
 * @param revision the number that a compare-and-set checks; 0 before the entry is stored
 * @param updatedAt when the entry was last written, by the writer's clock
 * @param expiresAt when the sandbox expires; empty for never
 * @param idleTimeout how long after its last activity the sandbox expires; empty for never
 * @param warm whether the sandbox came from the warm pool
 * @param pooled whether the sandbox is in the warm pool and unclaimed
 * @param cause why the sandbox failed or was destroyed
 * @param attempts the providers that failed to create the sandbox
 * @param labels the client's tags, used by filters, and labels of the HTTP API, which begin with
 *     {@code isola.}; the engine stores no state in them
 * @param whenIdle the action to take when the idle timeout expires
 * @param whenExpired the action to take when the sandbox expires
 * @param suspension present while the sandbox is suspended
 * @param baseImage for a sandbox created from a snapshot: the image on which the snapshot was
 *     taken, empty text if there was none
 * @param name chosen by the client; unique among the sandboxes of a tenant that are not destroyed
 * @param owner the server that holds the connection to the sandbox; empty if one server has the
 *     ledger to itself
 * @param fence increases with every change of the owner
 * @param damage why the record is unreadable; the other fields then hold what could be read
 */
public record SandboxEntry(
    SandboxId id,
    String tenant,
    String spec,
    String specHash,
    String provider,
    Isolation isolation,
    SandboxState state,
    long revision,
    Instant createdAt,
    Instant updatedAt,
    Optional<Instant> expiresAt,
    Optional<Duration> idleTimeout,
    Instant lastActivity,
    boolean warm,
    boolean pooled,
    Optional<String> cause,
    List<FailedAttempt> attempts,
    Map<String, String> labels,
    ExpiryAction whenIdle,
    ExpiryAction whenExpired,
    Optional<Suspension> suspension,
    Optional<String> baseImage,
    Optional<String> name,
    String owner,
    long fence,
    Optional<String> damage) {

  public SandboxEntry {
    createdAt = Micros.truncate(createdAt);
    updatedAt = Micros.truncate(updatedAt);
    expiresAt = expiresAt.map(Micros::truncate);
    idleTimeout = idleTimeout.map(time -> Micros.duration(Micros.of(time)));
    lastActivity = Micros.truncate(lastActivity);
    attempts = List.copyOf(attempts);
    labels = Collections.unmodifiableMap(new TreeMap<>(labels));
  }

  /**
   * Returns a builder for an intent to create a sandbox: state {@code CREATING}, written and active
   * at {@code now}, without an expiry.
   */
  public static Builder intent(
      SandboxId id,
      String spec,
      String specHash,
      String provider,
      Isolation isolation,
      Instant now) {
    return new Builder(id, spec, specHash, provider, isolation, now);
  }

  /** Returns a builder initialized from this entry. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Returns this entry in another state. */
  public SandboxEntry withState(SandboxState next, Instant now) {
    return toBuilder().state(next).updatedAt(now).build();
  }

  /** Returns this entry in another state, with the cause. */
  public SandboxEntry withState(SandboxState next, Instant now, String why) {
    return toBuilder().state(next).updatedAt(now).cause(why).build();
  }

  /**
   * Returns when the sandbox is due: at its expiry or at the end of its idle timeout, whichever is
   * earlier. Empty if it has neither, and while it is being created or destroyed.
   */
  public Optional<Instant> dueAt() {
    if (!isAlive(state)) {
      return Optional.empty();
    }
    Optional<Instant> idle =
        idleTimeout.map(time -> Micros.instant(Micros.of(lastActivity) + Micros.of(time)));
    if (expiresAt.isEmpty() || idle.isEmpty()) {
      return expiresAt.or(() -> idle);
    }
    return expiresAt.get().isBefore(idle.get()) ? expiresAt : idle;
  }

  static boolean isAlive(SandboxState state) {
    return switch (state) {
      case RUNNING, PAUSED, STOPPED -> true;
      case CREATING, ERROR, TERMINATING, DESTROYED -> false;
    };
  }

  SandboxEntry withRevision(long number) {
    Builder builder = toBuilder();
    builder.revision = number;
    return builder.build();
  }

  /** Collects the mutable fields. */
  public static final class Builder {
    private final SandboxId id;
    private final Instant createdAt;
    private String tenant = "";
    private String spec;
    private String specHash;
    private String provider;
    private Isolation isolation;
    private SandboxState state = SandboxState.CREATING;
    private long revision;
    private Instant updatedAt;
    private @Nullable Instant expiresAt;
    private @Nullable Duration idleTimeout;
    private Instant lastActivity;
    private boolean warm;
    private boolean pooled;
    private @Nullable String cause;
    private final List<FailedAttempt> attempts = new ArrayList<>();
    private final Map<String, String> labels = new TreeMap<>();
    private ExpiryAction whenIdle = ExpiryAction.DESTROY;
    private ExpiryAction whenExpired = ExpiryAction.DESTROY;
    private @Nullable Suspension suspension;
    private @Nullable String baseImage;
    private @Nullable String name;
    private String owner = "";
    private long fence;
    private @Nullable String damage;

    private Builder(
        SandboxId id,
        String spec,
        String specHash,
        String provider,
        Isolation isolation,
        Instant now) {
      this.id = id;
      this.spec = spec;
      this.specHash = specHash;
      this.provider = provider;
      this.isolation = isolation;
      createdAt = now;
      updatedAt = now;
      lastActivity = now;
    }

    private Builder(SandboxEntry entry) {
      id = entry.id;
      createdAt = entry.createdAt;
      tenant = entry.tenant;
      spec = entry.spec;
      specHash = entry.specHash;
      provider = entry.provider;
      isolation = entry.isolation;
      state = entry.state;
      revision = entry.revision;
      updatedAt = entry.updatedAt;
      expiresAt = entry.expiresAt.orElse(null);
      idleTimeout = entry.idleTimeout.orElse(null);
      lastActivity = entry.lastActivity;
      warm = entry.warm;
      pooled = entry.pooled;
      cause = entry.cause.orElse(null);
      attempts.addAll(entry.attempts);
      labels.putAll(entry.labels);
      whenIdle = entry.whenIdle;
      whenExpired = entry.whenExpired;
      suspension = entry.suspension.orElse(null);
      baseImage = entry.baseImage.orElse(null);
      name = entry.name.orElse(null);
      owner = entry.owner;
      fence = entry.fence;
      damage = entry.damage.orElse(null);
    }

    public Builder tenant(String name) {
      tenant = name;
      return this;
    }

    public Builder spec(String document, String hash) {
      spec = document;
      specHash = hash;
      return this;
    }

    /** Sets the provider, which changes on fallback. */
    public Builder provider(String name, Isolation strength) {
      provider = name;
      isolation = strength;
      return this;
    }

    public Builder state(SandboxState next) {
      state = next;
      return this;
    }

    public Builder updatedAt(Instant now) {
      updatedAt = now;
      return this;
    }

    public Builder expiresAt(@Nullable Instant end) {
      expiresAt = end;
      return this;
    }

    public Builder idleTimeout(@Nullable Duration time) {
      idleTimeout = time;
      return this;
    }

    public Builder lastActivity(Instant now) {
      lastActivity = now;
      return this;
    }

    public Builder warm(boolean fromPool) {
      warm = fromPool;
      return this;
    }

    public Builder pooled(boolean unclaimed) {
      pooled = unclaimed;
      return this;
    }

    public Builder cause(@Nullable String why) {
      cause = why;
      return this;
    }

    public Builder attempt(FailedAttempt attempt) {
      attempts.add(attempt);
      return this;
    }

    public Builder whenIdle(ExpiryAction action) {
      whenIdle = action;
      return this;
    }

    public Builder whenExpired(ExpiryAction action) {
      whenExpired = action;
      return this;
    }

    public Builder suspension(@Nullable Suspension how) {
      suspension = how;
      return this;
    }

    public Builder baseImage(@Nullable String image) {
      baseImage = image;
      return this;
    }

    public Builder name(@Nullable String chosen) {
      name = chosen;
      return this;
    }

    /** Sets the server that holds the connection to a new sandbox. */
    public Builder owner(String server) {
      owner = server;
      return this;
    }

    /** Marks the entry as unreadable. The mark is not stored. */
    public Builder damage(@Nullable String why) {
      damage = why;
      return this;
    }

    public Builder label(String name, String value) {
      labels.put(name, value);
      return this;
    }

    /** Replaces all labels. */
    public Builder labels(Map<String, String> all) {
      labels.clear();
      labels.putAll(all);
      return this;
    }

    public SandboxEntry build() {
      return new SandboxEntry(
          id,
          tenant,
          spec,
          specHash,
          provider,
          isolation,
          state,
          revision,
          createdAt,
          updatedAt,
          Optional.ofNullable(expiresAt),
          Optional.ofNullable(idleTimeout),
          lastActivity,
          warm,
          pooled,
          Optional.ofNullable(cause),
          attempts,
          labels,
          whenIdle,
          whenExpired,
          Optional.ofNullable(suspension),
          Optional.ofNullable(baseImage),
          Optional.ofNullable(name),
          owner,
          fence,
          Optional.ofNullable(damage));
    }
  }
}
