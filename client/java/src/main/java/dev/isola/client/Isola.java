package dev.isola.client;

import dev.isola.client.error.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A server. Calls block, are for any number of threads, and throw an {@link
 * dev.isola.client.error.IsolaException} when they fail. Close it at the end.
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
  /** Making one may load an image. */
  private static final Duration CREATE = Duration.ofMinutes(10);

  /** More pages than this are not a list but a mistake. */
  private static final int MOST = 100_000;

  private final Transport transport;

  private Isola(Transport transport) {
    this.transport = transport;
  }

  /** Makes a client; nothing is asked yet. */
  public static Isola connect(String url, String key) {
    return connect(IsolaOptions.of(url, key));
  }

  public static Isola connect(IsolaOptions options) {
    return new Isola(new Transport(options));
  }

  /**
   * Makes a client of the server that {@code ISOLA_URL} and {@code ISOLA_API_KEY} name, or the
   * system properties {@code isola.url} and {@code isola.key}, which win.
   */
  public static Isola fromEnvironment() {
    return connect(
        setting("isola.url", "ISOLA_URL", "http://127.0.0.1:7777"),
        setting("isola.key", "ISOLA_API_KEY", ""));
  }

  private static String setting(String property, String variable, String usual) {
    String value = System.getProperty(property);
    if (value == null) {
      value = System.getenv(variable);
    }
    if (value == null || value.isEmpty()) {
      value = usual;
    }
    if (value.isEmpty()) {
      throw Problem.clientSide(
              "UNAUTHENTICATED",
              "there is no key",
              "set " + variable + ", or the system property " + property)
          .exception();
    }
    return value;
  }

  /** Makes a sandbox. Should the answer get lost, the order is repeated and makes no second one. */
  public Sandbox create(SandboxSpec spec) {
    return sandbox(createAndDescribe(spec).id());
  }

  /** Makes a sandbox and returns what the server says of it. */
  public SandboxInfo createAndDescribe(SandboxSpec spec) {
    return SandboxInfo.read(
        transport.postIdempotent(
            ApiPath.of("sandboxes"), spec.document(), UUID.randomUUID().toString(), CREATE));
  }

  /** Returns a handle; whether there is such a sandbox is seen when it is used. */
  public Sandbox sandbox(String id) {
    return new Sandbox(transport, id);
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
    } while (next.isPresent() && all.size() < MOST);
    return all;
  }

  /**
   * Follows what happens to sandboxes.
   *
   * @param sandbox one of them only
   * @param after the number of the last event that is known; from now on when empty
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

  public ApiKeys keys() {
    return new ApiKeys(transport);
  }

  /** Describes the providers of the server, as its API does. */
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
