package dev.isola.engine.secret;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Generates the text that stands for a secret in a sandbox. It has the length and shape of the
 * value, so that programs which check the form of a key accept it, and reveals nothing else: a
 * prefix such as {@code sk-} is kept, every other letter and digit is random.
 *
 * <p>A value that is too short, or has too few letters and digits for 64 random bits, gets a
 * placeholder that is longer than the value.
 */
public record PlaceholderGenerator(RandomGenerator random) {
  private static final int MIN_LENGTH = 16;
  private static final double MIN_BITS = 64;
  private static final int LONG = 32;

  private static final int PREFIX_WITHIN = 12;
  private static final int MIN_AFTER_PREFIX = 20;

  /** Words of one case, each with its separator: {@code sk-}, {@code github_pat_}. */
  private static final Pattern PREFIX = Pattern.compile("(?:(?:[a-z]+|[A-Z]+)[-_])+");

  private static final Pattern HEX = Pattern.compile("(?=.*[a-f])[0-9a-f-]+");

  private static final String LOWER = "abcdefghijklmnopqrstuvwxyz";
  private static final String UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  private static final String DIGITS = "0123456789";
  private static final String HEX_DIGITS = "0123456789abcdef";
  private static final String ALL = LOWER + UPPER + DIGITS;

  public String generate(String value) {
    return jsonWebToken(value)
        .or(() -> sameShape(value))
        .orElseGet(() -> "isola" + random(ALL, Math.max(LONG, value.length() + 1) - 5));
  }

  /** Returns whether a placeholder can stand for the value anywhere in a request. */
  public static boolean fits(String placeholder, String value) {
    return placeholder.length() == value.length();
  }

  /** Returns whether a value gets a placeholder that is longer than itself. */
  public boolean needsLonger(String value) {
    return jsonWebToken(value).or(() -> sameShape(value)).isEmpty();
  }

  private Optional<String> sameShape(String value) {
    if (value.length() < MIN_LENGTH) {
      return Optional.empty();
    }
    String prefix = prefix(value);
    String rest = value.substring(prefix.length());
    boolean hex = HEX.matcher(rest).matches();
    StringBuilder made = new StringBuilder(prefix);
    double bits = 0;
    for (int i = 0; i < rest.length(); i++) {
      char c = rest.charAt(i);
      String alphabet = alphabet(c, hex);
      made.append(alphabet.isEmpty() ? c : pick(alphabet));
      bits += alphabet.isEmpty() ? 0 : Math.log(alphabet.length()) / Math.log(2);
    }
    return bits < MIN_BITS ? Optional.empty() : Optional.of(made.toString());
  }

  private static String prefix(String value) {
    Matcher matcher = PREFIX.matcher(value).region(0, Math.min(PREFIX_WITHIN, value.length()));
    if (!matcher.lookingAt()) {
      return "";
    }
    String prefix = matcher.group();
    boolean small =
        prefix.length() * 3 <= value.length()
            && value.length() - prefix.length() >= MIN_AFTER_PREFIX;
    return small ? prefix : "";
  }

  private static String alphabet(char c, boolean hex) {
    if (LOWER.indexOf(c) >= 0) {
      return hex ? HEX_DIGITS : LOWER;
    }
    if (DIGITS.indexOf(c) >= 0) {
      return hex ? HEX_DIGITS : DIGITS;
    }
    return UPPER.indexOf(c) >= 0 ? UPPER : "";
  }

  /** Returns a token whose header and payload are JSON objects without content, if it is one. */
  private Optional<String> jsonWebToken(String value) {
    String[] parts = value.split("\\.", -1);
    if (parts.length != 3 || !isObject(parts[0], "alg") || !isBase64Url(parts[2])) {
      return Optional.empty();
    }
    if (!isBase64Url(parts[1]) || decode(parts[2]).length * 8 < MIN_BITS) {
      return Optional.empty();
    }
    String made =
        object("{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"", decode(parts[0]).length)
                .or(() -> object("{\"alg\":\"HS256\",\"k\":\"", decode(parts[0]).length))
                .orElseGet(() -> bytes(decode(parts[0]).length))
            + "."
            + object("{\"sub\":\"", decode(parts[1]).length)
                .orElseGet(() -> bytes(decode(parts[1]).length))
            + "."
            + bytes(decode(parts[2]).length);
    return made.length() == value.length() ? Optional.of(made) : Optional.empty();
  }

  private Optional<String> object(String begin, int length) {
    int room = length - begin.length() - 2;
    return room < 1
        ? Optional.empty()
        : Optional.of(encode((begin + random(ALL, room) + "\"}").getBytes(StandardCharsets.UTF_8)));
  }

  private String bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return encode(bytes);
  }

  private static String encode(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static byte[] decode(String text) {
    return Base64.getUrlDecoder().decode(text);
  }

  private static boolean isBase64Url(String text) {
    try {
      return text.matches("[A-Za-z0-9_-]+") && decode(text).length > 0;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isObject(String text, String field) {
    try {
      return isBase64Url(text) && Json.parseObject(decode(text)).containsKey(field);
    } catch (MalformedJson e) {
      return false;
    }
  }

  private String random(String alphabet, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(pick(alphabet));
    }
    return text.toString();
  }

  private char pick(String alphabet) {
    return alphabet.charAt(random.nextInt(alphabet.length()));
  }
}
