package dev.isola.engine.api.template;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.Bytes;
import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;

/** Splits the output of a command into lines and keeps its tail. */
final class OutputLineSplitter {
  /** The number of characters at the end of the output that an error includes. */
  static final int TAIL = 2048;

  private final Consumer<String> lines;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final StringBuilder tail = new StringBuilder();

  OutputLineSplitter(Consumer<String> lines) {
    this.lines = lines;
  }

  void add(Bytes bytes) {
    int begin = 0;
    for (int i = 0; i < bytes.size(); i++) {
      if (bytes.at(i) == '\n') {
        bytes.copyTo(begin, line, i - begin);
        begin = i + 1;
        flush("\n");
      } else if (line.size() + i - begin >= BuildLog.LONGEST_LINE) {
        bytes.copyTo(begin, line, i - begin);
        begin = i;
        flush("");
      }
    }
    bytes.copyTo(begin, line, bytes.size() - begin);
  }

  void end() {
    if (line.size() > 0) {
      flush("");
    }
  }

  private void flush(String ending) {
    String text = line.toString(UTF_8);
    line.reset();
    lines.accept(text);
    tail.append(text).append(ending).delete(0, Math.max(0, tail.length() - TAIL));
  }

  String tail() {
    return tail.toString();
  }
}
