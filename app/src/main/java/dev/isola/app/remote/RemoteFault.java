package dev.isola.app.remote;

import dev.isola.client.error.Conflict;
import dev.isola.client.error.DeadlineExceeded;
import dev.isola.client.error.Forbidden;
import dev.isola.client.error.Gone;
import dev.isola.client.error.Internal;
import dev.isola.client.error.InvalidRequest;
import dev.isola.client.error.IsolaException;
import dev.isola.client.error.LimitExceeded;
import dev.isola.client.error.NotFound;
import dev.isola.client.error.OutcomeUnknown;
import dev.isola.client.error.Problem;
import dev.isola.client.error.ProviderUnavailable;
import dev.isola.client.error.Unauthenticated;
import dev.isola.client.error.Unsupported;
import dev.isola.codec.json.Json;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Converts errors of the server to errors of the command line. */
public final class RemoteFault {
  private static final Map<String, ErrorCode> CODES =
      Stream.of(ErrorCode.values()).collect(Collectors.toMap(ErrorCode::name, code -> code));

  private RemoteFault() {}

  public static SandboxException of(IsolaException e) {
    return of(e, remedy(e));
  }

  static SandboxException of(IsolaException e, String remedy) {
    Problem problem = e.problem();
    Fault fault =
        new Fault(
            code(e),
            problem.detail(),
            remedy,
            problem.sandbox().filter(SandboxId::isValid).map(SandboxId::new),
            Map.of(),
            problem.timestamp().orElseGet(Instant::now));
    for (var entry : e.context().entrySet()) {
      fault = fault.with(entry.getKey(), entry.getValue());
    }
    if (!e.requestId().isEmpty()) {
      fault = fault.with("requestId", e.requestId());
    }
    if (!problem.spec().isEmpty()) {
      fault = fault.with(dev.isola.server.error.Problem.SPEC, Json.text(problem.spec()));
    }
    return fault.exception(e);
  }

  private static String remedy(IsolaException e) {
    return switch (e.code()) {
      case "UNAUTHENTICATED" ->
          "run isola login URL with a key of that server, or set ISOLA_API_KEY";
      case "SANDBOX_NOT_FOUND", "SANDBOX_DESTROYED" -> "run isola ls to list sandboxes";
      case "EXECUTION_NOT_FOUND" -> "run isola logs ID to list executions";
      default -> e.remedy();
    };
  }

  /** Maps an unknown code of a newer server by its exception class. */
  private static ErrorCode code(IsolaException e) {
    ErrorCode known = CODES.get(e.code());
    if (known != null) {
      return known;
    }
    return switch (e) {
      case InvalidRequest ignored -> ErrorCode.INVALID_REQUEST;
      case Unauthenticated ignored -> ErrorCode.UNAUTHENTICATED;
      case Forbidden ignored -> ErrorCode.FORBIDDEN;
      case NotFound ignored -> ErrorCode.ROUTE_NOT_FOUND;
      case Conflict ignored -> ErrorCode.CONFLICT;
      case Gone ignored -> ErrorCode.SANDBOX_DESTROYED;
      case LimitExceeded ignored -> ErrorCode.RESOURCE_LIMIT;
      case Unsupported ignored -> ErrorCode.NOT_IMPLEMENTED;
      case OutcomeUnknown ignored -> ErrorCode.OUTCOME_UNKNOWN;
      case ProviderUnavailable ignored -> ErrorCode.PROVIDER_UNAVAILABLE;
      case DeadlineExceeded ignored -> ErrorCode.DEADLINE_EXCEEDED;
      case Internal ignored -> ErrorCode.INTERNAL;
    };
  }
}
