package dev.isola.provider.microvmctl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.scripts.ShellWords;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShellWordsTest {
  /** Words that break out of a shell command unless they are quoted. */
  static final List<String> HOSTILE =
      List.of(
          "plain",
          "",
          " ",
          "it's",
          "'; touch /tmp/broken-out; '",
          "\"double\"",
          "$(touch /tmp/broken-out)",
          "`touch /tmp/broken-out`",
          "${HOME}",
          "line\nbreak",
          "tab\there",
          "back\\slash\\",
          "*",
          "~",
          "#comment",
          "a & b | c > d; e",
          "!history",
          "-leading",
          "--id",
          "=equals",
          "ünïcödé \u2713");

  @Test
  void shellReadsQuotedWordsExactly() throws Exception {
    String words = String.join(" ", HOSTILE.stream().map(ShellWords::quote).toList());
    Process shell = new ProcessBuilder("sh", "-c", "printf '%s\\0' " + words).start();
    String out = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(out).isEqualTo(String.join("\0", HOSTILE) + "\0");
  }

  @Test
  void configuredCommandIsSplitLikeAShellWould() {
    assertThat(ShellWords.split("node scripts/microvmctl.js"))
        .containsExactly("node", "scripts/microvmctl.js");
    assertThat(ShellWords.split("  '/opt/my tools/ctl'  --a \"b c\" d\\ e '' "))
        .containsExactly("/opt/my tools/ctl", "--a", "b c", "d e", "");
    assertThat(ShellWords.split("sh -c \"a \\\"b\\\" $c\""))
        .containsExactly("sh", "-c", "a \"b\" $c");
  }

  @Test
  void unclosedQuoteAndEmptyCommandAreRejected() {
    assertThatThrownBy(() -> ShellWords.split("a 'b")).hasMessageContaining("quote");
    assertThatThrownBy(() -> ShellWords.split("  ")).hasMessageContaining("no word");
  }
}
