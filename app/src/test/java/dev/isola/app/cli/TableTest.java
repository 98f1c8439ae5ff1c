package dev.isola.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Column alignment and wrapping for any width. */
class TableTest {
  private final Table table =
      new Table().row("ok", "name", "one two three").row("no", "longer", "four");

  @Test
  void alignsColumns() {
    assertThat(table.text()).isEqualTo("ok  name    one two three\nno  longer  four\n");
  }

  @Test
  void wrapsTheLastColumn() {
    Table wide = new Table().row("ok", "name-name", "one two three four five six");
    assertThat(wide.text(36))
        .isEqualTo("ok  name-name  one two three four\n               five six\n");
    assertThat(wide.text(42)).isEqualTo("ok  name-name  one two three four five six\n");
  }

  @Test
  void ansiCodesHaveNoWidth() {
    Table painted = new Table().row("\u001b[32mok\u001b[0m", "\u001b[33mone two three four five");
    assertThat(painted.text(26))
        .isEqualTo("\u001b[32mok\u001b[0m  \u001b[33mone two three four\n    five\n");
  }

  @Test
  void doesNotBreakWords() {
    assertThat(new Table().row("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bb").text(24))
        .isEqualTo("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nbb\n");
  }

  @Test
  void doesNotWrapBelowTheMinimumWidth() {
    assertThat(table.text(15)).isEqualTo(table.text());
  }
}
