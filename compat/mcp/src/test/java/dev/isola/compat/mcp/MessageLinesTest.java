package dev.isola.compat.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.Bytes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageLinesTest {
  private static final int KIB = 1024;

  private final List<String> found = new ArrayList<>();
  private final ByteBudget budget = new ByteBudget(200 * KIB);
  private final MessageLines lines = lines();

  private MessageLines lines() {
    return new MessageLines(
        300 * KIB,
        budget,
        new MessageLines.Receiver() {
          @Override
          public void line(byte[] line) {
            found.add(new String(line, UTF_8));
          }

          @Override
          public void tooLong(String beginning) {
            found.add("too long: " + beginning.substring(0, Math.min(3, beginning.length())));
          }
        });
  }

  private void add(String text) {
    lines.add(Bytes.utf8(text));
  }

  @Test
  void linesMaySpanChunks() {
    add("one\ntw");
    assertThat(lines.isPartial()).isTrue();
    add("o\n\nthree");
    assertThat(found).containsExactly("one", "two", "");
    add("\n");
    assertThat(lines.isPartial()).isFalse();
    assertThat(found).endsWith("three");
  }

  @Test
  void longLineIsReportedByItsBeginning() {
    for (int i = 0; i < 400; i++) {
      add("abc".repeat(KIB));
    }
    assertThat(budget.available()).as("released at once").isEqualTo(200 * KIB);
    add("\nnext\n");
    assertThat(found).containsExactly("too long: abc", "next");
    add("x".repeat(400 * KIB) + "\n");
    assertThat(found).endsWith("too long: xxx");
  }

  @Test
  void memoryOfAllServersIsLimited() {
    assertThat(budget.tryReserve(190 * KIB)).isTrue();
    add("a".repeat(60 * KIB) + "\n");
    assertThat(found).as("a small line needs none").hasSize(1);
    add("b".repeat(100 * KIB) + "\n");
    assertThat(found).endsWith("too long: bbb");
    budget.release(190 * KIB);
    add("c".repeat(100 * KIB) + "\n");
    assertThat(found).endsWith("c".repeat(100 * KIB));
    assertThat(budget.available()).isEqualTo(200 * KIB);
  }

  @Test
  void lineWhoseBeginningWasLostIsSkipped() {
    add("half");
    lines.skipLine();
    add("of a line\nwhole\n");
    assertThat(found).containsExactly("whole");
    assertThat(lines.isPartial()).isFalse();
  }
}
