package dev.isola.spi.exec;

import java.util.Locale;
import java.util.Optional;

/** A Linux signal number. The numbers are the same on x86_64 and aarch64. */
public record Signal(int number) {
  public static final Signal HUP = new Signal(1);
  public static final Signal INT = new Signal(2);
  public static final Signal QUIT = new Signal(3);
  public static final Signal KILL = new Signal(9);
  public static final Signal USR1 = new Signal(10);
  public static final Signal USR2 = new Signal(12);
  public static final Signal TERM = new Signal(15);
  public static final Signal CONT = new Signal(18);
  public static final Signal STOP = new Signal(19);

  private static final String[] NAMES = {
    "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU",
    "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS"
  };

  public Signal {
    if (number < 1 || number > 64) {
      throw new IllegalArgumentException("a signal is 1 to 64: " + number);
    }
  }

  /** Parses a signal written as {@code TERM}, {@code SIGTERM} or {@code 15}. */
  public static Optional<Signal> parse(String text) {
    String name = text.strip().toUpperCase(Locale.ROOT);
    if (!name.isEmpty() && name.length() <= 2 && name.chars().allMatch(c -> c >= '0' && c <= '9')) {
      int number = Integer.parseInt(name);
      return number >= 1 && number <= 64 ? Optional.of(new Signal(number)) : Optional.empty();
    }
    String plain = name.startsWith("SIG") ? name.substring(3) : name;
    for (int i = 1; i < NAMES.length; i++) {
      if (NAMES[i].equals(plain)) {
        return Optional.of(new Signal(i));
      }
    }
    return Optional.empty();
  }

  /** Returns the name, such as {@code SIGTERM}, or {@code SIG40} for a signal without a name. */
  public String name() {
    return "SIG" + (number < NAMES.length ? NAMES[number] : Integer.toString(number));
  }

  @Override
  public String toString() {
    return name();
  }
}
