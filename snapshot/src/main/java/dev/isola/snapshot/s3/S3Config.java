package dev.isola.snapshot.s3;

import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The location and the credentials of a bucket. {@code toString} reveals no secret.
 *
 * @param endpoint the service without the bucket; use {@code http} only on a trusted network
 * @param prefix the prefix of all keys, empty or ending with a slash
 * @param pathStyle whether the bucket is part of the path instead of the host name
 * @param token the session token of temporary credentials
 */
public record S3Config(
    URI endpoint,
    String region,
    String bucket,
    String prefix,
    boolean pathStyle,
    String accessKey,
    Secret secretKey,
    Optional<Secret> token) {

  private static final String BUCKET = "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]";
  private static final String PREFIX = "([A-Za-z0-9_.-]+/)*";

  public S3Config {
    String scheme = String.valueOf(endpoint.getScheme()).toLowerCase(Locale.ROOT);
    if (!(scheme.equals("http") || scheme.equals("https")) || endpoint.getHost() == null) {
      throw bad("the endpoint of the bucket is not a valid URL", "use the form https://host:port");
    }
    if (endpoint.getUserInfo() != null
        || endpoint.getQuery() != null
        || !(endpoint.getPath().isEmpty() || endpoint.getPath().equals("/"))) {
      throw bad(
          "the endpoint of the bucket may have only a host and a port",
          "name the bucket in the s3:// URL, and credentials in the settings");
    }
    if (!bucket.matches(BUCKET)) {
      throw bad(
          "invalid bucket name '" + bucket + "'", "use lower-case letters, digits and hyphens");
    }
    if (!prefix.matches(PREFIX) || ("/" + prefix).contains("/../") || prefix.startsWith("./")) {
      throw bad(
          "invalid prefix '" + prefix + "'",
          "use segments of letters, digits, . _ and - separated by slashes");
    }
    if (!region.matches("[a-z0-9-]{1,64}")) {
      throw bad("'" + region + "' is not a valid region", "use a name such as us-east-1");
    }
    if (accessKey.isEmpty() || secretKey.reveal().length == 0) {
      throw bad(
          "no credentials for the bucket " + bucket,
          "set access_key and secret_key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    }
  }

  /**
   * Parses {@code s3://BUCKET/PREFIX} and its settings.
   *
   * @param settings {@code endpoint}, {@code region}, {@code addressing} (path or host), {@code
   *     access_key}, {@code secret_key}, {@code session_token}; all are optional
   * @param environment the standard AWS variables, used for missing settings
   * @throws dev.isola.spi.error.InvalidRequest if a value is invalid or missing
   */
  public static S3Config of(
      String url, Map<String, String> settings, Map<String, String> environment) {
    URI parsed;
    try {
      parsed = URI.create(url);
    } catch (IllegalArgumentException e) {
      throw bad(
          "the location of the snapshots is not a valid URL", "use the form s3://bucket/prefix");
    }
    if (!"s3".equals(parsed.getScheme()) || parsed.getAuthority() == null) {
      throw bad("the location of the snapshots is not a bucket", "use the form s3://bucket/prefix");
    }
    String path = parsed.getPath().replaceFirst("^/+", "");
    String region =
        value(settings, "region", environment, "AWS_REGION", "AWS_DEFAULT_REGION")
            .orElse("us-east-1");
    Optional<String> endpoint =
        value(settings, "endpoint", environment, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    String addressing =
        value(settings, "addressing", environment).orElse(endpoint.isPresent() ? "path" : "host");
    if (!addressing.equals("path") && !addressing.equals("host")) {
      throw bad("addressing is '" + addressing + "'", "set it to path or host");
    }
    return new S3Config(
        address(endpoint.orElse("https://s3." + region + ".amazonaws.com")),
        region,
        parsed.getAuthority(),
        path.isEmpty() || path.endsWith("/") ? path : path + "/",
        addressing.equals("path"),
        value(settings, "access_key", environment, "AWS_ACCESS_KEY_ID").orElse(""),
        Secret.of(value(settings, "secret_key", environment, "AWS_SECRET_ACCESS_KEY").orElse("")),
        value(settings, "session_token", environment, "AWS_SESSION_TOKEN").map(Secret::of));
  }

  /** Returns the value of the {@code Host} header, without a default port. */
  String host() {
    boolean usual =
        endpoint.getPort() < 0
            || endpoint.getPort() == (endpoint.getScheme().equalsIgnoreCase("https") ? 443 : 80);
    return (pathStyle ? "" : bucket + ".")
        + endpoint.getHost()
        + (usual ? "" : ":" + endpoint.getPort());
  }

  private static URI address(String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException e) {
      throw bad("the endpoint of the bucket is not a valid URL", "use the form https://host:port");
    }
  }

  private static Optional<String> value(
      Map<String, String> settings, String key, Map<String, String> environment, String... names) {
    String set = settings.getOrDefault(key, "");
    for (int i = 0; set.isEmpty() && i < names.length; i++) {
      set = environment.getOrDefault(names[i], "");
    }
    return set.isEmpty() ? Optional.empty() : Optional.of(set);
  }

  private static SandboxException bad(String what, String fix) {
    return Fault.of(ErrorCode.INVALID_REQUEST, what, fix).exception();
  }
}
