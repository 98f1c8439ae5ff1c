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
public record Call(
    String what,
    String method,
    URI address,
    Map<String, String> headers,
    boolean harmless,
    Optional<Content> content) {

  /** What is sent. */
  public sealed interface Content {
    /** All of it is here; it can be sent once more. */
    record Whole(Bytes bytes) implements Content {}

    /** It comes piece by piece, once. */
    record Passing(InputStream stream) implements Content {}
  }

  public Call {
    headers = Map.copyOf(headers);
  }

  public static Call of(String what, String method, URI address) {
    return new Call(what, method, address, Map.of(), method.equals("GET"), Optional.empty());
  }

  public Call with(String header, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(header, value);
    return new Call(what, method, address, more, harmless, content);
  }

  public Call with(Map<String, String> others) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.putAll(others);
    return new Call(what, method, address, more, harmless, content);
  }

  public Call isHarmless() {
    return new Call(what, method, address, headers, true, content);
  }

  public Call sending(String type, byte[] body) {
    Content all = new Content.Whole(Bytes.of(body));
    return new Call(what, method, address, headers, harmless, Optional.of(all))
        .with("Content-Type", type);
  }

  /** Sends what a stream gives, piece by piece. */
  public Call sending(String type, InputStream body) {
    Content all = new Content.Passing(body);
    return new Call(what, method, address, headers, harmless, Optional.of(all))
        .with("Content-Type", type);
  }
}
