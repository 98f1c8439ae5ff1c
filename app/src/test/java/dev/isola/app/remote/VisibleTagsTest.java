package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class VisibleTagsTest {
  @Test
  void omitsReservedTagsAndControlCharacters() {
    assertThat(
            VisibleTags.text(
                new TreeMap<>(
                    Map.of("isola.e2b.template", "base", "team", "red", "z", "a\u001b[2J"))))
        .isEqualTo("team=red z=a?[2J");
  }
}
