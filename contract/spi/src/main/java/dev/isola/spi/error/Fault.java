package dev.isola.spi.error;

import static java.util.Objects.requireNonNull;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Describes one failure. A {@link SandboxException} is always created from a fault; the code
 * determines its class.
 *
 * <pre>{@code
 * throw Fault.of(FILE_NOT_FOUND, "no such file: " + path, "list the folder to see what it contains")
 *     .sandbox(id)
 *     .with("path", path)
 *     .exception();
 * }</pre>
 *
 * @param problem one sentence without a full stop that says what failed, and on what
 * @param remedy what to do next
 * @param context machine-readable details; never a secret
 */
public record Fault(
    ErrorCode code,
    String problem,
    String remedy,
    Optional<SandboxId> sandbox,
    Map<String, String> context,
    Instant at) {

  public Fault {
    requireNonNull(code, "code");
    requireNonNull(problem, "what");
    requireNonNull(remedy, "remedy");
    requireNonNull(sandbox, "sandbox");
    requireNonNull(at, "at");
    context = Collections.unmodifiableMap(new LinkedHashMap<>(context));
  }

  public static Fault of(ErrorCode code, String problem, String remedy) {
    return new Fault(code, problem, remedy, Optional.empty(), Map.of(), Instant.now());
  }

  public Fault sandbox(SandboxId id) {
    return new Fault(code, problem, remedy, Optional.of(id), context, at);
  }

  public Fault with(String key, String value) {
    Map<String, String> more = new LinkedHashMap<>(context);
    more.put(key, value);
    return new Fault(code, problem, remedy, sandbox, more, at);
  }

  public SandboxException exception() {
    return exception(null);
  }

  public SandboxException exception(@org.jspecify.annotations.Nullable Throwable cause) {
    return switch (code.kind()) {
      case INVALID_REQUEST -> new InvalidRequest(this, cause);
      case UNAUTHENTICATED -> new Unauthenticated(this, cause);
      case FORBIDDEN -> new Forbidden(this, cause);
      case NOT_FOUND -> new NotFound(this, cause);
      case CONFLICT -> new Conflict(this, cause);
      case GONE -> new Gone(this, cause);
      case LIMIT_EXCEEDED -> new LimitExceeded(this, cause);
      case UNSUPPORTED -> new Unsupported(this, cause);
      case OUTCOME_UNKNOWN -> new OutcomeUnknown(this, cause);
      case PROVIDER_UNAVAILABLE -> new ProviderUnavailable(this, cause);
      case DEADLINE_EXCEEDED -> new DeadlineExceeded(this, cause);
      case INTERNAL -> new Internal(this, cause);
    };
  }
}
