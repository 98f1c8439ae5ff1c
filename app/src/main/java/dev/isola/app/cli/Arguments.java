package dev.isola.app.cli;

import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses option values. Every method throws {@link UsageException} naming the option. */
public final class Arguments {
  private static final Pattern MEGABYTES =
      Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,6})?)(?:([mMgGtT])(?:[iI]?[bB])?)?");

  /**
   * A mount as written on the command line.
   *
   * @param source before the last colon
   */
  public record Mount(String source, String destination, boolean readOnly) {}

  private Arguments() {}

  /** Parses {@code 30s}, {@code 1h30m}, {@code 500ms} or plain seconds. */
  public static Duration duration(String option, String text) {
    try {
      Duration total = Duration.ZERO;
      int at = 0;
      while (at < text.length()) {
        int digits = at;
        while (digits < text.length() && isDigit(text.charAt(digits))) {
          digits++;
        }
        int end = digits;
        while (end < text.length() && !isDigit(text.charAt(end))) {
          end++;
        }
        String unit = text.substring(digits, end);
        if (unit.isEmpty() && at > 0) {
          throw badDuration(option, text); // 1m30 lacks a unit
        }
        long count = Long.parseLong(text.substring(at, digits));
        total = total.plus(part(count, unit));
        at = end;
      }
      if (total.isPositive()) {
        return total;
      }
    } catch (ArithmeticException | IllegalArgumentException e) {
      // reported below
    }
    throw badDuration(option, text);
  }

  private static Duration part(long count, String unit) {
    return switch (unit) {
      case "ms" -> Duration.ofMillis(count);
      case "", "s" -> Duration.ofSeconds(count);
      case "m" -> Duration.ofMinutes(count);
      case "h" -> Duration.ofHours(count);
      case "d" -> Duration.ofDays(count);
      default -> throw new IllegalArgumentException(unit);
    };
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static UsageException badDuration(String option, String text) {
    return new UsageException(
        option + " '" + text + "' is not a duration",
        "use a value such as 30s, 5m, 1h30m or 500ms");
  }

  /** Parses {@code NAME=VALUE} arguments. If a name is repeated, the last value wins. */
  public static Map<String, String> variables(String option, List<String> assignments) {
    Map<String, String> variables = new LinkedHashMap<>();
    for (String word : assignments) {
      int equals = word.indexOf('=');
      if (equals < 1) {
        throw new UsageException(
            option + " '" + word + "' is not of the form NAME=VALUE",
            equals == 0 ? "add a name before the '='" : "use " + word + "=VALUE");
      }
      variables.put(word.substring(0, equals), word.substring(equals + 1));
    }
    return variables;
  }

  /**
   * Looks up variables by name in the environment of the {@code isola} process. The values appear
   * neither in the process list nor in the shell history.
   */
  public static Map<String, String> inheritedVariables(
      String option, List<String> names, Map<String, String> env) {
    Map<String, String> variables = new LinkedHashMap<>();
    for (String name : names) {
      if (name.isEmpty() || name.indexOf('=') >= 0) {
        throw new UsageException(
            option + " takes the name of a variable, without a value",
            "set the variable in the environment of isola and pass " + option + " NAME");
      }
      String value = env.get(name);
      if (value == null) {
        throw new UsageException(
            option + " " + name + ": the variable is not set", "export it before running isola");
      }
      variables.put(name, value);
    }
    return variables;
  }

  /** Parses {@code SRC:DST}, {@code SRC:DST:ro} or {@code SRC:DST:rw}; SRC may be relative. */
  static VolumeMount mount(String option, String text) {
    Mount mount = mount(option, text, "a folder or file of this host");
    return VolumeMount.bind(
        hostPath(option, mount.source()).toString(), mount.destination(), mount.readOnly());
  }

  /**
   * Splits {@code SRC:DST}, {@code SRC:DST:ro} or {@code SRC:DST:rw}.
   *
   * @param meaning of SRC, for the error message
   */
  public static Mount mount(String option, String text, String meaning) {
    String rest = text;
    boolean readOnly = rest.endsWith(":ro");
    if (readOnly || rest.endsWith(":rw")) {
      rest = rest.substring(0, rest.length() - 3);
    }
    // Split at the last colon: a host path may contain one.
    int colon = rest.lastIndexOf(':');
    if (colon < 1 || colon == rest.length() - 1) {
      throw new UsageException(
          option + " '" + text + "' is not of the form SRC:DST or SRC:DST:ro",
          "SRC is " + meaning + ", DST an absolute path in the sandbox");
    }
    return new Mount(rest.substring(0, colon), rest.substring(colon + 1), readOnly);
  }

  public static Path hostPath(String option, String text) {
    if (text.isEmpty() || text.indexOf('\0') >= 0) {
      throw new UsageException(option + " '" + text + "' is not a path", "use a path on this host");
    }
    return Path.of(text).toAbsolutePath().normalize();
  }

  public static NetworkMode network(String option, String text) {
    return switch (text) {
      case "none" -> NetworkMode.NONE;
      case "filtered" -> NetworkMode.FILTERED;
      case "bridge" -> NetworkMode.BRIDGE;
      case "host" -> NetworkMode.HOST;
      default ->
          throw new UsageException(
              option + " is '" + text + "'", "use none, filtered, bridge or host");
    };
  }

  public static double decimal(String option, String text) {
    try {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new UsageException(
        option + " '" + text + "' is not a number", "use a value such as 2 or 0.5");
  }

  public static long count(String option, String text, String of) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new UsageException(
          option + " '" + text + "' is not an integer", "use a number of " + of);
    }
  }

  /** Parses an integer. */
  public static int integer(String option, String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new UsageException(
          option + " '" + text + "' is not an integer", "use a value such as 100");
    }
  }

  /** Parses a size in megabytes: {@code 512}, {@code 512m}, {@code 2g} or {@code 1.5g}. */
  public static long megabytes(String option, String text) {
    Matcher size = MEGABYTES.matcher(text);
    if (size.matches()) {
      BigDecimal factor =
          BigDecimal.valueOf(
              switch (size.group(2) == null ? "m" : size.group(2).toLowerCase(Locale.ROOT)) {
                case "t" -> 1024 * 1024;
                case "g" -> 1024;
                default -> 1;
              });
      BigDecimal megabytes = new BigDecimal(size.group(1)).multiply(factor);
      boolean fraction = size.group(2) == null && size.group(1).indexOf('.') >= 0;
      if (!fraction && megabytes.compareTo(BigDecimal.ONE) >= 0) {
        return megabytes.setScale(0, RoundingMode.HALF_UP).longValueExact();
      }
    }
    throw new UsageException(
        option + " '" + text + "' is not a size",
        "use a value such as 512m or 2g, or a number of megabytes");
  }

  /** Parses a number of bytes: {@code 500M}, {@code 20G} or plain bytes. */
  public static long size(String option, String text) {
    int unit = "KMGT".indexOf(text.isEmpty() ? ' ' : text.charAt(text.length() - 1));
    try {
      long number = Long.parseLong(unit < 0 ? text : text.substring(0, text.length() - 1));
      if (number > 0) {
        return Math.multiplyExact(number, unit < 0 ? 1 : 1L << (10 * (unit + 1)));
      }
    } catch (ArithmeticException | NumberFormatException e) {
      // reported below
    }
    throw new UsageException(
        option + " '" + text + "' is not a size",
        "use a value such as 500M or 20G, or a number of bytes");
  }
}
