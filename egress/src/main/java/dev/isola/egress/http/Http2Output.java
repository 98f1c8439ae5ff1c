package dev.isola.egress.http;

import dev.isola.codec.http.HttpHead.Field;
import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Writes frames to one side. Several threads may use it. */
final class Http2Output {
  private final PortDialing.Connection connection;
  private final HeaderEncoder encoder = new HeaderEncoder();
  private final ReentrantLock lock = new ReentrantLock();

  Http2Output(PortDialing.Connection connection) {
    this.connection = connection;
  }

  void write(Http2Frame frame) throws IOException {
    write(frame.toBytes());
  }

  void write(ByteBuffer bytes) throws IOException {
    lock.lock();
    try {
      while (bytes.hasRemaining()) {
        connection.write(bytes);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Writes header fields in as many frames as they take. */
  void writeHeaders(int stream, List<Field> fields, boolean endStream) throws IOException {
    lock.lock();
    try {
      byte[] block = encoder.encode(fields);
      int type = Http2Frame.HEADERS;
      int flags = endStream ? Http2Frame.END_STREAM : 0;
      int at = 0;
      do {
        int end = Math.min(block.length, at + Http2Frame.MAX_PAYLOAD);
        int last = end == block.length ? Http2Frame.END_HEADERS : 0;
        write(new Http2Frame(type, flags | last, stream, Arrays.copyOfRange(block, at, end)));
        type = Http2Frame.CONTINUATION;
        flags = 0;
        at = end;
      } while (at < block.length);
    } finally {
      lock.unlock();
    }
  }

  void writeData(int stream, byte[] bytes, boolean endStream) throws IOException {
    int at = 0;
    do {
      int end = Math.min(bytes.length, at + Http2Frame.MAX_PAYLOAD);
      int flags = endStream && end == bytes.length ? Http2Frame.END_STREAM : 0;
      write(new Http2Frame(Http2Frame.DATA, flags, stream, Arrays.copyOfRange(bytes, at, end)));
      at = end;
    } while (at < bytes.length);
  }

  void reset(int stream, int code) throws IOException {
    write(Http2Frame.ofInt(Http2Frame.RST_STREAM, stream, code));
  }

  /** Gives back flow-control credit for bytes that the other side never sees. */
  void giveBack(int stream, int bytes) throws IOException {
    if (bytes > 0) {
      write(Http2Frame.ofInt(Http2Frame.WINDOW_UPDATE, stream, bytes));
    }
  }
}
