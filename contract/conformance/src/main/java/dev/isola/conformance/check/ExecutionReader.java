package dev.isola.conformance.check;

import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Output;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the output of an execution and checks that its offsets have no gaps. */
final class ExecutionReader {
  private final Execution execution;
  private final List<Output> pieces = new ArrayList<>();
  private long position;

  ExecutionReader(Execution execution, long offset) {
    this.execution = execution;
    this.position = offset;
  }

  static ExecutionReader of(Execution execution) {
    return new ExecutionReader(execution, 0);
  }

  /** Reads and discards all output; returns the final offset. */
  static long drain(Execution execution) {
    long position = 0;
    for (Optional<Output> next = execution.read(); next.isPresent(); next = execution.read()) {
      position = follow(next.get(), position);
    }
    return position;
  }

  /** Reads the next chunk; returns false at the end. */
  boolean next() {
    Optional<Output> piece = execution.read();
    piece.ifPresent(
        output -> {
          position = follow(output, position);
          pieces.add(output);
        });
    return piece.isPresent();
  }

  /** Reads until {@code text} appears on standard output. */
  ExecutionReader until(String text) {
    while (!stdout().contains(text)) {
      if (!next()) {
        throw new CheckFailed("the output ended as '" + stdout() + "' without '" + text + "'");
      }
    }
    return this;
  }

  ExecutionReader toEnd() {
    boolean more = next();
    while (more) {
      more = next();
    }
    return this;
  }

  List<Output> pieces() {
    return List.copyOf(pieces);
  }

  /** Returns the offset of the next chunk. */
  long position() {
    return position;
  }

  String stdout() {
    return new String(bytes(Channel.STDOUT), StandardCharsets.UTF_8);
  }

  String stderr() {
    return new String(bytes(Channel.STDERR), StandardCharsets.UTF_8);
  }

  byte[] bytes(Channel channel) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (Output piece : pieces) {
      if (piece instanceof Output.Data data && data.channel() == channel) {
        all.writeBytes(data.bytes().toArray());
      }
    }
    return all.toByteArray();
  }

  private static long follow(Output piece, long position) {
    Expect.equal(position, piece.offset(), "the offset of a piece after " + position + " bytes");
    Expect.that(piece.end() > piece.offset(), "a piece holds at least a byte");
    return piece.end();
  }
}
