package dev.isola.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonTextTest {
  @Test
  void nestsInTheOrderGiven() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("b", List.of(1, 2L, true, "x", List.of(), Map.of()));
    map.put("a", Map.of("c", false));
    assertThat(JsonText.of(map)).isEqualTo("{\"b\":[1,2,true,\"x\",[],{}],\"a\":{\"c\":false}}");
    assertThat(JsonText.of(Long.MAX_VALUE)).isEqualTo("9223372036854775807");
  }

  @Test
  void escapesWhatAStringMustNotHold() {
    assertThat(JsonText.of("a\"b\\c/d")).isEqualTo("\"a\\\"b\\\\c/d\"");
    assertThat(JsonText.of("\n\t\u0000\u001f\u007f"))
        .isEqualTo("\"\\u000a\\u0009\\u0000\\u001f\\u007f\"");
    assertThat(JsonText.of("ä€")).isEqualTo("\"ä€\"");
    assertThat(JsonText.of("\ud83d\ude00 \ud83d")).isEqualTo("\"\\ud83d\\ude00 \\ud83d\"");
    assertThat(JsonText.of(Map.of("\"", "\""))).isEqualTo("{\"\\\"\":\"\\\"\"}");
  }

  @Test
  void refusesWhatJsonDoesNotHave() {
    assertThatThrownBy(() -> JsonText.of(List.of(Optional.empty())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Optional");
    assertThatThrownBy(() -> JsonText.of(0.5)).isInstanceOf(IllegalArgumentException.class);
  }
}
