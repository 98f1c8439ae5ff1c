package dev.isola.engine.api.template;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildLogEntry.Level;
import dev.isola.spi.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuildLogTest {
  private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

  @TempDir Path folder;
  private BuildLogs logs;

  @BeforeEach
  void open() {
    logs = new BuildLogs(folder.resolve("logs"), () -> NOW);
  }

  private List<String> messages(long offset, long most) {
    return logs.read("b", offset, most).stream().map(BuildLogEntry::message).toList();
  }

  @Test
  void linesAreReadByOffset() throws IOException {
    try (BuildLog log = logs.open("b")) {
      log.info("one", Optional.empty());
      log.line(Level.WARN, "two\tand\nmore", Optional.of(2));
      log.info("three", Optional.of(3));
      assertThat(log.lines()).isEqualTo(3);
    }
    assertThat(logs.read("b", 1, 1))
        .containsExactly(new BuildLogEntry(NOW, Level.WARN, Optional.of(2), "two\tand more"));
    assertThat(messages(1, 10)).containsExactly("two\tand more", "three");
    assertThat(messages(3, 10)).isEmpty();
    assertThat(logs.read("other", 0, 10)).isEmpty();
  }

  @Test
  void logIsBoundedAndKeepsItsLastLine() throws IOException {
    try (BuildLog log = logs.open("b")) {
      for (int i = 0; i < BuildLog.MOST_LINES + 50; i++) {
        log.info("x", Optional.of(1));
      }
      log.end(Level.ERROR, "it failed", Optional.of(1));
    }
    assertThat(messages(BuildLog.MOST_LINES - 1, 10))
        .containsExactly("x", "the log is full; further lines are discarded", "it failed");
  }

  @Test
  void linesAndBytesAreBounded() throws IOException {
    String line = "y".repeat(BuildLog.LONGEST_LINE * 2);
    try (BuildLog log = logs.open("b")) {
      for (long i = 0; i * BuildLog.LONGEST_LINE < 2 * BuildLog.MOST_BYTES; i++) {
        log.info(line, Optional.empty());
      }
    }
    assertThat(Files.size(folder.resolve("logs/b.log")))
        .isBetween(BuildLog.MOST_BYTES, BuildLog.MOST_BYTES + 2 * BuildLog.LONGEST_LINE);
    assertThat(messages(0, 1).getFirst()).hasSize(BuildLog.LONGEST_LINE + 3);
  }

  @Test
  void interruptedLogIsEndedOnANewLine() throws IOException {
    try (BuildLog log = logs.open("b")) {
      log.info("whole", Optional.empty());
    }
    Files.writeString(folder.resolve("logs/b.log"), "1893456", StandardOpenOption.APPEND);
    logs.end("b", "restarted");
    assertThat(messages(0, 10)).containsExactly("whole", "1893456", "restarted");
    logs.end("without-a-log", "restarted");
    assertThat(logs.read("without-a-log", 0, 10)).hasSize(1);
  }

  @Test
  void awaitReturnsAtTheNextLineOrTheEnd() throws Exception {
    List<Boolean> answers = new ArrayList<>();
    Thread reader;
    try (BuildLog log = logs.open("b")) {
      assertThat(log.await(0, Duration.ZERO)).isFalse();
      reader =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      answers.add(log.await(0, Duration.ofMinutes(1)));
                      answers.add(log.await(1, Duration.ofMinutes(1)));
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  });
      log.info("one", Optional.empty());
    }
    reader.join();
    assertThat(answers).containsExactly(true, true);
  }

  @Test
  void logsOfUnknownBuildsAreRemoved() throws IOException {
    logs.open("a").close();
    logs.open("b").close();
    logs.removeUnless("a"::equals);
    assertThat(folder.resolve("logs/a.log")).exists();
    assertThat(folder.resolve("logs/b.log")).doesNotExist();
  }

  @Test
  void splitCharactersAreJoinedAndLongLinesAreSplit() {
    List<String> lines = new ArrayList<>();
    OutputLineSplitter output = new OutputLineSplitter(lines::add);
    byte[] bytes = "grün\nrest".getBytes(UTF_8);
    for (byte one : bytes) {
      output.add(Bytes.of(new byte[] {one}));
    }
    output.end();
    output.add(Bytes.utf8("z".repeat(10_000)));
    output.end();
    assertThat(lines.subList(0, 2)).containsExactly("grün", "rest");
    assertThat(lines.subList(2, lines.size())).allMatch(one -> one.length() <= 4096).hasSize(3);
  }
}
