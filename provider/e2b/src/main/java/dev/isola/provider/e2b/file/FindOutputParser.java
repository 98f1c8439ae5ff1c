package dev.isola.provider.e2b.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Parses the output of {@code find}: ten NUL-terminated fields per file. */
final class FindOutputParser {
  private static final int WORDS = 10;
  private static final int LONGEST_WORD = 1 << 16;

  private final ByteArrayOutputStream word = new ByteArrayOutputStream();
  private final List<String> words = new ArrayList<>(WORDS);

  /** Parses a piece of output and returns the files that are now complete. */
  List<FileInfo> parse(byte[] piece) {
    List<FileInfo> files = new ArrayList<>();
    for (byte one : piece) {
      if (one != 0) {
        if (word.size() < LONGEST_WORD) {
          word.write(one);
        }
        continue;
      }
      words.add(word.toString(UTF_8));
      word.reset();
      if (words.size() == WORDS) {
        files.add(file());
        words.clear();
      }
    }
    return files;
  }

  private FileInfo file() {
    FileType type =
        switch (words.get(1)) {
          case "f" -> FileType.FILE;
          case "d" -> FileType.FOLDER;
          case "l" -> FileType.LINK;
          default -> FileType.OTHER;
        };
    return new FileInfo(
        words.get(0),
        type,
        (int) number(words.get(2), 8),
        number(words.get(3), 10),
        number(words.get(4), 10),
        number(words.get(5), 10),
        words.get(6),
        words.get(7),
        time(words.get(8)),
        type == FileType.LINK ? Optional.of(words.get(9)) : Optional.empty());
  }

  private static long number(String text, int radix) {
    try {
      return Long.parseLong(text, radix);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Parses seconds with a fraction of ten digits. */
  private static Instant time(String text) {
    int dot = text.indexOf('.');
    String seconds = dot < 0 ? text : text.substring(0, dot);
    String fraction = dot < 0 ? "" : text.substring(dot + 1);
    long nanos = number((fraction + "000000000").substring(0, 9), 10);
    return Instant.ofEpochSecond(
        Math.clamp(
            number(seconds, 10),
            Instant.MIN.getEpochSecond() + 1,
            Instant.MAX.getEpochSecond() - 1),
        nanos);
  }
}
