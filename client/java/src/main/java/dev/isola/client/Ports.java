package dev.isola.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Ports of a sandbox that are reachable as previews. */
public final class Ports {
  /**
   * A port.
   *
   * @param isPublic whether it is reachable without a key
   * @param url where the server serves it
   * @param listening whether a process listens on it, if that was requested and is known
   * @param document complete JSON object of the server
   */
  public record Port(
      int port,
      boolean isPublic,
      Optional<String> url,
      Optional<Boolean> listening,
      Map<String, Object> document) {
    static Port read(JsonFields fields) {
      return new Port(
          (int) fields.integer("port"),
          fields.flag("public"),
          fields.optionalText("url"),
          fields.all().containsKey("listening")
              ? Optional.of(fields.flag("listening"))
              : Optional.empty(),
          fields.all());
    }
  }

  /** A link that opens the preview of a port without a key, for a limited time. */
  public record Link(String url, Optional<String> expiresAt, Map<String, Object> document) {}

  private final Transport transport;
  private final Sandbox sandbox;
  private final ApiPath endpoint;

  Ports(Transport transport, Sandbox handle, ApiPath sandbox) {
    this.transport = transport;
    this.sandbox = handle;
    this.endpoint = sandbox.resolve("ports");
  }

  /** Lists the ports that the spec exposes and the public ports. */
  public List<Port> list() {
    return transport.get(endpoint).list("ports").stream().map(Port::read).toList();
  }

  /** Describes a port. The server connects to it to learn whether a process listens. */
  public Port get(int port) {
    return Port.read(transport.get(endpoint.resolve(Integer.toString(port))));
  }

  /** Makes a port public, or reachable only with a key or a link. */
  public void setPublic(int port, boolean open) {
    transport.put(endpoint.resolve(Integer.toString(port)), Map.of("public", open));
  }

  /**
   * Creates a link for a browser. The site is its own origin at {@code PORT-ID.DOMAIN}, or a path
   * of the server if this client addresses the server by IP address.
   */
  public Link link(int port, Duration ttl) {
    return link(port, Map.of("ttlSeconds", ttl.toSeconds()));
  }

  /**
   * Creates a link for a browser that cannot resolve {@code *.localhost}: a path of the server. The
   * pages share an origin with the server and are therefore restricted; docs/previews.md lists how.
   */
  public Link linkByPath(int port, Duration ttl) {
    return link(port, Map.of("ttlSeconds", ttl.toSeconds(), "form", "path"));
  }

  private Link link(int port, Map<String, Object> body) {
    JsonFields response = transport.post(endpoint.resolve(Integer.toString(port), "link"), body);
    return new Link(response.text("url"), response.optionalText("expiresAt"), response.all());
  }

  /**
   * Returns the site on a port, for programs. Does not check that a process listens.
   *
   * @param ttl of the credential that its requests carry; at most 30 days
   */
  public Preview preview(int port, Duration ttl) {
    return new Preview(
        transport.options().url() + endpoint.resolve(Integer.toString(port)).text(),
        port,
        sandbox.token("preview", ttl));
  }
}
