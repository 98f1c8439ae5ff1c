package dev.isola.provider.e2b.http;

import dev.isola.spi.Bytes;
import java.io.InputStream;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A request.
 *
 * @param what the operation, for messages, such as {@code making a sandbox}
 * @param idempotent whether the request can be repeated without further effect, so that a missing
 *     response is not an unknown outcome
 * @param content the body; none if empty
 */
public record HttpCall(
    String what,
    String method,
    URI address,
    Map<String, String> headers,
    boolean idempotent,
    Optional<Content> content) {

  /** The body of a request. */
  public sealed interface Content {
    /** A body in memory, which can be sent again. */
    record BufferedContent(Bytes bytes) implements Content {}

    /** A streamed body, which can be sent once. */
    record StreamContent(InputStream stream) implements Content {}
  }

  public HttpCall {
    headers = Map.copyOf(headers);
  }

  public static HttpCall of(String what, String method, URI address) {
    return new HttpCall(what, method, address, Map.of(), method.equals("GET"), Optional.empty());
  }

  public HttpCall with(String header, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(header, value);
    return new HttpCall(what, method, address, more, idempotent, content);
  }

  public HttpCall with(Map<String, String> others) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.putAll(others);
    return new HttpCall(what, method, address, more, idempotent, content);
  }

  public HttpCall asIdempotent() {
    return new HttpCall(what, method, address, headers, true, content);
  }

  public HttpCall sending(String type, byte[] body) {
    Content all = new Content.BufferedContent(Bytes.of(body));
    return new HttpCall(what, method, address, headers, idempotent, Optional.of(all))
        .with("Content-Type", type);
  }

  /** Returns the request with a streamed body. */
  public HttpCall sending(String type, InputStream body) {
    Content all = new Content.StreamContent(body);
    return new HttpCall(what, method, address, headers, idempotent, Optional.of(all))
        .with("Content-Type", type);
  }
}
