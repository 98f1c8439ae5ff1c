package dev.isola.server.route;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses JSON request bodies. */
public final class JsonBody {
  /** The largest body that is read into memory. */
  public static final int MAX_BYTES = 1 << 20;

  private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

  private JsonBody() {}

  /** Parses and validates a body; the error lists all violations. */
  public static Map<String, Object> read(
      InputStream in, Route.Body.Json declared, List<Violation> problems) throws IOException {
    byte[] bytes = bytes(in, MAX_BYTES);
    Object value = bytes.length == 0 && !declared.required() ? Map.of() : parse(bytes);
    declared.shape().check("", value, problems);
    if (!problems.isEmpty()) {
      throw Query.invalid(new ArrayList<>(problems));
    }
    Map<String, Object> body = new LinkedHashMap<>();
    ((Map<?, ?>) value)
        .forEach(
            (name, each) -> {
              if (each != null) {
                body.put(String.valueOf(name), each);
              }
            });
    return body;
  }

  /** Parses an object without a declared shape. */
  public static Map<?, ?> object(byte[] bytes) {
    if (parse(bytes) instanceof Map<?, ?> map) {
      return map;
    }
    throw invalid("the body is not an object", "send a JSON object");
  }

  /** Reads a body of limited size, with a limit on the total time. */
  public static byte[] bytes(InputStream in, int maxBytes) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    long startNanos = System.nanoTime();
    for (int read = in.read(buffer); read >= 0 && all.size() <= maxBytes; read = in.read(buffer)) {
      all.write(buffer, 0, read);
      if (System.nanoTime() - startNanos > READ_TIMEOUT.toNanos()) {
        throw invalid(
            "the body took longer than " + READ_TIMEOUT.toSeconds() + " s",
            "send the body without pauses");
      }
    }
    if (all.size() > maxBytes) {
      throw invalid(
          "the body is larger than " + maxBytes + " bytes", "upload large content as files");
    }
    return all.toByteArray();
  }

  private static Object parse(byte[] bytes) {
    Object value;
    try {
      value = Json.parse(bytes);
    } catch (MalformedJson e) {
      throw invalid(
          "the body is not JSON: " + e.getMessage(),
          "send one JSON object in UTF-8 with unique names");
    }
    if (value == null) {
      throw invalid("the body is null", "send a JSON object");
    }
    return value;
  }

  private static SandboxException invalid(String what, String remedy) {
    return Fault.of(ErrorCode.INVALID_REQUEST, what, remedy).exception();
  }
}
