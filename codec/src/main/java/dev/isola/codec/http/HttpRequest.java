package dev.isola.codec.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * A request.
 *
 * @param path the encoded path with query
 * @param body empty for none
 */
public record HttpRequest(String method, String path, Optional<Body> body) {

  /** A request body, written once. It must release its resources if writing fails. */
  public interface Body {
    String type();

    /** Returns the length, or -1 if unknown in advance. */
    long length();

    void writeTo(OutputStream out) throws IOException;
  }

  public static HttpRequest get(String path) {
    return new HttpRequest("GET", path, Optional.empty());
  }

  public static HttpRequest delete(String path) {
    return new HttpRequest("DELETE", path, Optional.empty());
  }

  public static HttpRequest post(String path) {
    return new HttpRequest("POST", path, Optional.empty());
  }

  public static HttpRequest post(String path, byte[] json) {
    return json("POST", path, json);
  }

  /** Returns a request with a JSON body. */
  public static HttpRequest json(String method, String path, byte[] json) {
    return new HttpRequest(method, path, Optional.of(bytes("application/json", json)));
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
  public boolean isMutating() {
    return !method.equals("GET");
  }

  /** Returns the path without the query, which may be long. */
  public String pathWithoutQuery() {
    int query = path.indexOf('?');
    return method + " " + (query < 0 ? path : path.substring(0, query));
  }
}
