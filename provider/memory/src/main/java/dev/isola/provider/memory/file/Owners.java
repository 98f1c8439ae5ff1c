package dev.isola.provider.memory.file;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Map;

/** The users of every sandbox. Commands run as the first; files may belong to any. */
public final class Owners {
  public static final String DEFAULT = "root";
  private static final Map<String, Long> NUMBERS =
      Map.of(DEFAULT, 0L, "user", 1000L, "nobody", 65534L);

  private Owners() {}

  static String name(long number) {
    return NUMBERS.entrySet().stream()
        .filter(known -> known.getValue() == number)
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseGet(() -> Long.toString(number));
  }

  /** Returns the number of a user or group, by name or number. */
  public static long number(String name) {
    Long known = NUMBERS.get(name);
    if (known != null) {
      return known;
    }
    if (!name.isEmpty() && name.length() < 10 && name.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return Long.parseLong(name);
    }
    throw Fault.of(
            ErrorCode.USER_NOT_FOUND,
            "there is no user '" + name + "'",
            "name one of " + NUMBERS.keySet() + ", or a number")
        .exception();
  }
}
