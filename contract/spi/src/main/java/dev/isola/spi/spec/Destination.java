package dev.isola.spi.spec;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The destination of an egress rule: a host by its name, all hosts beneath a name, all names, or a
 * block of addresses.
 */
public sealed interface Destination {
  /** A host by its exact name, in lower case. */
  record Host(String name) implements Destination {}

  /** Every name beneath {@code suffix} at any depth, but not the suffix itself. */
  record Suffix(String suffix) implements Destination {}

  /** Every name. Addresses without a name are not included. */
  record AnyName() implements Destination {}

  /** A block of addresses, for connections without a name. */
  record Block(AddressBlock addresses) implements Destination {}

  /**
   * One label of a name. The last label of a name must not be a number: many programs read such a
   * name as an address.
   */
  Pattern LABEL = Pattern.compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?");

  Pattern NUMBER = Pattern.compile("[0-9]+|0x[0-9a-f]*");

  /** Parses a destination; empty if the text is none. Names are not case-sensitive. */
  static Optional<Destination> parse(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.equals("*")) {
      return Optional.of(new AnyName());
    }
    if (lower.startsWith("*.")) {
      return hostName(lower.substring(2)).map(Suffix::new);
    }
    Optional<Destination> block = AddressBlock.parse(lower).map(Block::new);
    return block.isPresent() ? block : hostName(lower).map(Host::new);
  }

  /**
   * Returns a name in the form in which names are compared: in lower case, without the final dot;
   * empty if it is no name of a host.
   */
  static Optional<String> hostName(String text) {
    String name = text.toLowerCase(Locale.ROOT);
    if (name.endsWith(".")) {
      name = name.substring(0, name.length() - 1);
    }
    if (name.isEmpty() || name.length() > 253) {
      return Optional.empty();
    }
    String[] labels = name.split("\\.", -1);
    for (String label : labels) {
      if (!LABEL.matcher(label).matches()) {
        return Optional.empty();
      }
    }
    return NUMBER.matcher(labels[labels.length - 1]).matches()
        ? Optional.empty()
        : Optional.of(name);
  }

  /** Returns whether it is about names, not about addresses. */
  default boolean isName() {
    return !(this instanceof Block);
  }
}
