package dev.isola.engine.config;

import dev.isola.spi.Secret;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/** Types of the settings of {@code oidc}. */
final class OidcTypes {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private OidcTypes() {}

  private static String text(Object raw, String what) throws InvalidValueException {
    if (raw instanceof Map<?, ?> || raw instanceof List<?> || String.valueOf(raw).isBlank()) {
      throw new InvalidValueException("must be " + what + ", not " + ValueType.typeName(raw));
    }
    return String.valueOf(raw).strip();
  }

  /**
   * A URL whose answers grant access, so that nothing between the server and its host may change
   * them.
   */
  record SecureUrl() implements ValueType<Optional<URI>> {
    @Override
    public Optional<URI> read(Object raw) throws InvalidValueException {
      URI url = new ScalarTypes.WebUrl().read(raw).orElseThrow();
      if (url.getScheme().equals("http") && !LOOPBACK.contains(url.getHost())) {
        throw new InvalidValueException("must begin with https:// unless its host is localhost");
      }
      if (url.getRawQuery() != null || url.getRawFragment() != null) {
        throw new InvalidValueException("must have neither a query nor a fragment");
      }
      return Optional.of(url);
    }

    @Override
    public String show(Optional<URI> value) {
      return value.map(URI::toString).orElse("none");
    }

    @Override
    public String description() {
      return "https://...";
    }
  }

  /** The identifier that the provider has given to this server. */
  record ClientId() implements ValueType<Optional<String>> {
    @Override
    public Optional<String> read(Object raw) throws InvalidValueException {
      return Optional.of(text(raw, "a string"));
    }

    @Override
    public String show(Optional<String> value) {
      return value.orElse("none");
    }

    @Override
    public String description() {
      return "a string";
    }
  }

  /** A secret. Neither problems nor {@code isola config} show it. */
  record HiddenText() implements ValueType<Optional<Secret>> {
    @Override
    public Optional<Secret> read(Object raw) throws InvalidValueException {
      return Optional.of(Secret.of(text(raw, "a string")));
    }

    @Override
    public String show(Optional<Secret> value) {
      return value.isPresent() ? "***" : "none";
    }

    @Override
    public String description() {
      return "a string that is never shown";
    }
  }

  /** The name of a claim. */
  record ClaimName() implements ValueType<String> {
    @Override
    public String read(Object raw) throws InvalidValueException {
      return text(raw, description());
    }

    @Override
    public String description() {
      return "name of a claim";
    }
  }

  /** Scopes of an authorization request (RFC 6749, section 3.3). */
  record Scopes() implements ValueType<List<String>> {
    @Override
    public List<String> read(Object raw) throws InvalidValueException {
      List<?> parts =
          raw instanceof List<?> list ? list : List.of(text(raw, "a list").split("[, ]+"));
      List<String> scopes = new ArrayList<>(List.of("openid"));
      for (Object part : parts) {
        String scope = text(part, "a scope");
        if (!scope.matches("[!#-\\[\\]-~]+")) {
          throw new InvalidValueException("is not a scope: " + ValueType.truncated(part));
        }
        if (!scopes.contains(scope)) {
          scopes.add(scope);
        }
      }
      return List.copyOf(scopes);
    }

    @Override
    public String show(List<String> value) {
      return String.join(",", value);
    }

    @Override
    public String description() {
      return "scopes, with commas between them";
    }
  }

  /** Names of API keys by value of a claim, in the order in which they are tried. */
  record KeyNames() implements ValueType<SequencedMap<String, String>> {
    private static final String KEY_NAME = "[A-Za-z0-9_-]{1,64}";

    @Override
    public SequencedMap<String, String> read(Object raw) throws InvalidValueException {
      SequencedMap<String, String> names = new LinkedHashMap<>();
      if (raw instanceof Map<?, ?> section) {
        for (Map.Entry<?, ?> entry : section.entrySet()) {
          add(names, String.valueOf(entry.getKey()), String.valueOf(entry.getValue()));
        }
      } else {
        for (String part : text(raw, "a section").split(",")) {
          int equals = part.lastIndexOf('=');
          if (equals < 0) {
            throw new InvalidValueException("must be VALUE=KEY: " + ValueType.truncated(part));
          }
          add(names, part.substring(0, equals), part.substring(equals + 1));
        }
      }
      return Collections.unmodifiableSequencedMap(names);
    }

    private static void add(Map<String, String> names, String value, String key)
        throws InvalidValueException {
      if (!key.strip().matches(KEY_NAME) || value.isBlank()) {
        throw new InvalidValueException(
            "must be names of API keys by value of the claim: " + ValueType.truncated(value));
      }
      if (names.put(value.strip(), key.strip()) != null) {
        throw new InvalidValueException("has a value twice: " + ValueType.truncated(value));
      }
    }

    @Override
    public String show(SequencedMap<String, String> value) {
      return value.isEmpty()
          ? "none"
          : String.join(
              ",",
              value.entrySet().stream().map(one -> one.getKey() + "=" + one.getValue()).toList());
    }

    @Override
    public String description() {
      return "a section VALUE: KEY, or VALUE=KEY with commas between them";
    }
  }
}
