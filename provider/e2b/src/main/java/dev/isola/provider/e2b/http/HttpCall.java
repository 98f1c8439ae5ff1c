package dev.isola.provider.e2b.http;

import dev.isola.spi.Bytes;
import java.io.InputStream;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One request.
 *
 * @param what it does, for messages: {@code making a sandbox}
 * @param harmless whether it changes nothing that a second one would not: what became of it when no
 *     answer came is then no question
 * @param content its body; none when empty
 */
public record HttpCall(
    String what,
    String method,
    URI address,
    Map<String, String> headers,
    boolean idempotent,
    Optional<Content> content) {

  /** What is sent. */
  public sealed interface Content {
    /** All of it is here; it can be sent once more. */
    record BufferedContent(Bytes bytes) implements Content {}

    /** It comes piece by piece, once. */
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

  /** Sends what a stream gives, piece by piece. */
  public HttpCall sending(String type, InputStream body) {
    Content all = new Content.StreamContent(body);
    return new HttpCall(what, method, address, headers, idempotent, Optional.of(all))
        .with("Content-Type", type);
  }
}
