package dev.isola.provider.docker.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * A request.
 *
 * @param path the encoded path with query
 * @param body empty for none
 */
public record EngineRequest(String method, String path, Optional<Body> body) {

  /** A request body, written once. It must release its resources if writing fails. */
  public interface Body {
    String type();

    /** Returns the length, or -1 if unknown in advance. */
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

  /** Tells whether the request may have changed state even without a response. */
  boolean isMutating() {
    return !method.equals("GET");
  }

  /** Returns the path without the query, which may be long. */
  String pathWithoutQuery() {
    int query = path.indexOf('?');
    return method + " " + (query < 0 ? path : path.substring(0, query));
  }
}
