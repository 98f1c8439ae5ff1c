package dev.isola.egress.http;

import dev.isola.codec.http.HttpHead.Field;
import dev.isola.egress.http.Http2Frame.ConnectionErrorException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.eclipse.jetty.http2.hpack.HpackException;
import org.eclipse.jetty.util.NanoTime;

/**
 * Reads the header blocks of one side of a connection. All blocks are decoded, also those that are
 * not passed on, since each can change the table. A block has a bounded length and number of
 * frames.
 */
final class HeaderDecoder {
  private static final int MAX_CONTINUATIONS = 64;

  private final HpackDecoder decoder = new HpackDecoder(HttpGate.MAX_HEAD, NanoTime::now);

  /** A header block that is valid HPACK, but not a valid message. */
  static final class MalformedHeadersException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String problem;

    MalformedHeadersException(String problem) {
      super(problem);
      this.problem = problem;
    }

    String problem() {
      return problem;
    }
  }

  /** Returns the block that begins with a HEADERS frame, read to its end. */
  static byte[] readBlock(Http2Frame first, ReadableByteChannel in) throws IOException {
    byte[] block = first.content();
    Http2Frame frame = first;
    for (int count = 0; !frame.has(Http2Frame.END_HEADERS); count++) {
      frame = Http2Frame.read(in).orElseThrow(() -> new EOFException("a header block is cut off"));
      if (frame.type() != Http2Frame.CONTINUATION || frame.stream() != first.stream()) {
        throw Http2Frame.protocolError("another frame is within a header block");
      }
      int length = block.length + frame.payload().length;
      if (count == MAX_CONTINUATIONS || length > HttpGate.MAX_HEAD) {
        throw new ConnectionErrorException(
            Http2Frame.ENHANCE_YOUR_CALM, "a header block is too long");
      }
      byte[] longer = Arrays.copyOf(block, length);
      System.arraycopy(frame.payload(), 0, longer, block.length, frame.payload().length);
      block = longer;
    }
    return block;
  }

  /**
   * Decodes a block to a request, a response or trailers.
   *
   * @throws MalformedHeadersException if only this stream is affected
   */
  MetaData decode(byte[] block) throws ConnectionErrorException, MalformedHeadersException {
    try {
      return decoder.decode(ByteBuffer.wrap(block));
    } catch (HpackException.StreamException e) {
      // Its message can contain values.
      throw new MalformedHeadersException("the header fields are malformed");
    } catch (HpackException.SessionException e) {
      throw new ConnectionErrorException(
          Http2Frame.COMPRESSION_ERROR, "a header block is invalid or too large");
    }
  }

  static List<Field> fields(MetaData message) {
    List<Field> fields = new ArrayList<>();
    for (HttpField field : message.getHttpFields()) {
      fields.add(
          Field.of(field.getLowerCaseName(), Optional.ofNullable(field.getValue()).orElse("")));
    }
    return fields;
  }
}
