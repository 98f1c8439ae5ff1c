package dev.isola.engine.config;

import dev.isola.engine.api.ProviderNames;
import dev.isola.spi.Secret;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Types of scalar values: text, flags, numbers, paths and URLs. */
final class ScalarTypes {
  private ScalarTypes() {}

  private static String text(Object raw) throws InvalidValueException {
    if (raw instanceof String text && !text.isBlank()) {
      return text.strip();
    }
    throw new InvalidValueException(
        raw instanceof String
            ? "must not be empty"
            : "must be a string, not " + ValueType.typeName(raw));
  }

  /** A provider name or alias. {@link KnownProviders} checks that it exists. */
  record ProviderName() implements ValueType<String> {
    @Override
    public String read(Object raw) throws InvalidValueException {
      return ProviderNames.canonical(text(raw));
    }

    @Override
    public String description() {
      return "auto, or the name of a provider";
    }
  }

  /** A label that requests select by, such as a region. */
  record Label() implements ValueType<String> {
    private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

    @Override
    public String read(Object raw) throws InvalidValueException {
      String text = text(raw);
      if (!LABEL.matcher(text).matches()) {
        throw new InvalidValueException(
            "must be " + description() + ": " + ValueType.truncated(raw));
      }
      return text;
    }

    @Override
    public String description() {
      return "1 to 63 letters, digits, dots, dashes and underscores";
    }
  }

  record Flag() implements ValueType<Boolean> {
    @Override
    public Boolean read(Object raw) throws InvalidValueException {
      return switch (raw) {
        case Boolean flag -> flag;
        case String text when text.equals("true") -> true;
        case String text when text.equals("false") -> false;
        default ->
            throw new InvalidValueException("must be true or false: " + ValueType.truncated(raw));
      };
    }

    @Override
    public String description() {
      return "true or false";
    }
  }

  record WholeNumber(long min, long max) implements ValueType<Long> {
    @Override
    public Long read(Object raw) throws InvalidValueException {
      long value;
      try {
        value = Long.parseLong(raw.toString().strip());
      } catch (NumberFormatException e) {
        throw new InvalidValueException("must be a whole number: " + ValueType.truncated(raw));
      }
      if (value < min || value > max) {
        throw new InvalidValueException("must be from " + min + " to " + max + ": " + value);
      }
      return value;
    }

    @Override
    public String description() {
      return "whole number, " + min + " to " + max;
    }
  }

  record Decimal(double min, double max) implements ValueType<Double> {
    @Override
    public Double read(Object raw) throws InvalidValueException {
      double value;
      try {
        value = Double.parseDouble(raw.toString().strip());
      } catch (NumberFormatException e) {
        throw new InvalidValueException("must be a number: " + ValueType.truncated(raw));
      }
      if (!(value >= min && value <= max)) {
        throw new InvalidValueException(
            "must be from " + show(min) + " to " + show(max) + ": " + value);
      }
      return value;
    }

    @Override
    public String show(Double value) {
      return value == Math.rint(value) ? String.valueOf(value.longValue()) : value.toString();
    }

    @Override
    public String description() {
      return "number, " + show(min) + " to " + show(max);
    }
  }

  /** An address or host name to listen on. */
  record HostName() implements ValueType<String> {
    @Override
    public String read(Object raw) throws InvalidValueException {
      String name = text(raw);
      if (!name.matches("[A-Za-z0-9.:_-]{1,253}")) {
        throw new InvalidValueException("is not an address or host name of this machine");
      }
      return name;
    }

    @Override
    public String description() {
      return "an address or name of this machine";
    }
  }

  /** The location of the snapshot store. */
  record SnapshotLocation() implements ValueType<String> {
    @Override
    public String read(Object raw) throws InvalidValueException {
      String place = text(raw);
      if (!place.matches("/.*|s3://[^@\\s]+")) {
        throw new InvalidValueException(
            "is neither the absolute path of a folder nor s3://BUCKET/PREFIX");
      }
      return place;
    }

    @Override
    public String show(String value) {
      return value.isEmpty() ? "in the data folder" : value;
    }

    @Override
    public String description() {
      return "path of a folder or s3://BUCKET/PREFIX";
    }
  }

  /** Host names of this server, as a list or separated by commas. */
  record DomainNames() implements ValueType<List<String>> {
    @Override
    public List<String> read(Object raw) throws InvalidValueException {
      List<String> names = new ArrayList<>();
      List<?> parts = raw instanceof List<?> list ? list : List.of(text(raw).split(","));
      for (Object part : parts) {
        String name = text(part).toLowerCase(Locale.ROOT);
        if (!name.matches("[a-z0-9.-]{1,253}|\\[[0-9a-f:.]{2,45}]")) {
          throw new InvalidValueException(
              "must be host names without scheme and port: " + ValueType.truncated(part));
        }
        names.add(name);
      }
      return List.copyOf(names);
    }

    @Override
    public String show(List<String> value) {
      return value.isEmpty() ? "none" : String.join(",", value);
    }

    @Override
    public String description() {
      return "names, with commas between them";
    }
  }

  /** A domain whose wildcard certificate clients accept: at least two labels. */
  record DomainName() implements ValueType<Optional<String>> {
    /** Leaves room for the port and the id of a sandbox in a host name of 253 characters. */
    private static final int MAX_LENGTH = 200;

    private static final String LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
    private static final Pattern DOMAIN =
        Pattern.compile("(" + LABEL + "\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?");

    @Override
    public Optional<String> read(Object raw) throws InvalidValueException {
      String name = text(raw).toLowerCase(Locale.ROOT);
      if (name.length() > MAX_LENGTH || !DOMAIN.matcher(name).matches()) {
        throw new InvalidValueException(
            "must be a domain of two or more parts, such as e2b.localhost, without scheme and"
                + " port: "
                + ValueType.truncated(raw));
      }
      return Optional.of(name);
    }

    @Override
    public String show(Optional<String> value) {
      return value.orElse("none");
    }

    @Override
    public String description() {
      return "a domain, such as e2b.localhost";
    }
  }

  record Folder() implements ValueType<Path> {
    @Override
    public Path read(Object raw) throws InvalidValueException {
      try {
        return Path.of(text(raw)).toAbsolutePath().normalize();
      } catch (InvalidPathException e) {
        throw new InvalidValueException("is not a path: " + e.getReason());
      }
    }

    @Override
    public String description() {
      return "path of a folder";
    }
  }

  record PemFile() implements ValueType<Optional<Path>> {
    @Override
    public Optional<Path> read(Object raw) throws InvalidValueException {
      return Optional.of(new Folder().read(raw));
    }

    @Override
    public String show(Optional<Path> value) {
      return value.map(Path::toString).orElse("none");
    }

    @Override
    public String description() {
      return "path of a PEM file";
    }
  }

  /** A database URL. It may contain a password, so it is a secret and problems do not quote it. */
  record StoreUrl() implements ValueType<Optional<Secret>> {
    private static final Pattern FORM = Pattern.compile("(jdbc:)?(sqlite|postgres|postgresql):.+");
    private static final Pattern USER_INFO = Pattern.compile("//[^@]*@");
    private static final Pattern PARAMETER =
        Pattern.compile("(?i)([?&;][^=&;]*(?:password|secret|token|key)[^=&;]*=)[^&;]*");

    @Override
    public Optional<Secret> read(Object raw) throws InvalidValueException {
      String url = text(raw);
      if (!FORM.matcher(url).matches()) {
        throw new InvalidValueException("must begin with sqlite: or postgresql:");
      }
      return Optional.of(Secret.of(url));
    }

    @Override
    public String show(Optional<Secret> value) {
      return value
          .map(secret -> new String(secret.reveal(), StandardCharsets.UTF_8))
          .map(url -> USER_INFO.matcher(url).replaceFirst("//***@"))
          .map(url -> PARAMETER.matcher(url).replaceAll("$1***"))
          .orElse("sqlite in the data folder");
    }

    @Override
    public String description() {
      return "sqlite:PATH or postgresql://...";
    }
  }

  /** An HTTP endpoint. A URL with a password is rejected, because it would be displayed. */
  record WebUrl() implements ValueType<Optional<URI>> {
    @Override
    public Optional<URI> read(Object raw) throws InvalidValueException {
      URI url;
      try {
        url = new URI(text(raw));
      } catch (URISyntaxException e) {
        throw new InvalidValueException("is not a URL: " + e.getReason());
      }
      if (!"http".equals(url.getScheme()) && !"https".equals(url.getScheme())) {
        throw new InvalidValueException("must begin with http:// or https://");
      }
      if (url.getHost() == null) {
        throw new InvalidValueException("names no host");
      }
      if (url.getUserInfo() != null) {
        throw new InvalidValueException("must not contain a user or password");
      }
      return Optional.of(url);
    }

    @Override
    public String show(Optional<URI> value) {
      return value.map(URI::toString).orElse("none");
    }

    @Override
    public String description() {
      return "http://... or https://...";
    }
  }
}
