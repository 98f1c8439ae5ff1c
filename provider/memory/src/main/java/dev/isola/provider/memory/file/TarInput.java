package dev.isola.provider.memory.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a tar archive, entry by entry; what is said about an entry beforehand is already applied.
 */
final class TarInput {
  private static final int MOST_EXTENSION = 1 << 20;

  private final InputStream archive;
  private long left;
  private long padding;

  TarInput(InputStream archive) {
    this.archive = archive;
  }

  /** Returns the next entry, or null at the end of the archive. */
  @Nullable TarHeader next() throws IOException {
    Map<String, String> said = new HashMap<>();
    while (true) {
      skipRest();
      byte[] block = block();
      if (isZero(block)) {
        return null;
      }
      TarHeader header = TarHeader.decode(block);
      if (header.size() < 0) {
        throw FileFaults.badArchive("a size is negative");
      }
      boolean hasContent = "012345".indexOf(header.type()) < 1;
      left = hasContent ? header.size() : 0;
      padding = (TarHeader.BLOCK - left % TarHeader.BLOCK) % TarHeader.BLOCK;
      switch (header.type()) {
        case 'x' -> said.putAll(records(extension()));
        case 'g' -> extension();
        case 'L' -> said.put("path", untilNul(extension()));
        case 'K' -> said.put("linkpath", untilNul(extension()));
        default -> {
          return header.named(
              said.getOrDefault("path", header.name()),
              said.getOrDefault("linkpath", header.linkName()));
        }
      }
    }
  }

  /** Reads the content of the current entry; -1 at its end. */
  int read(byte[] buffer) throws IOException {
    if (left == 0) {
      return -1;
    }
    int count = archive.read(buffer, 0, (int) Math.min(left, buffer.length));
    if (count < 0) {
      throw FileFaults.badArchive("it ends in the middle of a file");
    }
    left -= count;
    return count;
  }

  private void skipRest() throws IOException {
    byte[] buffer = new byte[8192];
    while (read(buffer) >= 0) {
      // Nobody wanted it.
    }
    if (archive.readNBytes((int) padding).length < padding) {
      throw FileFaults.badArchive("it ends in the middle of a block");
    }
    padding = 0;
  }

  private byte[] block() throws IOException {
    byte[] block = archive.readNBytes(TarHeader.BLOCK);
    if (block.length < TarHeader.BLOCK) {
      throw FileFaults.badArchive("it ends without an end");
    }
    return block;
  }

  private static boolean isZero(byte[] block) {
    for (byte b : block) {
      if (b != 0) {
        return false;
      }
    }
    return true;
  }

  private byte[] extension() throws IOException {
    if (left > MOST_EXTENSION) {
      throw FileFaults.badArchive("an extended header is too large");
    }
    byte[] all = archive.readNBytes((int) left);
    if (all.length < left) {
      throw FileFaults.badArchive("it ends in the middle of a header");
    }
    left = 0;
    return all;
  }

  private static String untilNul(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf('\0');
    return end < 0 ? text : text.substring(0, end);
  }

  private static Map<String, String> records(byte[] bytes) {
    Map<String, String> records = new HashMap<>();
    int at = 0;
    while (at < bytes.length) {
      int space = at;
      while (space < bytes.length && bytes[space] >= '0' && bytes[space] <= '9') {
        space++;
      }
      int length =
          space == at || space - at > 7
              ? 0
              : Integer.parseInt(new String(bytes, at, space - at, StandardCharsets.US_ASCII));
      if (length < 5 || at + length > bytes.length || space + 1 > at + length - 1) {
        throw FileFaults.badArchive("an extended header is broken");
      }
      String record = new String(bytes, space + 1, at + length - space - 2, StandardCharsets.UTF_8);
      int equals = record.indexOf('=');
      if (equals > 0) {
        records.put(record.substring(0, equals), record.substring(equals + 1));
      }
      at += length;
    }
    return records;
  }
}
