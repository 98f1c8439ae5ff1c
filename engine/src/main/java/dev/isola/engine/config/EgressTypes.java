package dev.isola.engine.config;

import dev.isola.spi.spec.AddressBlock;
import dev.isola.spi.spec.Destination;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Types of the settings of {@code egress}: lists, in a file or separated by commas. */
final class EgressTypes {
  private static final Pattern NAME_SERVER =
      Pattern.compile("([0-9]+(\\.[0-9]+){3}|\\[[0-9a-f:]+])(:[0-9]{1,5})?");

  private EgressTypes() {}

  private static List<String> read(Object raw, Predicate<String> valid, String problem)
      throws InvalidValueException {
    List<?> parts =
        raw instanceof List<?> list
            ? list
            : String.valueOf(raw).isBlank() ? List.of() : List.of(String.valueOf(raw).split(","));
    List<String> values = new ArrayList<>();
    for (Object part : parts) {
      String text = String.valueOf(part).strip();
      if (!valid.test(text)) {
        throw new InvalidValueException(problem + ": " + ValueType.truncated(part));
      }
      values.add(text);
    }
    return List.copyOf(values);
  }

  private static String show(List<String> value) {
    return value.isEmpty() ? "none" : String.join(",", value);
  }

  /** Hosts, {@code *.SUFFIX}, {@code *}, addresses and blocks of addresses. */
  record Destinations() implements ValueType<List<String>> {
    @Override
    public List<String> read(Object raw) throws InvalidValueException {
      return EgressTypes.read(
          raw,
          text -> Destination.parse(text).isPresent(),
          "must be hosts, *.SUFFIX, *, addresses or blocks of addresses");
    }

    @Override
    public String show(List<String> value) {
      return EgressTypes.show(value);
    }

    @Override
    public String description() {
      return "hosts, `*.SUFFIX`, addresses or blocks, with commas between them";
    }
  }

  /** Addresses and blocks of addresses. */
  record AddressBlocks() implements ValueType<List<String>> {
    @Override
    public List<String> read(Object raw) throws InvalidValueException {
      return EgressTypes.read(
          raw,
          text -> AddressBlock.parse(text).isPresent(),
          "must be addresses or blocks such as 10.1.0.0/16");
    }

    @Override
    public String show(List<String> value) {
      return EgressTypes.show(value);
    }

    @Override
    public String description() {
      return "addresses or blocks, with commas between them";
    }
  }

  /** Name servers by address. */
  record NameServers() implements ValueType<List<String>> {
    @Override
    public List<String> read(Object raw) throws InvalidValueException {
      return EgressTypes.read(
          raw,
          text -> NAME_SERVER.matcher(text).matches(),
          "must be addresses of name servers, such as 192.0.2.53 or 192.0.2.53:5353");
    }

    @Override
    public String show(List<String> value) {
      return value.isEmpty() ? "those of the machine" : String.join(",", value);
    }

    @Override
    public String description() {
      return "addresses, with commas between them";
    }
  }

  /** A file of named lists of rules. */
  record PresetFile() implements ValueType<Optional<Path>> {
    @Override
    public Optional<Path> read(Object raw) throws InvalidValueException {
      return Optional.of(new ScalarTypes.Folder().read(raw));
    }

    @Override
    public String show(Optional<Path> value) {
      return value.map(Path::toString).orElse("none");
    }

    @Override
    public String description() {
      return "path of a YAML file";
    }
  }
}
