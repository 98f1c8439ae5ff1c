package dev.isola.provider.http.client;

import dev.isola.codec.json.Json;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Optional;
import java.util.Set;

/**
 * A request.
 *
 * @param what the operation, for messages, such as {@code create}
 * @param path the encoded path with its query, after the address of the backend
 * @param effect what a missing response means
 * @param content the body; none if empty
 * @param expected the statuses of a success
 * @param answer the expected body of a success
 */
public record BackendCall(
    String what,
    String method,
    String path,
    Effect effect,
    Optional<Content> content,
    Set<Integer> expected,
    Answer answer) {

  /** What may have happened if there is no valid response. */
  public enum Effect {
    /** Nothing: the request only reads. */
    NONE,
    /** Something, but the request can be repeated without further effect. */
    IDEMPOTENT,
    /** Something that must not happen twice. */
    ONCE
  }

  /** The body of a request, which can be sent again. */
  public record Content(String type, BodyPublisher bytes) {}

  /**
   * The body of a response.
   *
   * @param type its media type; none is expected if empty
   * @param limit how many bytes it may have
   */
  public record Answer(String type, int limit) {
    static final Answer NONE = new Answer("", 64 << 10);
    static final String JSON = "application/json";
    static final String BYTES = "application/octet-stream";
  }

  private static final int DOCUMENT = 1 << 20;

  /** Returns a request for a document. */
  public static BackendCall get(String what, String path) {
    return new BackendCall(
        what,
        "GET",
        path,
        Effect.NONE,
        Optional.empty(),
        Set.of(200),
        new Answer(Answer.JSON, DOCUMENT));
  }

  /** Returns a request for a document of any size up to {@code limit}. */
  public static BackendCall get(String what, String path, int limit) {
    BackendCall call = get(what, path);
    return call.answering(new Answer(Answer.JSON, limit));
  }

  /** Returns a request for content. */
  public static BackendCall getBytes(String what, String path, int limit) {
    return get(what, path).answering(new Answer(Answer.BYTES, limit));
  }

  /** Returns a request that has no response body. */
  public static BackendCall of(String what, String method, String path, Effect effect) {
    return new BackendCall(what, method, path, effect, Optional.empty(), Set.of(204), Answer.NONE);
  }

  /** Returns this request with a document as its body. */
  public BackendCall sending(Object document) {
    return sending(new Content(Answer.JSON, BodyPublishers.ofByteArray(Json.bytes(document))));
  }

  /** Returns this request with content as its body. */
  public BackendCall sendingBytes(BodyPublisher bytes) {
    return sending(new Content(Answer.BYTES, bytes));
  }

  private BackendCall sending(Content body) {
    return new BackendCall(what, method, path, effect, Optional.of(body), expected, answer);
  }

  /** Returns this request, whose success is a document with one of these statuses. */
  public BackendCall expecting(int limit, Integer... statuses) {
    return new BackendCall(
        what, method, path, effect, content, Set.of(statuses), new Answer(Answer.JSON, limit));
  }

  /** Returns a request that asks whether something exists: status 200 or 404. */
  public static BackendCall head(String what, String path) {
    return new BackendCall(
        what, "HEAD", path, Effect.NONE, Optional.empty(), Set.of(200, 404), Answer.NONE);
  }

  private BackendCall answering(Answer other) {
    return new BackendCall(what, method, path, effect, content, expected, other);
  }
}
