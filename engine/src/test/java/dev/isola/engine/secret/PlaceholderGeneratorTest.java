package dev.isola.engine.secret;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.Json;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Placeholders look like the value and reveal only its prefix. */
class PlaceholderGeneratorTest {
  private static final String HEADER = "eyJhbGciOiJFUzI1NiIsImtpZCI6IjEyMzQ1Njc4In0";
  private static final String TOKEN =
      HEADER
          + ".eyJzdWIiOiJzZWNyZXQtdXNlciIsInJvbGUiOiJhZG1pbiJ9"
          + ".MEUCIQDx7Xq0Zr3pXW1wq2mB3e5yq1o4YvVbqv3o2c1kYw";

  private final PlaceholderGenerator generator = new PlaceholderGenerator(new SecureRandom());

  private static String value(String prefix, int random) {
    String alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    StringBuilder text = new StringBuilder(prefix);
    new Random(7)
        .ints(random, 0, alphabet.length())
        .forEach(at -> text.append(alphabet.charAt(at)));
    return text.toString();
  }

  @ParameterizedTest
  @CsvSource({
    "sk-, sk-",
    "sk-proj-, sk-proj-",
    "ghp_, ghp_",
    "github_pat_, github_pat_",
    "xoxb-, xoxb-",
    "sk_live_, sk_live_",
    "AKIA, ''",
    "a1b2-, ''",
  })
  void knownPrefixIsKeptAndTheRestIsRandom(String prefix, String kept) {
    String value = value(prefix, 48);
    String placeholder = generator.generate(value);
    assertThat(placeholder).hasSameSizeAs(value).startsWith(kept).isNotEqualTo(value);
    int same = 0;
    for (int i = kept.length(); i < value.length(); i++) {
      assertThat(kind(placeholder.charAt(i))).isEqualTo(kind(value.charAt(i)));
      same += placeholder.charAt(i) == value.charAt(i) && kind(value.charAt(i)) != 'x' ? 1 : 0;
    }
    assertThat(same).as("positions that agree by chance").isLessThan(16);
  }

  private static char kind(char c) {
    return Character.isLowerCase(c)
        ? 'a'
        : Character.isUpperCase(c) ? 'A' : Character.isDigit(c) ? '0' : 'x';
  }

  @Test
  void placeholdersDiffer() {
    Set<String> made = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      made.add(generator.generate(value("sk-", 20)));
    }
    assertThat(made).hasSize(1000);
  }

  @Test
  void hexadecimalValuesStayHexadecimal() {
    assertThat(generator.generate("0f8fad5b-d9cb-469f-a165-70867728950e"))
        .matches("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
        .doesNotStartWith("0f8fad5b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x",
        "hunter2",
        "123456789012345",
        "................................",
        "1111-1111-1111-1111"
      })
  void valueWithTooLittleRoomGetsALongerPlaceholder(String value) {
    assertThat(generator.needsLonger(value)).isTrue();
    String placeholder = generator.generate(value);
    assertThat(placeholder.length()).isGreaterThan(value.length()).isGreaterThanOrEqualTo(32);
    assertThat(placeholder).matches("isola[A-Za-z0-9]+");
  }

  @Test
  void jsonWebTokenStaysOneWithoutItsContent() {
    String placeholder = generator.generate(TOKEN);
    assertThat(placeholder).hasSameSizeAs(TOKEN);
    String[] parts = placeholder.split("\\.", -1);
    String[] original = TOKEN.split("\\.", -1);
    assertThat(parts).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(parts[i]).hasSameSizeAs(original[i]).isNotEqualTo(original[i]);
    }
    assertThat(Json.parseObject(Base64.getUrlDecoder().decode(parts[0])))
        .containsEntry("alg", "HS256");
    assertThat(Json.parseObject(Base64.getUrlDecoder().decode(parts[1]))).containsOnlyKeys("sub");
  }
}
