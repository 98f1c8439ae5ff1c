package dev.isola.testing.provider;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Output;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Reads the output of a command continuously and drops what its reader does not fetch in time. */
final class LossyBuffer {
  private static final int PIECES = 16;

  private final BlockingQueue<Optional<Output>> pieces = new ArrayBlockingQueue<>(PIECES + 1);

  LossyBuffer(Execution execution) {
    Thread.startVirtualThread(() -> fill(execution));
  }

  private void fill(Execution execution) {
    try {
      Optional<Output> piece = execution.read();
      while (piece.isPresent()) {
        if (pieces.size() < PIECES) {
          pieces.add(piece);
        }
        piece = execution.read();
      }
    } catch (SandboxException lost) {
      // The reader sees the end of the output.
    }
    pieces.add(Optional.empty());
  }

  Optional<Output> read() throws InterruptedException {
    Optional<Output> piece = pieces.take();
    if (piece.isEmpty()) {
      pieces.add(piece);
    }
    return piece;
  }
}
