package dev.isola.codec.json;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
  @Test
  void writesEveryKindOfValue() {
    assertThat(
            Json.text(
                Arrays.asList(
                    1, -2L, 0.5, true, "a", null, Optional.empty(), Optional.of(3), Map.of())))
        .isEqualTo("[1,-2,0.5,true,\"a\",null,null,3,{}]");
    assertThat(Json.text(Json.object("b", List.of(), "a", Map.of("c", false))))
        .isEqualTo("{\"b\":[],\"a\":{\"c\":false}}");
    assertThat(Json.text(Long.MAX_VALUE)).isEqualTo("9223372036854775807");
    assertThat(Json.text(BigInteger.TWO.pow(70))).isEqualTo("1180591620717411303424");
    assertThat(Json.text(List.of(Thread.State.NEW, Instant.EPOCH, Path.of("/a"))))
        .isEqualTo("[\"NEW\",\"1970-01-01T00:00:00Z\",\"/a\"]");
  }

  @Test
  void canonicalTextDoesNotDependOnTheOrderOfMembers() {
    assertThat(Json.canonical(Json.object("b", Json.object("d", 1, "c", 2), "a", 0)))
        .isEqualTo("{\"a\":0,\"b\":{\"c\":2,\"d\":1}}");
  }

  @Test
  void escapesControlCharacters() {
    assertThat(Json.text("\"\\/\b\f\n\r\t\u0000\u001bé€😀"))
        .isEqualTo("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001Bé€😀\"");
    assertThat(Json.text(Map.of("\"", "\""))).isEqualTo("{\"\\\"\":\"\\\"\"}");
  }

  @Test
  void unpairedSurrogateBecomesAQuestionMark() {
    assertThat(Json.text("\ud83d x \ude00")).isEqualTo("\"? x ?\"");
    assertThat(Json.text(Map.of("\ud83d", 1))).isEqualTo("{\"?\":1}");
  }

  @Test
  void rejectsUnsupportedValues() {
    assertThatThrownBy(() -> Json.text(List.of(new StringBuilder())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("StringBuilder");
    assertThatThrownBy(() -> Json.text(Double.NaN)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void streamedTextIsWrittenIncrementallyAndTheStreamStaysOpen() throws IOException {
    ByteArrayOutputStream out =
        new ByteArrayOutputStream() {
          @Override
          public void close() {
            throw new AssertionError("closed");
          }
        };
    Json.write(
        List.of(
            new Json.StreamedText.Characters(new StringReader("\"é\0")),
            new Json.StreamedText.Base64(new ByteArrayInputStream(new byte[] {0, 1, 2, 3}), 4)),
        out);
    assertThat(out.toString(UTF_8)).isEqualTo("[\"\\\"é\\u0000\",\"AAECAw==\"]");
  }

  @Test
  void supplierIsEvaluatedAfterPrecedingElements() {
    Iterator<Integer> numbers = List.of(1, 2, 3).iterator();
    Iterable<Integer> two = () -> Stream.generate(numbers::next).limit(2).iterator();
    Supplier<Boolean> more = numbers::hasNext;
    assertThat(Json.text(Json.object("first", two, "more", more)))
        .isEqualTo("{\"first\":[1,2],\"more\":true}");
  }

  @Test
  void failureOfTheStreamIsPassedThrough() {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("full");
          }
        };
    assertThatThrownBy(() -> Json.write(Map.of("a", 1), full))
        .isInstanceOf(IOException.class)
        .hasMessage("full");
  }

  @Test
  void aDocumentWhoseWritingFailedIsCutOff() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThatThrownBy(() -> Json.write(List.of(1, new Object()), out))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(out.toString(UTF_8)).isEqualTo("[1");
  }

  @Test
  void readsEveryKindOfValue() {
    Map<String, Object> read =
        Json.parseObject(
            " {\"s\":\"a\\n\\u00e9\\\\\\/ ü\",\"n\":[-1.5e2,0, 7,3000000000,"
                + "99999999999999999999],\"t\":true,\"f\":false,\"nil\":null,\"o\":{},\"a\":[]}\n");
    assertThat(read)
        .containsEntry("s", "a\né\\/ ü")
        .containsEntry(
            "n", List.of(-150.0, 0, 7, 3_000_000_000L, new BigInteger("99999999999999999999")))
        .containsEntry("t", true)
        .containsEntry("f", false)
        .containsEntry("nil", null)
        .containsEntry("o", Map.of())
        .containsEntry("a", List.of());
    assertThat(read.keySet()).containsExactly("s", "n", "t", "f", "nil", "o", "a");
    assertThat(Json.parse("null")).isNull();
    assertThat(Json.parse("\"x\"".getBytes(UTF_8))).isEqualTo("x");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":null,\"a\":2}",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "tru",
        "nul",
        "+1",
        "01",
        "1e",
        "1e999",
        "--1",
        "1 2",
        "{} x",
        "NaN",
        "'a'",
        "// c\n1"
      })
  void rejectsMalformedJson(String text) {
    assertThatThrownBy(() -> Json.parse(text)).isInstanceOf(MalformedJson.class);
  }

  private static void refuses(String text, String reason) {
    assertThatThrownBy(() -> Json.parse(text)).isInstanceOf(MalformedJson.class).hasMessage(reason);
  }

  @Test
  void nestingDeeperThanTheLimitIsRefused() {
    assertThat(Json.parse("[".repeat(32) + "]".repeat(32))).isInstanceOf(List.class);
    refuses("[".repeat(33) + "]".repeat(33), "nested deeper than 32 levels at line 1, column 33");
    refuses("{\"a\":".repeat(100_000), "nested deeper than 32 levels at line 1, column 161");
  }

  @Test
  void duplicateNameIsRefusedOnEachLevelAlsoWhenEscaped() {
    refuses("{\"a\":null,\"a\":2}", "a name occurs twice in an object at line 1, column 11");
    refuses("[{\"a\":1,\n\"\\u0061\":2}]", "a name occurs twice in an object at line 2, column 1");
    assertThat(Json.parse("[{\"a\":1},{\"a\":{\"a\":1}}]")).isInstanceOf(List.class);
  }

  @Test
  void numberThatIsTooLongOrOutOfRangeIsRefused() {
    assertThat(Json.parse("9".repeat(1000))).isInstanceOf(BigInteger.class);
    for (String number : List.of("9".repeat(1001), "-" + "9".repeat(5_000_000))) {
      assertThatThrownBy(() -> Json.parse(number))
          .isInstanceOf(MalformedJson.class)
          .hasMessageStartingWith("a number or name is too long");
    }
    refuses("[1e400]", "a number is out of range at line 1, column 2");
    refuses("-1e999999999", "a number is out of range at line 1, column 1");
  }

  @Test
  void unpairedSurrogateIsRefusedInStringsAndNames() {
    assertThat(Json.parse("\"\\ud83d\\ude00\"")).isEqualTo("😀");
    for (String half : List.of("\\ud83d", "\\ude00", "\\ude00\\ud83d", "x\\ud83dx", "\ud83d")) {
      refuses("\"" + half + "\"", "a string has an unpaired surrogate at line 1, column 1");
      assertThatThrownBy(() -> Json.parse("{\"" + half + "\":1}"))
          .isInstanceOf(MalformedJson.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ff", "c0af", "eda080", "f4908080", "e282", "80"})
  void bytesThatAreNotUtf8AreRefused(String hex) {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    json.write('"');
    json.writeBytes(HexFormat.of().parseHex(hex));
    json.write('"');
    assertThatThrownBy(() -> Json.parse(json.toByteArray()))
        .isInstanceOf(MalformedJson.class)
        .hasMessage("not UTF-8");
  }

  @Test
  void otherEncodingIsRefused() {
    assertThatThrownBy(() -> Json.parse("{}".getBytes(UTF_16))).isInstanceOf(MalformedJson.class);
    assertThatThrownBy(() -> Json.parse("{}".getBytes(UTF_16BE))).isInstanceOf(MalformedJson.class);
    assertThatThrownBy(() -> Json.parse("\ufeff{}".getBytes(UTF_8)))
        .isInstanceOf(MalformedJson.class);
  }

  @Test
  void textAfterTheValueIsRefused() {
    refuses("{} {}", "text after the end of the value at line 1, column 4");
    refuses("1 ]", "syntax error at line 1, column 3");
    assertThat(Json.parse(" 1 \n\t")).isEqualTo(1);
  }

  @Test
  void documentLongerThanTheLimitIsRefusedWithoutReadingIt() {
    byte[] long100MB = new byte[100_000_000];
    Arrays.fill(long100MB, (byte) 'x');
    long100MB[0] = '"';
    long100MB[long100MB.length - 1] = '"';
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThatThrownBy(() -> Json.parse(long100MB))
        .isInstanceOf(MalformedJson.class)
        .hasMessage("longer than 67108864 bytes");
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1 << 20);
    refuses("x".repeat(Json.MAX_BYTES + 1), "longer than 67108864 characters");
  }

  @Test
  void documentOfTooManyValuesIsRefusedBeforeItFillsTheMemory() {
    String empty = "[],".repeat(3_000_000);
    assertThatThrownBy(() -> Json.parse("[" + empty + "0]"))
        .isInstanceOf(MalformedJson.class)
        .hasMessageContaining("too many");
  }

  @Test
  void nameThatIsTooLongIsRefused() {
    assertThatThrownBy(() -> Json.parse("{\"" + "n".repeat(1_000_000) + "\":1}"))
        .isInstanceOf(MalformedJson.class)
        .hasMessageStartingWith("a number or name is too long");
  }

  @Test
  void messageGivesThePositionAndNeverTheInput() {
    assertThatThrownBy(() -> Json.parse("{\n \"a\": hunter2}"))
        .isInstanceOf(MalformedJson.class)
        .hasNoCause()
        .hasMessageStartingWith("syntax error at line 2, column ")
        .hasMessageNotContaining("hunter2");
    assertThatThrownBy(() -> Json.parseObject("[]"))
        .isInstanceOf(MalformedJson.class)
        .hasMessage("not an object");
    refuses(" ", "empty");
  }

  @Test
  void jsonValueIsLenient() throws IOException {
    JsonValue value =
        JsonValue.parse(
            ("{\"a\":{\"b\":\"x\",\"n\":7,\"s\":\"8\",\"f\":true,\"nil\":null},\"l\":[1,{}],"
                    + "\"big\":[18446744073709551615,1e30,1.5]}")
                .getBytes(UTF_8));
    assertThat(value.text("a", "b")).isEqualTo("x");
    assertThat(value.text("a", "n")).isEqualTo("7");
    assertThat(value.text("a")).isEmpty();
    assertThat(value.text("a", "nil")).isEmpty();
    assertThat(value.optionalText("a", "b")).contains("x");
    assertThat(value.optionalText("a", "none")).isEmpty();
    assertThat(value.has("a")).isTrue();
    assertThat(value.has("b")).isFalse();
    assertThat(value.at("a", "b").isText()).isTrue();
    assertThat(value.at("a", "n").isText()).isFalse();
    assertThat(value.text("a", "b", "c")).isEmpty();
    assertThat(value.number("a", "n")).isEqualTo(7);
    assertThat(value.number("a", "s")).isEqualTo(8);
    assertThat(value.number("a", "b")).isZero();
    assertThat(value.at("big").items()).extracting(one -> one.number()).containsExactly(0L, 0L, 1L);
    assertThat(value.at("l")).hasToString("[1,{}]");
    assertThat(value.flag("a", "f")).isTrue();
    assertThat(value.flag("a", "b")).isFalse();
    assertThat(value.at("l").items()).hasSize(2);
    assertThat(value.at("a").items()).isEmpty();
    assertThat(value.at("a").members().keySet()).containsExactly("b", "n", "s", "f", "nil");
    assertThat(value.at("l").members()).isEmpty();
    assertThat(value.at("a").isObject()).isTrue();
    assertThat(JsonValue.parse(new byte[0]).isObject()).isFalse();
    assertThat(value.at("l").isList()).isTrue();
    assertThatThrownBy(() -> JsonValue.parse("<html>".getBytes(UTF_8)))
        .isInstanceOf(IOException.class)
        .hasMessage("not JSON: syntax error at line 1, column 1");
  }
}
