package dev.isola.client;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Decodes the output of one channel as UTF-8. A character that two pieces share is delivered with
 * the second; invalid bytes become replacement characters.
 */
final class OutputText {
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE);
  private byte[] incomplete = new byte[0];

  /** Returns the text that is complete with these bytes; it may be empty. */
  String append(byte[] bytes) {
    return decode(bytes, false);
  }

  /** Returns the replacement of a character that was cut off by the end of the output or a gap. */
  String end() {
    return decode(new byte[0], true);
  }

  private String decode(byte[] bytes, boolean last) {
    ByteBuffer in =
        ByteBuffer.allocate(incomplete.length + bytes.length).put(incomplete).put(bytes).flip();
    CharBuffer out = CharBuffer.allocate(in.remaining() + 2);
    decoder.decode(in, out, last);
    if (last) {
      decoder.flush(out);
      decoder.reset();
    }
    incomplete = new byte[in.remaining()];
    in.get(incomplete);
    return out.flip().toString();
  }
}
