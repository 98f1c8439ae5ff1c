package dev.isola.server.error;

import dev.isola.codec.json.Json;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** An error as a problem document (RFC 9457). Its status depends only on the error code. */
public record Problem(int status, Map<String, Object> body) {
  public static final String MEDIA_TYPE = "application/problem+json";

  /** Context key of the command that an error concerns. */
  public static final String COMMAND = "command";

  /** Context key of the spec that an error concerns, as JSON without confidential values. */
  public static final String SPEC = "spec";

  /** Length of the end of stderr in a problem. */
  public static final int MAX_STDERR = 4096;

  /**
   * Returns the problem for an exception. An unexpected exception discloses nothing but the request
   * id.
   */
  public static Problem of(Throwable thrown, String requestId) {
    return of(fault(thrown), requestId);
  }

  public static Fault fault(Throwable thrown) {
    return thrown instanceof SandboxException known
        ? known.fault()
        : Fault.of(
            ErrorCode.INTERNAL,
            "internal error",
            "report it with the request id; the server log contains the details");
  }

  public static Problem of(Fault fault, String requestId) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("type", "urn:isola:error:" + fault.code().name());
    body.put("title", title(fault.code()));
    int status = ErrorStatus.of(fault.code());
    body.put("status", status);
    body.put("detail", fault.problem());
    body.put("code", fault.code().name());
    body.put("category", fault.code().category().name());
    body.put("remedy", fault.remedy().isEmpty() ? "try again" : fault.remedy());
    body.put("requestId", requestId);
    fault.sandbox().ifPresent(id -> body.put("sandbox", id.value()));
    body.putAll(details(fault));
    Map<String, String> context = new LinkedHashMap<>(fault.context());
    context.remove(SPEC);
    if (!context.isEmpty()) {
      body.put("context", context);
    }
    return new Problem(status, body);
  }

  /**
   * Returns the time of an error and, where it concerns them, the command with its end and the spec
   * of the sandbox.
   */
  public static Map<String, Object> details(Fault fault) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("timestamp", fault.at().toString());
    Map<String, String> context = fault.context();
    Optional.ofNullable(context.get(COMMAND)).ifPresent(text -> details.put(COMMAND, text));
    Optional.ofNullable(context.get("exitCode"))
        .filter(text -> text.matches("[0-9]{1,3}"))
        .ifPresent(text -> details.put("exitCode", Integer.parseInt(text)));
    Optional.ofNullable(context.get("signal")).ifPresent(text -> details.put("signal", text));
    Optional.ofNullable(context.get("stderr")).ifPresent(text -> details.put("stderr", tail(text)));
    Optional.ofNullable(context.get(SPEC))
        .ifPresent(text -> details.put(SPEC, Json.parseObject(text)));
    return details;
  }

  private static String tail(String text) {
    return text.substring(Math.max(0, text.length() - MAX_STDERR));
  }

  private static String title(ErrorCode code) {
    String words = code.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    return Character.toUpperCase(words.charAt(0)) + words.substring(1);
  }
}
