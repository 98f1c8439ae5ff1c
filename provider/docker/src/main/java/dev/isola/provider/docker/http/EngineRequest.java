package dev.isola.provider.docker.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * What is asked.
 *
 * @param path with its query, encoded
 * @param body empty for none
 */
public record EngineRequest(String method, String path, Optional<Body> body) {

  /**
   * What is sent along; written once, as long as it says. It ends what it started when it fails.
   */
  public interface Body {
    String type();

    /** Returns how long it is; -1 when that is known only at its end. */
    long length();

    void writeTo(OutputStream out) throws IOException;
  }

  public static EngineRequest get(String path) {
    return new EngineRequest("GET", path, Optional.empty());
  }

  public static EngineRequest delete(String path) {
    return new EngineRequest("DELETE", path, Optional.empty());
  }

  public static EngineRequest post(String path) {
    return new EngineRequest("POST", path, Optional.empty());
  }

  public static EngineRequest post(String path, byte[] json) {
    return new EngineRequest("POST", path, Optional.of(bytes("application/json", json)));
  }

  public static EngineRequest put(String path, byte[] archive) {
    return new EngineRequest("PUT", path, Optional.of(bytes("application/x-tar", archive)));
  }

  public static Body bytes(String type, byte[] content) {
    return new Body() {
      @Override
      public String type() {
        return type;
      }

      @Override
      public long length() {
        return content.length;
      }

      @Override
      public void writeTo(OutputStream out) throws IOException {
        out.write(content);
      }
    };
  }

  /** Tells whether asking may have changed something although no answer came. */
  boolean isMutating() {
    return !method.equals("GET");
  }

  /** Returns it without its query, which may be long. */
  String pathWithoutQuery() {
    int query = path.indexOf('?');
    return method + " " + (query < 0 ? path : path.substring(0, query));
  }
}
