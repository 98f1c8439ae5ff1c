package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ByteSwapperTest {
  private static final ByteSwapper.Swap ONE = swap("abcabd", "123456");
  private static final ByteSwapper.Swap LONGER = swap("abcabdXY", "87654321");
  private static final ByteSwapper.Swap OTHER = swap("aa", "##");

  private static ByteSwapper.Swap swap(String from, String to) {
    return new ByteSwapper.Swap(from.getBytes(ISO_8859_1), to.getBytes(ISO_8859_1));
  }

  private static String process(ByteSwapper swapper, String text, int... borders) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] bytes = text.getBytes(ISO_8859_1);
    int at = 0;
    for (int border : borders) {
      out.writeBytes(swapper.next(bytes, at, border - at));
      at = border;
    }
    out.writeBytes(swapper.next(bytes, at, bytes.length - at));
    out.writeBytes(swapper.end(Integer.MAX_VALUE));
    return out.toString(ISO_8859_1);
  }

  @Test
  void everyPairOfBordersGivesTheSameResult() {
    String text = "abcabcabdabcabdXYabcaabcabdX";
    String expected = process(new ByteSwapper(List.of(ONE, LONGER), false), text);
    assertThat(expected).isEqualTo("abc12345687654321abca123456X");
    for (int one = 0; one <= text.length(); one++) {
      for (int two = one; two <= text.length(); two++) {
        assertThat(process(new ByteSwapper(List.of(ONE, LONGER), false), text, one, two))
            .as(one + ", " + two)
            .isEqualTo(expected);
      }
    }
  }

  /** Compares with a search in the whole text, for random texts of few letters. */
  @Test
  void randomTextsAreReplacedAsAWhole() {
    Random random = new Random(24);
    for (int round = 0; round < 20_000; round++) {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(40); i > 0; i--) {
        text.append("abcdXY".charAt(random.nextInt(6)));
        if (random.nextInt(6) == 0) {
          text.append("abcabd");
        }
      }
      int[] borders = random.ints(random.nextInt(6), 0, text.length() + 1).sorted().toArray();
      assertThat(
              process(
                  new ByteSwapper(List.of(OTHER, ONE, LONGER), false), text.toString(), borders))
          .isEqualTo(reference(text.toString()));
    }
  }

  private static String reference(String text) {
    StringBuilder result = new StringBuilder();
    for (int at = 0; at < text.length(); ) {
      String rest = text.substring(at);
      String to =
          rest.startsWith("abcabdXY")
              ? "87654321"
              : rest.startsWith("abcabd") ? "123456" : rest.startsWith("aa") ? "##" : "";
      result.append(to.isEmpty() ? rest.substring(0, 1) : to);
      at += Math.max(1, to.length());
    }
    return result.toString();
  }

  @Test
  void releasedBeginningOfASecretDoesNotReleaseItsRest() {
    ByteSwapper swapper = new ByteSwapper(List.of(ONE), true);
    byte[] start = "xabca".getBytes(ISO_8859_1);
    assertThat(swapper.next(start, 0, 5)).asString().isEqualTo("x");
    assertThat(swapper.release(2)).asString().isEqualTo("ab");
    assertThat(swapper.release(2)).isEmpty();
    assertThat(swapper.next("bdz".getBytes(ISO_8859_1), 0, 3)).asString().isEqualTo("3456z");
    assertThat(swapper.holds()).isFalse();
  }

  @Test
  void beginningOfASecretAtTheEndIsReplacedUnlessItIsShort() {
    for (int length = 1; length < 6; length++) {
      ByteSwapper swapper = new ByteSwapper(List.of(ONE, LONGER), true);
      byte[] text = ("xabcabd" + "abcabd".substring(0, length)).getBytes(ISO_8859_1);
      String first = new String(swapper.next(text, 0, text.length), ISO_8859_1);
      String rest = new String(swapper.end(3), ISO_8859_1);
      assertThat(first + rest)
          .isEqualTo(
              "x123456"
                  + (length <= 3
                      ? "abcabd".substring(0, length)
                      : "87654321".substring(0, length)));
    }
  }

  @Test
  void releasedBytesCountForTheBeginningAtTheEnd() {
    ByteSwapper swapper = new ByteSwapper(List.of(ONE), true);
    assertThat(swapper.next("xabca".getBytes(ISO_8859_1), 0, 5)).asString().isEqualTo("x");
    assertThat(swapper.release(2)).asString().isEqualTo("ab");
    assertThat(swapper.end(2)).asString().isEqualTo("34");
  }

  @Test
  void releasedBeginningOfAPlaceholderStaysAsItWas() {
    ByteSwapper swapper = new ByteSwapper(List.of(ONE), false);
    swapper.next("abc".getBytes(ISO_8859_1), 0, 3);
    assertThat(swapper.release(Integer.MAX_VALUE)).asString().isEqualTo("abc");
    assertThat(swapper.next("abd".getBytes(ISO_8859_1), 0, 3)).asString().isEqualTo("abd");
  }
}
