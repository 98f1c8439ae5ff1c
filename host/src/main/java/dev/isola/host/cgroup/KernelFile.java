package dev.isola.host.cgroup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/** Reads and writes small files of the kernel. */
final class KernelFile {
  private KernelFile() {}

  /** Returns the content, or an empty string if the file does not exist or cannot be read. */
  static String read(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).strip();
    } catch (IOException gone) {
      return "";
    }
  }

  static Set<String> words(Path file) {
    String text = read(file);
    return text.isEmpty() ? Set.of() : Set.copyOf(List.of(text.split("\\s+")));
  }

  /** Returns the number in a file with a single number; empty for other content. */
  static OptionalLong number(Path file) {
    return number(read(file));
  }

  /** Returns the number of a key in a file with one key and number per line. */
  static OptionalLong number(Path file, String key) {
    for (String line : read(file).lines().toList()) {
      if (line.startsWith(key + " ")) {
        return number(line.substring(key.length() + 1));
      }
    }
    return OptionalLong.empty();
  }

  private static OptionalLong number(String text) {
    try {
      return OptionalLong.of(Long.parseLong(text.strip()));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  /** Writes with a single call, as the kernel requires; the file must exist. */
  static void write(Path file, String text) throws IOException {
    try {
      Files.write(file, text.getBytes(StandardCharsets.US_ASCII), StandardOpenOption.WRITE);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException("'" + text + "' cannot be written to " + file + ": " + reason(e), e);
    }
  }

  /** Writes a file; returns whether that succeeded. */
  static boolean tryWrite(Path file, String text) {
    try {
      write(file, text);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static String reason(IOException e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message;
  }
}
