package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TabSeparatedTextTest {

  @Test
  void writtenRowsAreReadBack() {
    for (List<List<String>> rows :
        List.of(
            List.<List<String>>of(),
            List.of(List.of("")),
            List.of(List.of("", ""), List.of("a")),
            List.of(List.of("\t\n\\", "\\t\\n", "t\\"), List.of("n")))) {
      assertThat(TabSeparatedText.read(TabSeparatedText.write(rows))).isEqualTo(rows);
    }
  }

  @Test
  void formatIsHumanReadable() {
    assertThat(TabSeparatedText.write(List.of(List.of("team", "red"), List.of("env", "test"))))
        .isEqualTo("team\tred\nenv\ttest\n");
  }
}
