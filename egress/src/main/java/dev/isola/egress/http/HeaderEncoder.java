package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.http.HttpHead.Field;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import org.eclipse.jetty.http.compression.NBitIntegerEncoder;

/**
 * Encodes header fields by HPACK (RFC 7541) as literals that are never indexed: so a block depends
 * on no other, and no secret stays in a table. Jetty's encoder is not used because it takes values
 * as strings and writes them to its log.
 */
final class HeaderEncoder {
  private static final byte NEVER_INDEXED = 0x10;
  private static final byte EMPTY_TABLE = 0x20;
  private static final int MAX_INTEGER = 6;

  private boolean begun;

  byte[] encode(List<Field> fields) {
    int size = 1;
    for (Field field : fields) {
      size += 1 + 2 * MAX_INTEGER + field.name().length() + field.value().length;
    }
    ByteBuffer block = ByteBuffer.allocate(size);
    if (!begun) {
      begun = true;
      block.put(EMPTY_TABLE); // Whatever size the peer announces or reduces, this fits.
    }
    for (Field field : fields) {
      block.put(NEVER_INDEXED);
      put(block, field.name().toLowerCase(Locale.ROOT).getBytes(ISO_8859_1));
      put(block, field.value());
    }
    byte[] bytes = new byte[block.position()];
    block.flip().get(bytes);
    return bytes;
  }

  private static void put(ByteBuffer block, byte[] text) {
    block.put((byte) 0); // no Huffman coding; the length is added to this byte
    NBitIntegerEncoder.encode(block, 7, text.length);
    block.put(text);
  }
}
