package dev.isola.server.error;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** An error as a problem document (RFC 9457). Its status depends only on the error code. */
public record Problem(int status, Map<String, Object> body) {
  public static final String MEDIA_TYPE = "application/problem+json";

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
    if (!fault.context().isEmpty()) {
      body.put("context", fault.context());
    }
    return new Problem(status, body);
  }

  private static String title(ErrorCode code) {
    String words = code.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    return Character.toUpperCase(words.charAt(0)) + words.substring(1);
  }
}
