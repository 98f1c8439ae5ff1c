package dev.isola.integrations.tools;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A part of a text file.
 *
 * @param end offset after the last byte of the part
 * @param more whether the file continues
 */
record FileExcerpt(String text, long end, boolean more) {
  /**
   * Reads a part of a file. Returns empty if it is not UTF-8 text.
   *
   * @param limit bytes of the part; a character that does not fit is left for the next part
   */
  static Optional<FileExcerpt> read(InputStream in, long offset, int limit) throws IOException {
    try {
      in.skipNBytes(offset);
    } catch (EOFException e) {
      return Optional.of(new FileExcerpt("", offset, false));
    }
    byte[] bytes = in.readNBytes(limit + 1);
    boolean more = bytes.length > limit;
    ByteBuffer part = ByteBuffer.wrap(bytes, 0, Math.min(limit, bytes.length));
    CharBuffer text = CharBuffer.allocate(limit);
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    CoderResult result = decoder.decode(part, text, !more);
    if (result.isError() || text.flip().chars().anyMatch(c -> c == 0)) {
      return Optional.empty();
    }
    return Optional.of(new FileExcerpt(text.toString(), offset + part.position(), more));
  }
}
