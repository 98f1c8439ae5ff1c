package dev.isola.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonTest {
  @Test
  void writesValues() {
    assertThat(
            Json.text(List.of(1, -2L, 0.5, true, "a", Optional.empty(), Optional.of(3), Map.of())))
        .isEqualTo("[1,-2,0.5,true,\"a\",null,3,{}]");
    assertThat(Json.text(Map.of("k", List.of()))).isEqualTo("{\"k\":[]}");
  }

  @Test
  void escapesWhatJsonCannotHold() {
    assertThat(Json.text("\"\\/\b\f\n\r\t\u0000\u001b\u007fé😀"))
        .isEqualTo("\"\\\"\\\\/\\u0008\\u000c\\n\\r\\t\\u0000\\u001b\\u007fé😀\"");
    assertThat(Json.text("\ud83d x \ude00")).isEqualTo("\"\\ud83d x \\ude00\"");
  }
}
