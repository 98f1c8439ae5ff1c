package dev.isola.provider.e2b;

import dev.isola.spi.Isolation;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderConfig;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The operator's settings.
 *
 * @param key the API key, which is required
 * @param domain the domain of the sandboxes' host names
 * @param api the address of the API
 * @param envdAddress the address of envd for all sandboxes; each sandbox's own host name if empty
 * @param template the default template
 */
record E2bProviderSettings(
    Optional<Secret> key, String domain, URI api, Optional<URI> envdAddress, String template) {
  /** E2B's own domains, where every sandbox is a virtual machine. */
  private static final List<String> E2B_DOMAINS = List.of("e2b.app", "e2b.dev", "e2b.pro");

  static E2bProviderSettings of(ProviderConfig config) {
    return of(config, name -> Optional.ofNullable(System.getenv(name)).orElse(""));
  }

  /**
   * @param environment returns the value of a variable, or empty text
   */
  static E2bProviderSettings of(ProviderConfig config, UnaryOperator<String> environment) {
    Optional<String> key = one(config, "api_key", environment.apply("E2B_API_KEY"));
    String domain = one(config, "domain", environment.apply("E2B_DOMAIN")).orElse("e2b.app");
    String api =
        one(config, "api_url", environment.apply("E2B_API_URL")).orElse("https://api." + domain);
    return new E2bProviderSettings(
        key.map(Secret::of),
        domain,
        address("api_url", api),
        one(config, "sandbox_url", environment.apply("E2B_SANDBOX_URL"))
            .map(text -> address("sandbox_url", text)),
        config.get("template").orElse("base"));
  }

  private static Optional<String> one(ProviderConfig config, String name, String variable) {
    return config.get(name).or(() -> Optional.of(variable)).filter(text -> !text.isBlank());
  }

  private static URI address(String name, String text) {
    try {
      URI address = URI.create(text.strip());
      String scheme = String.valueOf(address.getScheme()).toLowerCase(Locale.ROOT);
      if ((scheme.equals("http") || scheme.equals("https")) && address.getHost() != null) {
        return address;
      }
    } catch (IllegalArgumentException e) {
      // Reported below.
    }
    throw Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the setting " + name + " of provider e2b is not a valid URL",
            "use a URL such as https://api.e2b.app")
        .exception();
  }

  /** Returns the address of a sandbox's envd. */
  URI envd(String sandbox, Optional<String> ownDomain) {
    String where = ownDomain.orElse(domain);
    return envdAddress.orElseGet(
        () ->
            isE2bDomain(where)
                ? URI.create("https://sandbox." + where)
                : URI.create("https://49983-" + sandbox + "." + where));
  }

  /**
   * Returns the isolation level: virtual machines at E2B itself. Nothing is known about the
   * isolation of other services.
   */
  Isolation isolation() {
    boolean known =
        secure(api) && envdAddress.map(E2bProviderSettings::secure).orElse(isE2bDomain(domain));
    return known ? Isolation.VM : Isolation.PROCESS;
  }

  private static boolean secure(URI address) {
    return "https".equalsIgnoreCase(address.getScheme()) && isE2bDomain(address.getHost());
  }

  private static boolean isE2bDomain(String host) {
    String name = host.toLowerCase(Locale.ROOT);
    return E2B_DOMAINS.stream().anyMatch(one -> name.equals(one) || name.endsWith("." + one));
  }
}
