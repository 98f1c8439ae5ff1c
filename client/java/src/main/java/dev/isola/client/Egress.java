package dev.isola.client;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The hosts that a sandbox in network mode {@code filtered} reaches. Requires a key with scope use;
 * a sandbox token is not enough.
 */
public final class Egress {
  private final Transport transport;
  private final ApiPath endpoint;

  Egress(Transport transport, ApiPath endpoint) {
    this.transport = transport;
    this.endpoint = endpoint;
  }

  /** Returns the rules that apply and the traffic of the sandbox. */
  public EgressReport report() {
    return EgressReport.read(transport.get(endpoint));
  }

  /**
   * Replaces all settings; new connections follow them at once.
   *
   * @param settings as in {@code network.egress} of a spec
   * @param closeExisting whether open connections end that the new settings deny
   */
  public EgressReport replace(Map<String, ?> settings, boolean closeExisting) {
    return EgressReport.read(
        transport.put(endpoint.query("closeExisting", closeExisting), settings));
  }

  /**
   * Allows a host, in addition to the present rules.
   *
   * @param host a name, {@code *.SUFFIX}, {@code *}, an address or a block of addresses
   * @param ports all ports if empty
   */
  public EgressReport allow(String host, Integer... ports) {
    return add("allow", host, List.of(ports));
  }

  /** Denies a host; see {@link #allow}. */
  public EgressReport deny(String host, Integer... ports) {
    return add("deny", host, List.of(ports));
  }

  private EgressReport add(String action, String host, List<Integer> ports) {
    Map<String, Object> rule = new LinkedHashMap<>();
    rule.put(action, host);
    if (!ports.isEmpty()) {
      rule.put("ports", ports);
    }
    return add(rule);
  }

  /** Adds a rule as in {@code network.egress.rules} of a spec. */
  public EgressReport add(Map<String, ?> rule) {
    return EgressReport.read(transport.post(endpoint.resolve("allow"), rule));
  }
}
