package dev.isola.server.forward;

import java.io.EOFException;
import java.io.IOException;
import java.util.regex.Pattern;

/** Reads the body of a response. A truncated body is an error. */
public final class ResponseBody {
  private static final int MAX_SIZE_LINE = 1024;
  private static final Pattern HEX = Pattern.compile("[0-9a-fA-F]{1,12}");

  private final ConnectionReader in;
  private final ResponseHead.Framing framing;
  private long left;
  private boolean first = true;
  private boolean ended;

  public ResponseBody(ConnectionReader in, ResponseHead.Framing framing) {
    this.in = in;
    this.framing = framing;
    this.left = framing instanceof ResponseHead.Framing.FixedLength(long bytes) ? bytes : 0;
  }

  /** Returns the number of bytes read; -1 at the end. */
  public int read(byte[] target) throws IOException {
    return switch (framing) {
      case ResponseHead.Framing.None() -> -1;
      case ResponseHead.Framing.UntilClose() -> in.read(target, target.length);
      case ResponseHead.Framing.FixedLength(long _) -> left == 0 ? -1 : readBounded(target);
      case ResponseHead.Framing.Chunked() -> {
        if (left == 0 && !ended) {
          nextChunk();
        }
        yield ended ? -1 : readBounded(target);
      }
    };
  }

  /** Returns whether the whole body is known to be read. */
  public boolean isComplete() {
    return switch (framing) {
      case ResponseHead.Framing.None() -> true;
      case ResponseHead.Framing.UntilClose() -> false;
      case ResponseHead.Framing.FixedLength(long _) -> left == 0;
      case ResponseHead.Framing.Chunked() -> ended;
    };
  }

  private int readBounded(byte[] target) throws IOException {
    int read = in.read(target, (int) Math.min(target.length, left));
    if (read < 0) {
      throw new EOFException("the body is truncated");
    }
    left -= read;
    return read;
  }

  private void nextChunk() throws IOException {
    if (!first && !in.line(0).isEmpty()) {
      throw new MalformedResponse("a chunk is longer than its size");
    }
    first = false;
    String size = in.line(MAX_SIZE_LINE).split(";", 2)[0].strip();
    if (!HEX.matcher(size).matches()) {
      throw new MalformedResponse("a chunk has no size");
    }
    left = Long.parseLong(size, 16);
    if (left == 0) {
      int trailers = ResponseHead.MAX_HEAD;
      for (String line = in.line(trailers); !line.isEmpty(); line = in.line(trailers)) {
        trailers = Math.max(0, trailers - line.length() - 2); // trailers are dropped
      }
      ended = true;
    }
  }
}
