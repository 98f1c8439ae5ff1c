package dev.isola.link;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A command's standard input: DATA frames within the agent's credit. */
final class ExecutionStdin extends OutputStream {
  private static final int CHUNK = 64 * 1024;

  private final Supplier<LinkStream> stream;
  private final boolean open;
  private volatile boolean closed;

  ExecutionStdin(Supplier<LinkStream> stream, boolean open) {
    this.stream = stream;
    this.open = open;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (!open) {
      throw new IOException("the command was started without standard input");
    }
    if (closed) {
      throw new IOException("standard input was closed");
    }
    for (int at = offset; at < offset + length; at += CHUNK) {
      send(bytes, at, Math.min(CHUNK, offset + length - at));
    }
  }

  @Override
  public void close() {
    if (open && !closed) {
      closed = true;
      LinkStream target = stream.get();
      while (!target.sendWindow().sendEof()) {
        LinkStream next = stream.get(); // the sandbox was held in the meantime
        if (next == target) {
          return; // the command has ended
        }
        target = next;
      }
    }
  }

  private void send(byte[] bytes, int offset, int length) throws IOException {
    ByteBuffer data = ByteBuffer.wrap(bytes, offset, length);
    LinkStream target = stream.get();
    while (!send(target, data)) {
      LinkStream next = target.connection().isHeld() ? stream.get() : target;
      if (next == target) {
        throw failure(target.closeReason());
      }
      target = next;
    }
  }

  private static boolean send(LinkStream target, ByteBuffer data) throws IOException {
    try {
      return target.sendWindow().send(data, LinkStream.FOREVER);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while writing to the command");
    }
  }

  private static IOException failure(@Nullable CloseReason closeReason) {
    return new IOException(
        closeReason == null
            ? "the command has ended or closed its standard input"
            : "the connection was lost and input may be missing: " + closeReason.message());
  }
}
