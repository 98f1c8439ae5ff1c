package dev.isola.conformance;

import dev.isola.conformance.condition.Condition;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Assertions for checks. Every message names the expected and the actual value. */
public final class Expect {
  private static final Duration CLOCK_DIFFERENCE = Duration.ofMinutes(2);

  private Expect() {}

  public static void that(boolean kept, String promise) {
    if (!kept) {
      throw new CheckFailed("violated: " + promise);
    }
  }

  public static void equal(@Nullable Object expected, @Nullable Object actual, String what) {
    if (!Objects.equals(expected, actual)) {
      throw new CheckFailed(what + " is " + shown(actual) + ", expected " + shown(expected));
    }
  }

  public static void equal(byte[] expected, byte[] actual, String what) {
    int difference = Arrays.mismatch(expected, actual);
    if (difference >= 0) {
      throw new CheckFailed(
          what
              + " differs at byte "
              + difference
              + " ("
              + actual.length
              + " bytes, expected "
              + expected.length
              + ")");
    }
  }

  public static void contains(String text, String part, String what) {
    if (!text.contains(part)) {
      throw new CheckFailed(
          what + " is " + shown(text) + ", which does not contain " + shown(part));
    }
  }

  /** Runs {@code action}, which must throw a {@code type}; returns the exception. */
  public static SandboxException thrown(
      String what, Runnable action, Class<? extends SandboxException> type) {
    return thrownAnyOf(what, action, List.of(type));
  }

  /** Runs {@code action}, which must throw one of {@code types}; returns the exception. */
  public static SandboxException thrownAnyOf(
      String what, Runnable action, List<Class<? extends SandboxException>> types) {
    try {
      action.run();
    } catch (SandboxException e) {
      if (types.stream().anyMatch(type -> type.isInstance(e))) {
        return e;
      }
      throw new CheckFailed(what + " threw " + e + ", expected " + names(types), e);
    } catch (RuntimeException e) {
      throw new CheckFailed(what + " threw " + e + ", which is not a SandboxException");
    }
    throw new CheckFailed(what + " threw nothing, expected " + names(types));
  }

  /** Runs {@code action}, which must report that the sandbox does not exist. */
  public static SandboxException gone(String what, Runnable action) {
    return thrownAnyOf(what, action, List.of(Gone.class, NotFound.class));
  }

  private static String names(List<Class<? extends SandboxException>> types) {
    return String.join(" or ", types.stream().map(Class::getSimpleName).toList());
  }

  /** Runs {@code action}, which must throw an exception with {@code code}. */
  public static SandboxException thrown(String what, Runnable action, ErrorCode code) {
    SandboxException e = thrown(what, action, SandboxException.class);
    if (e.code() != code) {
      throw new CheckFailed(what + " threw " + e.code() + " (" + e + "), expected " + code, e);
    }
    return e;
  }

  /** Waits until {@code condition} holds; fails if it does not within {@code timeout}. */
  public static void eventually(Duration timeout, String promise, BooleanSupplier condition) {
    if (!holdsWithin(timeout, condition)) {
      throw new CheckFailed("not within " + timeout.toMillis() + " ms: " + promise);
    }
  }

  /**
   * Waits until {@code condition} holds; returns false if it does not within {@code timeout}, or
   * this thread is interrupted.
   */
  public static boolean holdsWithin(Duration timeout, BooleanSupplier condition) {
    return Condition.holdsWithin(timeout, condition);
  }

  /**
   * Lets the clock advance, for checks of what passing time does to a paused or saved sandbox. It
   * must not stand for a condition.
   */
  public static void letTimePass(Duration time) {
    boolean passed = holdsWithin(time, () -> false);
    assert !passed;
  }

  /** Expects {@code time} to be between {@code earliest} and now, by a clock that may differ. */
  public static void recent(Instant earliest, Instant time, String what) {
    that(
        time.isAfter(earliest.minus(CLOCK_DIFFERENCE))
            && time.isBefore(Instant.now().plus(CLOCK_DIFFERENCE)),
        what + " is between " + earliest + " and now, not " + time);
  }

  private static String shown(@Nullable Object value) {
    String text =
        value instanceof String string
            ? "'" + string.replace("\n", "\\n") + "'"
            : String.valueOf(value);
    return text.length() > 300 ? text.substring(0, 300) + "... (" + text.length() + ")" : text;
  }
}
