package dev.isola.client;

import dev.isola.client.embedded.EmbeddedEngine;
import dev.isola.client.embedded.EmbeddedEngineFactory;
import dev.isola.client.embedded.EmbeddedOptions;
import dev.isola.client.error.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Client of an Isola server. Calls block, are thread-safe, and throw an {@link
 * dev.isola.client.error.IsolaException} on failure. Close the client when done.
 *
 * <pre>{@code
 * try (Isola isola = Isola.connect("http://127.0.0.1:7777", key);
 *     Sandbox sandbox = isola.create(SandboxSpec.DEFAULT)) {
 *   System.out.print(sandbox.exec("uname -a").stdout());
 * }
 * }</pre>
 */
public final class Isola implements AutoCloseable {
  /** Timeout for creating a sandbox, which may include pulling an image. */
  private static final Duration CREATE_TIMEOUT = Duration.ofMinutes(10);

  /** Stops paging if the server never returns a last page. */
  private static final int MAX_SANDBOXES = 100_000;

  private static final String DEFAULT_URL = "http://127.0.0.1:7777";

  /** URL that selects embedded mode. */
  private static final String EMBEDDED = "embedded";

  private final Transport transport;

  /** The engine of embedded mode, which ends with this client. */
  private final Optional<EmbeddedEngine> engine;

  private Isola(Transport transport, Optional<EmbeddedEngine> engine) {
    this.transport = transport;
    this.engine = engine;
  }

  /** Creates a client. Does not send a request yet. */
  public static Isola connect(String url, String key) {
    return connect(IsolaOptions.of(url, key));
  }

  public static Isola connect(IsolaOptions options) {
    return new Isola(new Transport(options), Optional.empty());
  }

  /**
   * Starts an engine in this JVM and returns its client: no server and no key are needed. Requires
   * the artifact {@code dev.isola:isola-embedded}. Its files are in a temporary folder. Closing the
   * client destroys the sandboxes, stops the engine and removes the folder; the end of the JVM does
   * the same.
   *
   * @throws dev.isola.client.error.Unsupported if the artifact is not on the class path
   */
  public static Isola embedded() {
    return embedded(EmbeddedOptions.DEFAULT);
  }

  /** Starts an engine in this JVM and returns its client; see {@link #embedded()}. */
  public static Isola embedded(EmbeddedOptions options) {
    EmbeddedEngineFactory factory =
        embeddedFactory()
            .orElseThrow(
                () ->
                    Problem.clientSide(
                            "NOT_IMPLEMENTED",
                            "embedded mode is not on the class path",
                            "add the artifact dev.isola:isola-embedded, or connect to a server")
                        .exception());
    EmbeddedEngine engine = factory.start(options);
    return new Isola(
        new Transport(IsolaOptions.of(engine.url(), engine.key())), Optional.of(engine));
  }

  private static Optional<EmbeddedEngineFactory> embeddedFactory() {
    // The loader of this class, not of the thread, which may be a test framework's.
    return ServiceLoader.load(EmbeddedEngineFactory.class, Isola.class.getClassLoader())
        .findFirst();
  }

  /**
   * Creates a client for the server given by the system properties {@code isola.url} and {@code
   * isola.key} or, if these are not set, {@code ISOLA_URL} and {@code ISOLA_API_KEY}. If the URL is
   * {@code embedded}, or neither a URL nor a key is given and {@code dev.isola:isola-embedded} is
   * on the class path, starts an embedded engine with {@link EmbeddedOptions#ofSystemProperties()}.
   */
  public static Isola fromEnvironment() {
    Optional<String> url = setting("isola.url", "ISOLA_URL");
    Optional<String> key = setting("isola.key", "ISOLA_API_KEY");
    boolean none = url.isEmpty() && key.isEmpty();
    if (url.equals(Optional.of(EMBEDDED)) || (none && embeddedFactory().isPresent())) {
      return embedded(EmbeddedOptions.ofSystemProperties());
    }
    return connect(
        url.orElse(DEFAULT_URL),
        key.orElseThrow(
            () ->
                Problem.clientSide(
                        "UNAUTHENTICATED",
                        "no API key",
                        "set ISOLA_API_KEY, or the system property isola.key; without a server, add"
                            + " the artifact dev.isola:isola-embedded")
                    .exception()));
  }

  private static Optional<String> setting(String property, String variable) {
    return Optional.ofNullable(System.getProperty(property))
        .or(() -> Optional.ofNullable(System.getenv(variable)))
        .filter(value -> !value.isEmpty());
  }

  /**
   * Creates a sandbox. If the response is lost, the request is retried with the same idempotency
   * key, so that no second sandbox is created. Closing the handle destroys the sandbox, unless it
   * is detached.
   */
  public Sandbox create(SandboxSpec spec) {
    return Sandbox.created(transport, createAndDescribe(spec).id());
  }

  /** Creates a sandbox with the server's defaults. */
  public Sandbox create() {
    return create(SandboxSpec.DEFAULT);
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

  /**
   * Returns a handle to an existing sandbox, without checking that it exists. Closing the handle
   * leaves the sandbox running.
   */
  public Sandbox sandbox(String id) {
    return Sandbox.existing(transport, id);
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

  /** Streams lifecycle events, to be read one by one. */
  public EventStream events(EventFilter filter) {
    return new EventStream(transport, filter).connect();
  }

  /**
   * Passes new events of a type to a handler, until the result or this client is closed.
   *
   * @param type such as spawn, ready, stateChange, resourceWarning, error or terminate
   */
  public EventSubscription on(String type, Consumer<EventStream.Event> handler) {
    return on(EventFilter.ALL.type(type), handler);
  }

  /** Passes events to a handler, until the result or this client is closed. */
  public EventSubscription on(EventFilter filter, Consumer<EventStream.Event> handler) {
    return EventSubscription.start(transport, filter, handler);
  }

  public Snapshots snapshots() {
    return new Snapshots(transport, this);
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

  public Secrets secrets() {
    return new Secrets(transport);
  }

  public ApiKeys keys() {
    return new ApiKeys(transport);
  }

  /**
   * Lists the servers that share a ledger; empty if the server has its ledger to itself. Requires a
   * key with scope admin.
   */
  public List<ServerInfo> servers() {
    return transport.get(ApiPath.of("servers")).list("servers").stream()
        .map(ServerInfo::read)
        .toList();
  }

  /** Returns the versions of specs that the server takes, oldest first. */
  public List<String> apiVersions() {
    return transport.get(ApiPath.of("providers")).strings("apiVersions");
  }

  /** Lists the providers of the server, as JSON objects. */
  public List<Map<String, Object>> providers() {
    return transport.get(ApiPath.of("providers")).list("providers").stream()
        .map(JsonFields::all)
        .toList();
  }

  /** Closes the client. In embedded mode, also destroys the sandboxes and stops the engine. */
  @Override
  public void close() {
    transport.close();
    engine.ifPresent(EmbeddedEngine::close);
  }
}
