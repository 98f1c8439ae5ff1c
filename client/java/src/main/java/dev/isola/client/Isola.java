package dev.isola.client;

import dev.isola.client.error.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Client of an Isola server. Calls block, are thread-safe, and throw an {@link
 * dev.isola.client.error.IsolaException} on failure. Close the client when done.
 *
 * <pre>{@code
 * try (Isola isola = Isola.connect("http://127.0.0.1:7777", key)) {
 *   Sandbox sandbox = isola.create(SandboxSpec.DEFAULT);
 *   System.out.print(sandbox.exec("uname -a").stdout());
 *   sandbox.destroy();
 * }
 * }</pre>
 */
public final class Isola implements AutoCloseable {
  /** Timeout for creating a sandbox, which may include pulling an image. */
  private static final Duration CREATE_TIMEOUT = Duration.ofMinutes(10);

  /** Stops paging if the server never returns a last page. */
  private static final int MAX_SANDBOXES = 100_000;

  private final Transport transport;

  private Isola(Transport transport) {
    this.transport = transport;
  }

  /** Creates a client. Does not send a request yet. */
  public static Isola connect(String url, String key) {
    return connect(IsolaOptions.of(url, key));
  }

  public static Isola connect(IsolaOptions options) {
    return new Isola(new Transport(options));
  }

  /**
   * Creates a client for the server given by the system properties {@code isola.url} and {@code
   * isola.key} or, if these are not set, {@code ISOLA_URL} and {@code ISOLA_API_KEY}.
   */
  public static Isola fromEnvironment() {
    return connect(
        setting("isola.url", "ISOLA_URL", "http://127.0.0.1:7777"),
        setting("isola.key", "ISOLA_API_KEY", ""));
  }

  private static String setting(String property, String variable, String defaultValue) {
    String value = System.getProperty(property);
    if (value == null) {
      value = System.getenv(variable);
    }
    if (value == null || value.isEmpty()) {
      value = defaultValue;
    }
    if (value.isEmpty()) {
      throw Problem.clientSide(
              "UNAUTHENTICATED",
              "no API key",
              "set " + variable + ", or the system property " + property)
          .exception();
    }
    return value;
  }

  /**
   * Creates a sandbox. If the response is lost, the request is retried with the same idempotency
   * key, so that no second sandbox is created.
   */
  public Sandbox create(SandboxSpec spec) {
    return sandbox(createAndDescribe(spec).id());
  }

  /** Creates a sandbox like {@link #create} and returns its description. */
  public SandboxInfo createAndDescribe(SandboxSpec spec) {
    return SandboxInfo.read(
        transport.postIdempotent(
            ApiPath.of("sandboxes"),
            spec.document(),
            UUID.randomUUID().toString(),
            CREATE_TIMEOUT));
  }

  /** Returns a handle to a sandbox, without checking that it exists. */
  public Sandbox sandbox(String id) {
    return new Sandbox(transport, id);
  }

  /**
   * Returns a handle to the sandbox with this id, this name, or an id that begins with {@code
   * reference}, in this order. A generated id is used as it is, without a request.
   *
   * @throws dev.isola.client.error.Conflict if several ids begin with {@code reference}
   * @throws dev.isola.client.error.NotFound if no sandbox matches
   */
  public Sandbox resolve(String reference) {
    return sandbox(SandboxReference.resolve(reference, this::list));
  }

  /** Lists sandboxes, oldest first. */
  public List<SandboxInfo> list(SandboxFilter filter) {
    List<SandboxInfo> all = new ArrayList<>();
    ApiPath first = filter.applyTo(ApiPath.of("sandboxes").query("limit", 1000));
    Optional<String> next = Optional.empty();
    do {
      JsonFields page = transport.get(next.isPresent() ? first.query("cursor", next.get()) : first);
      page.list("sandboxes").forEach(one -> all.add(SandboxInfo.read(one)));
      next = page.optionalText("next");
    } while (next.isPresent() && all.size() < MAX_SANDBOXES);
    return all;
  }

  /**
   * Streams lifecycle events.
   *
   * @param sandbox limits the stream to one sandbox
   * @param after number of the last known event; if empty, the stream starts with new events
   */
  public EventStream events(Optional<String> sandbox, Optional<Long> after) {
    return new EventStream(transport, sandbox, after).connect();
  }

  public Snapshots snapshots() {
    return new Snapshots(transport);
  }

  public Volumes volumes() {
    return new Volumes(transport);
  }

  public Templates templates() {
    return new Templates(transport);
  }

  public Images images() {
    return new Images(transport);
  }

  public ApiKeys keys() {
    return new ApiKeys(transport);
  }

  /** Lists the providers of the server, as JSON objects. */
  public List<Map<String, Object>> providers() {
    return transport.get(ApiPath.of("providers")).list("providers").stream()
        .map(JsonFields::all)
        .toList();
  }

  @Override
  public void close() {
    transport.close();
  }
}
