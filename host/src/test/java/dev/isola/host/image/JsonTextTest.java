package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTextTest {
  private static Object parse(String text) throws JsonText.Malformed {
    return JsonText.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void readsEveryKindOfValue() throws JsonText.Malformed {
    assertThat(
            parse(
                " {\"s\":\"a\\n\\u00e9\\\\\\/ ü\",\"n\":[-1.5e2,0, 7],\"t\":true,\"f\":false,"
                    + "\"nil\":null,\"o\":{},\"a\":[]}\n"))
        .isEqualTo(
            Map.of(
                "s",
                "a\né\\/ ü",
                "n",
                List.of(-150.0, 0.0, 7.0),
                "t",
                true,
                "f",
                false,
                "nil",
                JsonText.Null.NULL,
                "o",
                Map.of(),
                "a",
                List.of()));
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
        "1e",
        "--1",
        "1 2",
        "NaN",
        "'a'"
      })
  void refusesWhatIsNotJson(String text) {
    assertThatThrownBy(() -> parse(text)).isInstanceOf(JsonText.Malformed.class);
  }

  @Test
  void refusesWhatIsNestedTooDeepOrNotText() {
    assertThatThrownBy(() -> parse("[".repeat(100_000))).hasMessageContaining("too deep");
    assertThatThrownBy(() -> JsonText.parse(new byte[] {'"', (byte) 0xff, '"'}))
        .hasMessageContaining("UTF-8");
  }
}
