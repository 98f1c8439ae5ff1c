package dev.isola.engine.peer;

import dev.isola.engine.api.Resources;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a server has reserved at the providers whose capacity it shares with others, as text:
 * entries of provider, megabytes and thousandths of processors.
 */
public record Reservations(Map<String, Resources> byProvider) {
  public Reservations {
    byProvider = Map.copyOf(byProvider);
  }

  Resources at(String provider) {
    return byProvider.getOrDefault(provider, Resources.NONE);
  }

  String toText() {
    return new TreeMap<>(byProvider)
        .entrySet().stream()
            .map(
                one ->
                    one.getKey()
                        + " "
                        + one.getValue().memoryMb()
                        + " "
                        + one.getValue().milliCpu())
            .collect(Collectors.joining(";"));
  }

  /** Reads the text; what another version of Isola has written in another form is skipped. */
  static Reservations parse(String text) {
    Map<String, Resources> byProvider = new TreeMap<>();
    for (String entry : text.split(";", -1)) {
      String[] parts = entry.split(" ", -1);
      if (parts.length == 3 && isNumber(parts[1]) && isNumber(parts[2])) {
        byProvider.put(parts[0], new Resources(Long.parseLong(parts[1]), Long.parseLong(parts[2])));
      }
    }
    return new Reservations(byProvider);
  }

  private static boolean isNumber(String text) {
    return text.matches("[0-9]{1,15}");
  }
}
