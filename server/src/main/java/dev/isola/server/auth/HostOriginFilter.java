package dev.isola.server.auth;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks the Host and Origin headers of every request. Rejects cross-origin pages and DNS
 * rebinding, whatever credentials the browser sends.
 */
public final class HostOriginFilter {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  /** The names beneath a domain that E2B's clients call. */
  private static final List<String> SERVICES = List.of("api.", "sandbox.");

  private static final Pattern PREVIEW =
      Pattern.compile(
          "(?<port>[0-9]{1,5})-(?<sandbox>[a-z0-9]{1,32})(?<suffix>|-[a-z0-9]{1,32})\\.(?<domain>.+)");

  private final Set<String> names = new HashSet<>(LOOPBACK);
  private final Set<String> domains = new HashSet<>(Set.of("localhost"));
  private final MachineNames machine;

  /**
   * @param domains further host names of this server, without ports
   */
  public HostOriginFilter(Collection<String> domains) {
    this(domains, MachineNames.of("localhost"));
  }

  /**
   * @param domains further host names of this server, without ports
   * @param machine names and addresses that follow from the listening address
   */
  public HostOriginFilter(Collection<String> domains, MachineNames machine) {
    this.machine = machine;
    domains.forEach(domain -> this.domains.add(domain.toLowerCase(Locale.ROOT)));
    for (String domain : this.domains) {
      names.add(domain);
      SERVICES.forEach(service -> names.add(service + domain));
    }
  }

  /** Returns the domain of previews, with its port, for a request with this Host header. */
  public static String previewDomain(String host) {
    String name = name(host).orElse("localhost");
    if (LOOPBACK.contains(name)) {
      return withPortOf(host, "localhost");
    }
    for (String service : SERVICES) {
      if (name.startsWith(service)) {
        return withPortOf(host, name.substring(service.length()));
      }
    }
    return host;
  }

  /** Returns a domain with the port of a Host header, if it has one. */
  public static String withPortOf(String host, String domain) {
    return domain + host.substring(Math.min(name(host).orElse("").length(), host.length()));
  }

  private boolean isOwnName(String name) {
    return names.contains(name) || machine.contains(name);
  }

  /** Returns whether a host is an IP address, which cannot have subdomains. */
  public static boolean isAddress(String host) {
    return name(host)
        .filter(name -> !LOOPBACK.contains(name))
        .flatMap(MachineNames::address)
        .isPresent();
  }

  /** Returns whether a host is reachable only from this machine. */
  public static boolean isLoopback(String host) {
    return LOOPBACK.contains(host) || host.equals("::1");
  }

  /**
   * Rejects a request with a foreign Host or Origin.
   *
   * @param hosts all Host headers
   * @param origins all Origin headers
   */
  public void check(List<String> hosts, List<String> origins) {
    checkHost(hosts);
    if (isCrossOrigin(origins)) {
      throw forbidden("Origin", "cross-origin requests to this server are not allowed");
    }
  }

  /** Rejects a request whose Host header does not name this server. */
  public void checkHost(List<String> hosts) {
    if (hosts.size() != 1 || name(hosts.getFirst()).filter(this::isOwnName).isEmpty()) {
      throw forbidden("Host", "the Host header does not name this server");
    }
  }

  /** Returns whether the request comes from a page of another origin. */
  public boolean isCrossOrigin(List<String> origins) {
    return origins.stream()
        .anyMatch(
            origin ->
                host(origin).flatMap(HostOriginFilter::name).filter(this::isOwnName).isEmpty());
  }

  /**
   * A port of a sandbox that a request is for.
   *
   * @param host the Host header, with the server's port if it was sent
   */
  public record PreviewTarget(String host, int port, SandboxId sandbox) {
    /** Rejects cross-origin requests. */
    public void check(List<String> origins) {
      if (isCrossOrigin(origins)) {
        throw forbidden("Origin", "cross-origin requests to this sandbox are not allowed");
      }
    }

    /** Returns whether the request comes from a page of another host. */
    public boolean isCrossOrigin(List<String> origins) {
      return origins.stream()
          .anyMatch(origin -> !HostOriginFilter.host(origin).equals(Optional.of(host)));
    }
  }

  /**
   * Returns the port of a sandbox that headers name; empty if the Host is not this server or the
   * names are invalid.
   */
  public Optional<PreviewTarget> targetFromHeaders(
      List<String> hosts, String sandbox, String port) {
    boolean ownHost =
        hosts.size() == 1 && name(hosts.getFirst()).filter(this::isOwnName).isPresent();
    return ownHost && SandboxId.isValid(sandbox) && port.matches("[0-9]{1,5}")
        ? Optional.of(
            new PreviewTarget(
                hosts.getFirst().toLowerCase(Locale.ROOT),
                Integer.parseInt(port),
                new SandboxId(sandbox)))
        : Optional.empty();
  }

  /**
   * Returns the port of a sandbox that the host names: {@code PORT-SANDBOX.DOMAIN} in one of the
   * server's domains. Names of the server itself take precedence.
   *
   * @param idSuffixes what may follow the id of the sandbox
   */
  public Optional<PreviewTarget> targetFromHost(List<String> hosts, Set<String> idSuffixes) {
    if (hosts.size() != 1) {
      return Optional.empty();
    }
    String host = hosts.getFirst().toLowerCase(Locale.ROOT);
    Optional<String> name = name(host).filter(one -> !isOwnName(one));
    Matcher matcher = PREVIEW.matcher(name.orElse(""));
    if (!matcher.matches() || !domains.contains(matcher.group("domain"))) {
      return Optional.empty();
    }
    String suffix = matcher.group("suffix");
    return suffix.isEmpty() || idSuffixes.contains(suffix)
        ? Optional.of(
            new PreviewTarget(
                host,
                Integer.parseInt(matcher.group("port")),
                new SandboxId(matcher.group("sandbox"))))
        : Optional.empty();
  }

  private static SandboxException forbidden(String header, String what) {
    return Fault.of(ErrorCode.FORBIDDEN, what, "use localhost, or add the domain to server.domains")
        .with("header", header)
        .exception();
  }

  private static Optional<String> host(String origin) {
    String lower = origin.toLowerCase(Locale.ROOT);
    for (String scheme : List.of("http://", "https://")) {
      if (lower.startsWith(scheme)) {
        return Optional.of(lower.substring(scheme.length()));
      }
    }
    return Optional.empty();
  }

  /** Returns a host without its port. */
  private static Optional<String> name(String host) {
    String lower = host.toLowerCase(Locale.ROOT);
    int colon = lower.lastIndexOf(':');
    boolean port =
        colon > lower.lastIndexOf(']')
            && lower.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
    String name = port ? lower.substring(0, colon) : lower;
    return name.isEmpty() ? Optional.empty() : Optional.of(name);
  }
}
