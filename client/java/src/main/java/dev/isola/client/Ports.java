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
  private final ApiPath endpoint;

  Ports(Transport transport, ApiPath sandbox) {
    this.transport = transport;
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

  public Link link(int port, Duration ttl) {
    JsonFields response =
        transport.post(
            endpoint.resolve(Integer.toString(port), "link"),
            Map.of("ttlSeconds", ttl.toSeconds()));
    return new Link(response.text("url"), response.optionalText("expiresAt"), response.all());
  }
}
