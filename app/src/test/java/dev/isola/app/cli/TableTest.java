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
  void fittedTableIsAtMostAsWideAsTheTerminal() {
    Table wide =
        new Table()
            .row("ID", "NAME", "STATE", "TAGS")
            .row("0123456789abcdefghij", "a-rather-long-name", "running", "a=b c=d e=f g=h i=j");
    assertThat(wide.fitted(Integer.MAX_VALUE)).isEqualTo(wide.text());
    assertThat(wide.fitted(60))
        .isEqualTo(
            """
            ID                    NAME           STATE    TAGS
            0123456789abcdefghij  a-rather-lon…  running  a=b c=d e=f g…
            """);
    assertThat(wide.withShortIds(12).fitted(60))
        .isEqualTo(
            """
            ID            NAME               STATE    TAGS
            0123456789ab  a-rather-long-na…  running  a=b c=d e=f g=h i…
            """);
    assertThat(wide.fitted(50).lines()).allMatch(line -> line.length() <= 50);
  }

  @Test
  void fittedTableKeepsHeadingsAndTheFirstColumn() {
    Table narrow = new Table().row("NAME", "CREATED").row("something-long", "yesterday");
    assertThat(narrow.fitted(23)).isEqualTo("NAME            CREATED\nsomething-long  yester…\n");
    assertThat(narrow.fitted(17)).isEqualTo("NAME      CREATED\nsomethi…  yester…\n");
  }

  @Test
  void doesNotWrapBelowTheMinimumWidth() {
    assertThat(table.text(15)).isEqualTo(table.text());
  }
}
