package dev.isola.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The ports of a sandbox that can be looked at from outside. */
public final class Ports {
  /**
   * One port.
   *
   * @param open whether anybody may look, without a key
   * @param document everything the server said
   */
  public record Port(int port, boolean isPublic, Map<String, Object> document) {
    static Port read(JsonFields fields) {
      return new Port((int) fields.integer("port"), fields.flag("public"), fields.all());
    }
  }

  /** A link that opens a port in a browser for a while, without a key. */
  public record Link(String url, Optional<String> expiresAt, Map<String, Object> document) {}

  private final Transport transport;
  private final ApiPath address;

  Ports(Transport transport, ApiPath sandbox) {
    this.transport = transport;
    this.address = sandbox.resolve("ports");
  }

  /** Lists the ports that are open to everybody. */
  public List<Port> list() {
    return transport.get(address).list("ports").stream().map(Port::read).toList();
  }

  /** Lets anybody look at a port, or only who has a key. */
  public void setPublic(int port, boolean open) {
    transport.put(address.resolve(Integer.toString(port)), Map.of("public", open));
  }

  public Link link(int port, Duration ttl) {
    JsonFields answer =
        transport.post(
            address.resolve(Integer.toString(port), "link"), Map.of("ttlSeconds", ttl.toSeconds()));
    return new Link(answer.text("url"), answer.optionalText("expiresAt"), answer.all());
  }
}
