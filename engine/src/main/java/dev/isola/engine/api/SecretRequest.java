package dev.isola.engine.api;

import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Destination;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A secret that a client stores. No error contains the value.
 *
 * @param value 1 byte to 64 KiB of printable ASCII, because it becomes part of HTTP headers
 * @param hosts the hosts that receive the value: names, or {@code *.suffix} with a suffix of at
 *     least two labels
 * @param keys the names of the API keys that may use it; empty for every key
 */
public record SecretRequest(String name, Secret value, List<String> hosts, List<String> keys) {
  public static final int MAX_BYTES = 64 * 1024;
  public static final int MAX_HOSTS = 64;
  public static final int MAX_KEYS = 64;
  public static final String NAME = "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}";

  private static final Pattern NAMES = Pattern.compile(NAME);

  /**
   * Checks a request and brings its hosts into the form in which names are compared.
   *
   * @throws dev.isola.spi.error.InvalidRequest with the reason
   */
  public SecretRequest {
    if (!NAMES.matcher(name).matches()) {
      throw invalid(
          "a secret cannot have this name",
          "use 1 to 64 letters, digits, '_', '.' and '-', first a letter or digit");
    }
    checkValue(name, value.reveal());
    if (hosts.isEmpty() || hosts.size() > MAX_HOSTS) {
      throw invalid(
          "secret " + name + " has " + hosts.size() + " hosts",
          "name 1 to " + MAX_HOSTS + " hosts that may receive the value");
    }
    if (keys.size() > MAX_KEYS) {
      throw invalid("secret " + name + " has " + keys.size() + " keys", "at most " + MAX_KEYS);
    }
    String secret = name;
    hosts = hosts.stream().map(host -> normalized(secret, host)).distinct().toList();
    keys = keys.stream().distinct().toList();
  }

  private static void checkValue(String name, byte[] value) {
    if (value.length == 0 || value.length > MAX_BYTES) {
      throw invalid(
          "the value of secret " + name + " has " + value.length + " bytes",
          "it must have 1 to " + MAX_BYTES);
    }
    for (byte one : value) {
      if (one < ' ' || one > '~') {
        throw invalid(
            "the value of secret "
                + name
                + " has a character that is no printable ASCII, such as a line break",
            "HTTP headers cannot carry it; encode the value, for example in Base64, if the host"
                + " accepts that");
      }
    }
    if (value[0] == ' ' || value[value.length - 1] == ' ') {
      throw invalid(
          "the value of secret " + name + " begins or ends with a space",
          "HTTP removes spaces at the ends of a header; remove them");
    }
  }

  private static String normalized(String name, String host) {
    return switch (Destination.parse(host).orElse(null)) {
      case Destination.Host(String exact) -> exact;
      case Destination.Suffix(String suffix) when suffix.indexOf('.') > 0 -> "*." + suffix;
      case null, default ->
          throw invalid(
              "secret " + name + " cannot be bound to host '" + brief(host) + "'",
              "use a name such as api.example.com, or *.example.com for every name beneath"
                  + " example.com");
    };
  }

  private static String brief(String text) {
    return text.length() <= 80 ? text : text.substring(0, 80) + "...";
  }

  public String text() {
    return new String(value.reveal(), StandardCharsets.US_ASCII);
  }

  private static SandboxException invalid(String problem, String remedy) {
    return Fault.of(ErrorCode.INVALID_REQUEST, problem, remedy).exception();
  }
}
