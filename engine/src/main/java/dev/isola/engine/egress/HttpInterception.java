package dev.isola.engine.egress;

import dev.isola.egress.http.BoundSecret;
import dev.isola.egress.http.HttpGate;
import dev.isola.egress.http.SandboxAuthority;
import dev.isola.engine.secret.SecretReferences;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.spec.Destination;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.Network;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/** Serves the HTTP requests of one sandbox with its certificate authority and its secrets. */
final class HttpInterception implements SandboxInterception {
  /**
   * Where a secret is put into requests without a rule for HTTP. On other ports a host may speak
   * anything, such as SSH.
   */
  private static final Set<Integer> WEB_PORTS = Set.of(80, 443, 8080, 8443);

  private final SandboxAuthority authority;
  private final Supplier<Network> network;
  private final Function<Set<String>, List<dev.isola.engine.secret.BoundSecret>> secrets;
  private final HttpGates gates;

  /**
   * @param secrets returns those of the named secrets that exist
   */
  HttpInterception(
      SandboxAuthority authority,
      Supplier<Network> network,
      Function<Set<String>, List<dev.isola.engine.secret.BoundSecret>> secrets,
      HttpGates gates) {
    this.authority = authority;
    this.network = network;
    this.secrets = secrets;
    this.gates = gates;
  }

  @Override
  public String certificate() {
    return authority.certificatePem();
  }

  @Override
  public boolean concerns(String host, int port) {
    return WEB_PORTS.contains(port) && !boundTo(host).isEmpty();
  }

  /** Returns the secrets of the sandbox that may be sent to a host. */
  private List<BoundSecret> boundTo(String host) {
    return secrets.apply(SecretReferences.of(network.get().egress())).stream()
        .filter(one -> one.secret().hosts().stream().anyMatch(bound -> matches(bound, host)))
        .map(
            one ->
                new BoundSecret(
                    one.secret().name(), one.secret().placeholders(), one.value(), true))
        .toList();
  }

  private static boolean matches(String bound, String host) {
    return switch (Destination.parse(bound).orElseThrow()) {
      case Destination.Host(String name) -> name.equals(host);
      case Destination.Suffix(String suffix) -> host.endsWith("." + suffix);
      case Destination.AnyName() -> false;
      case Destination.Block(var _) -> false;
    };
  }

  @Override
  public void serve(
      PortDialing.Connection client,
      String host,
      int port,
      List<HttpRule> rules,
      Dialer dialer,
      RequestObserver observer) {
    gates
        .serving()
        .serve(
            client,
            new HttpGate.Target(host, port, rules, boundTo(host), authority),
            dialer::dial,
            new HttpGate.Observer() {
              @Override
              public void allowed(String method, String path, int status) {}

              @Override
              public void denied(String method, String path, String reason) {
                observer.denied(method, path, reason);
              }

              @Override
              public void failed(String reason) {
                observer.failed(reason);
              }
            });
  }

  @Override
  public void refuse(
      PortDialing.Connection client,
      String host,
      int port,
      boolean denied,
      String reason,
      String remedy) {
    if (denied) {
      gates.refusing().refuse(client, host, port, authority, reason, remedy);
    } else {
      gates.refusing().fail(client, host, port, authority, reason);
    }
  }
}
