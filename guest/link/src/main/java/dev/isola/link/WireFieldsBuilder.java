package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Arrays;
import java.util.Optional;

/**
 * Builds a list of fields. Reserves room for a frame header in front, so that a frame is one array.
 */
final class WireFieldsBuilder {
  private static final int FIELD_HEADER = 5;

  private byte[] bytes = new byte[256];
  private int size;

  /** Starts a REQUEST. */
  WireFieldsBuilder(AgentOperation operation) {
    bytes[Wire.HEADER] = (byte) operation.value();
    size = Wire.HEADER + 1;
  }

  /** Starts a payload of fields only. */
  WireFieldsBuilder() {
    size = Wire.HEADER;
  }

  WireFieldsBuilder add(int tag, long value) {
    int at = grow(tag, 8);
    Wire.putLong(bytes, at, value);
    return this;
  }

  WireFieldsBuilder add(int tag, byte[] value) {
    int at = grow(tag, value.length);
    System.arraycopy(value, 0, bytes, at, value.length);
    return this;
  }

  WireFieldsBuilder add(int tag, String text) {
    return add(tag, text.getBytes(UTF_8));
  }

  WireFieldsBuilder add(int tag, Optional<String> text) {
    return text.isPresent() ? add(tag, text.get()) : this;
  }

  WireFieldsBuilder add(int tag, Iterable<String> texts) {
    for (String text : texts) {
      add(tag, text);
    }
    return this;
  }

  /** Adds a flag when it is set. */
  WireFieldsBuilder flag(int tag, boolean set) {
    return set ? add(tag, 1) : this;
  }

  /** Returns the fields without any header. */
  byte[] payload() {
    return Arrays.copyOfRange(bytes, Wire.HEADER, size);
  }

  /**
   * Returns the whole frame.
   *
   * @throws dev.isola.spi.error.InvalidRequest when it exceeds the maximum frame size
   */
  byte[] frame(int type, int stream) {
    if (size - Wire.HEADER > Wire.FRAME_MAX) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the request is "
                  + (size - Wire.HEADER)
                  + " bytes long, but the guest agent accepts at most "
                  + Wire.FRAME_MAX,
              "put long arguments and values into a file")
          .exception();
    }
    return Wire.header(Arrays.copyOf(bytes, size), type, stream);
  }

  private int grow(int tag, int length) {
    int needed = Math.addExact(size, FIELD_HEADER + length);
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length * 2));
    }
    bytes[size] = (byte) tag;
    Wire.putInt(bytes, size + 1, length);
    int at = size + FIELD_HEADER;
    size = needed;
    return at;
  }
}
