package dev.isola.client.error;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Description of a failure, as in the server's problem responses.
 *
 * @param code stable error code; determines the exception class
 * @param category of the cause: CALLER, RESOURCE, PROVIDER or BUG
 * @param status HTTP status; 0 if there was no response
 * @param detail one sentence that names what failed
 * @param remedy what to do next
 * @param requestId empty if there was no response
 * @param document complete JSON object of the server; empty if there was no response
 */
public record Problem(
    String code,
    String category,
    int status,
    String detail,
    String remedy,
    Optional<String> sandbox,
    String requestId,
    Map<String, String> context,
    Map<String, Object> document) {

  /** Error code if no connection could be established; the request was not sent. */
  public static final String SERVER_UNREACHABLE = "SERVER_UNREACHABLE";

  public Problem {
    context = Map.copyOf(context);
    document = Map.copyOf(document);
  }

  /** Creates a problem without a document of the server. */
  public Problem(
      String code,
      String category,
      int status,
      String detail,
      String remedy,
      Optional<String> sandbox,
      String requestId,
      Map<String, String> context) {
    this(code, category, status, detail, remedy, sandbox, requestId, context, Map.of());
  }

  /** Returns when the error occurred, on the clock of the server; empty without a response. */
  public Optional<Instant> timestamp() {
    try {
      return text("timestamp").map(Instant::parse);
    } catch (DateTimeException e) {
      return Optional.empty(); // not an Isola server
    }
  }

  /** Returns the command that the error concerns. */
  public Optional<String> command() {
    return text("command");
  }

  /** Returns the exit code of {@link #command()}. */
  public OptionalInt exitCode() {
    return document.get("exitCode") instanceof Number code
        ? OptionalInt.of(code.intValue())
        : OptionalInt.empty();
  }

  /** Returns the signal that ended {@link #command()}. */
  public Optional<String> signal() {
    return text("signal");
  }

  /** Returns the end of the standard error of {@link #command()}. */
  public Optional<String> stderr() {
    return text("stderr");
  }

  /**
   * Returns the spec of the sandbox that could not be created, without confidential values; empty
   * for other errors.
   */
  public Map<String, Object> spec() {
    Map<String, Object> spec = new LinkedHashMap<>();
    if (document.get("spec") instanceof Map<?, ?> map) {
      map.forEach((name, value) -> spec.put(String.valueOf(name), value));
    }
    return spec;
  }

  private Optional<String> text(String field) {
    return document.get(field) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  /** Returns a problem detected by the client, without a readable response of the server. */
  public static Problem clientSide(String code, String detail, String remedy) {
    return new Problem(code, category(code, 0), 0, detail, remedy, Optional.empty(), "", Map.of());
  }

  public IsolaException exception() {
    return exception(null);
  }

  /**
   * Returns the exception for this problem. The code determines the class; for an unknown code of a
   * newer server, the status does.
   */
  public IsolaException exception(@Nullable Throwable cause) {
    return switch (code) {
      case "INVALID_REQUEST",
          "INVALID_SPEC",
          "PATH_OUTSIDE",
          "NOT_A_FILE",
          "NOT_A_FOLDER",
          "IS_A_FOLDER",
          "BAD_ARCHIVE",
          "PERMISSION_DENIED",
          "COMMAND_NOT_FOUND",
          "COMMAND_NOT_EXECUTABLE",
          "USER_NOT_FOUND",
          "INIT_FAILED",
          "BUILD_FAILED",
          "METHOD_NOT_ALLOWED" ->
          new InvalidRequest(this, cause);
      case "UNAUTHENTICATED" -> new Unauthenticated(this, cause);
      case "FORBIDDEN" -> new Forbidden(this, cause);
      case "SANDBOX_NOT_FOUND",
          "PROVIDER_NOT_FOUND",
          "EXECUTION_NOT_FOUND",
          "FILE_NOT_FOUND",
          "PORT_NOT_OPEN",
          "IMAGE_NOT_FOUND",
          "SNAPSHOT_NOT_FOUND",
          "VOLUME_NOT_FOUND",
          "TEMPLATE_NOT_FOUND",
          "KEY_NOT_FOUND",
          "SECRET_NOT_FOUND",
          "ROUTE_NOT_FOUND" ->
          new NotFound(this, cause);
      case "CONFLICT", "FILE_EXISTS", "FOLDER_NOT_EMPTY", "ILLEGAL_STATE", "UNSAVED_WORK" ->
          new Conflict(this, cause);
      case "SANDBOX_DESTROYED", "SNAPSHOT_DAMAGED" -> new Gone(this, cause);
      case "RESOURCE_LIMIT", "RATE_LIMITED", "DISK_FULL" -> new LimitExceeded(this, cause);
      case "NOT_IMPLEMENTED" -> new Unsupported(this, cause);
      case "OUTCOME_UNKNOWN" -> new OutcomeUnknown(this, cause);
      case "PROVIDER_UNAVAILABLE", "SPAWN_FAILED", SERVER_UNREACHABLE ->
          new ProviderUnavailable(this, cause);
      case "EXEC_TIMEOUT", "DEADLINE_EXCEEDED", "CANCELLED" -> new DeadlineExceeded(this, cause);
      case "EXECUTION_FAILED", "INTERNAL" -> new Internal(this, cause);
      default -> byStatus(cause);
    };
  }

  private IsolaException byStatus(@Nullable Throwable cause) {
    return switch (status) {
      case 401 -> new Unauthenticated(this, cause);
      case 403 -> new Forbidden(this, cause);
      case 404 -> new NotFound(this, cause);
      case 409 -> new Conflict(this, cause);
      case 410 -> new Gone(this, cause);
      case 429, 507 -> new LimitExceeded(this, cause);
      case 501 -> new Unsupported(this, cause);
      case 502 -> new OutcomeUnknown(this, cause);
      case 503 -> new ProviderUnavailable(this, cause);
      case 504 -> new DeadlineExceeded(this, cause);
      default ->
          status >= 400 && status < 500
              ? new InvalidRequest(this, cause)
              : new Internal(this, cause);
    };
  }

  /**
   * Returns whether the same call may be retried after a delay: it changed nothing, and may succeed
   * unchanged. The code decides; for an unknown code of a newer server, the status does.
   */
  public boolean isRetryable() {
    return switch (code) {
      case SERVER_UNREACHABLE, "PROVIDER_UNAVAILABLE", "RESOURCE_LIMIT", "RATE_LIMITED" -> true;
      case "SPAWN_FAILED" -> false;
      default -> status == 429 || status == 503;
    };
  }

  /** Returns the category for a problem that does not state one. */
  public static String category(String code, int status) {
    return switch (code) {
      case SERVER_UNREACHABLE, "OUTCOME_UNKNOWN", "PROVIDER_UNAVAILABLE" -> "PROVIDER";
      case "DEADLINE_EXCEEDED", "CANCELLED" -> "RESOURCE";
      case "INTERNAL" -> "BUG";
      default -> status == 502 || status == 503 ? "PROVIDER" : status >= 500 ? "BUG" : "CALLER";
    };
  }
}
